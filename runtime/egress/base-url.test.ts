import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createRandom } from "../../fixtures/random.ts";
import { ConnectorError } from "../contract/errors.ts";
import { checkApprovedHosts, checkBaseUrl } from "./base-url.ts";

interface Case {
  readonly url: string;
  readonly why: string;
  readonly expect: "accept" | "reject";
  readonly evenIfHostApproved?: "accept" | "reject";
}

const corpusUrl = new URL("../../fixtures/base-url-cases.jsonl", import.meta.url);
const corpus = readFileSync(corpusUrl, "utf8")
  .trim()
  .split("\n")
  .map((line): Case => JSON.parse(line));

const approvedHosts = [
  "mailer.example.com",
  "api.mailer.example.com",
  "mail-1.example.net",
  "eu.mailer.example.org",
  "smtp2.mailer.example.com",
  "m.example.org",
  "a1.b2.c3.mailer.example.net",
  "xn--mnchen-3ya.example.com",
  "123mail.example.com",
  "mailer.xn--bcher-kva.example.net",
  "*.tenants.mailer.example.net",
];
const check = (raw: unknown, hosts: readonly string[] = approvedHosts) =>
  checkBaseUrl(raw, { approvedHosts: hosts, pathEnd: "/api", field: "base_url" });

/** The rule that the URL breaks, or "accepted". */
function verdict(raw: unknown, hosts?: readonly string[]): string {
  try {
    check(raw, hosts);
    return "accepted";
  } catch (error) {
    if (!(error instanceof ConnectorError) || error.code !== "BASE_URL_REFUSED") throw error;
    return String(error.details.rule);
  }
}

/**
 * The approved hosts and every host that any reading of the text could mean, as an operator might
 * have added it.
 */
function withOwnHost(raw: string): readonly string[] {
  const asTyped = /^[a-z]*:?\/*(?:[^/?#]*@)?([^/?#:]*)/i.exec(raw)?.[1] ?? "";
  return [...approvedHosts, asTyped, asTyped.replace(/\.$/, ""), URL.parse(raw)?.hostname ?? ""];
}

describe("every row of the corpus", () => {
  test("the corpus has both kinds of rows", () => {
    expect(corpus.filter((row) => row.expect === "reject").length).toBeGreaterThan(200);
    expect(corpus.filter((row) => row.expect === "accept").length).toBeGreaterThan(10);
  });

  test.each(corpus)("$expect $url ($why)", (row) => {
    expect(verdict(row.url) === "accepted").toBe(row.expect === "accept");
    if (row.evenIfHostApproved) {
      expect(verdict(row.url, withOwnHost(row.url)) === "accepted").toBe(
        row.evenIfHostApproved === "accept",
      );
    }
  });
});

describe("the canonical form", () => {
  test("has a lower-case scheme and host, no port, and the path as typed", () => {
    expect(check("HTTPS://Mailer.Example.COM:443/Mail/api")).toBe(
      "https://mailer.example.com/Mail/api",
    );
  });

  test("is its own canonical form", () => {
    for (const row of corpus.filter((one) => one.expect === "accept"))
      expect(check(check(row.url))).toBe(check(row.url));
  });
});

test.each([
  [undefined, "syntax"],
  [["https://mailer.example.com/api"], "syntax"],
  [new URL("https://mailer.example.com/api"), "syntax"],
  ["", "scheme"],
  [" https://mailer.example.com/api", "syntax"],
  ["http://mailer.example.com/api", "scheme"],
  ["https://user:secret@mailer.example.com/api", "userinfo"],
  ["https://mailer.example.com/api?token=secret", "query"],
  ["https://mailer.example.com/api#top", "fragment"],
  ["https://mailer.example.com:8443/api", "port"],
  ["https://[2001:4860:4860::8888]:443/api", "host"],
  ["https://10.0.0.1/api", "host"],
  ["https://münchen.example.com/api", "host"],
  ["https://mailer.example.com/api/", "path"],
  ["https://mailer.example.com/notapi", "path"],
  ["https://mailer.example.com", "path"],
  ["https://mailer.example.com/~me/api", "path"],
  ["https://mailer.example.com/.../api", "path"],
  ["https://localhost.tenants.mailer.example.net/api", "host"],
  ["https://a.b.tenants.mailer.example.net/api", "not_approved"],
  ["https://evil.example.net/api", "not_approved"],
])("%s breaks the rule %s", (raw, rule) => {
  expect(verdict(raw)).toBe(rule);
});

test("a URL of more than 2,048 characters is refused", () => {
  expect(verdict(`https://m.example.org/${"a".repeat(2_022)}/api`)).toBe("accepted");
  expect(verdict(`https://m.example.org/${"a".repeat(2_023)}/api`)).toBe("syntax");
});

test("a refusal holds the field and the rule, and nothing of the value", () => {
  const raw = "https://user:hunter2hunter2@mailer.example.com/api";
  expect.assertions(2);
  try {
    check(raw);
  } catch (error) {
    expect(error).toMatchObject({
      code: "BASE_URL_REFUSED",
      details: { field: "base_url", rule: "userinfo" },
    });
    expect(JSON.stringify(error) + String(error)).not.toMatch(/hunter2|mailer\.example/);
  }
});

test("a path end of several segments must match as whole segments", () => {
  const options = { approvedHosts, pathEnd: "/rest/v2", field: "url" };
  expect(checkBaseUrl("https://m.example.org/rest/v2", options)).toBe(
    "https://m.example.org/rest/v2",
  );
  expect(() => checkBaseUrl("https://m.example.org/forest/v2", options)).toThrow(ConnectorError);
});

test.each([
  "",
  "/",
  "api",
  "/api/",
  "/../api",
  "/a?b",
])("the path end %j is the connector author's mistake", (pathEnd) => {
  const options = { approvedHosts, pathEnd, field: "url" };
  expect(() => checkBaseUrl("https://m.example.org/api", options)).toThrow(
    expect.objectContaining({ code: "CONNECTOR_INVALID" }),
  );
});

describe("the operator's list", () => {
  test("comes back in lower case", () => {
    expect(checkApprovedHosts(["Mailer.Example.com", "*.Tenants.example.net"])).toEqual([
      "mailer.example.com",
      "*.tenants.example.net",
    ]);
    expect(checkApprovedHosts(approvedHosts)).toEqual(approvedHosts);
  });

  test("approves a host whose entry is in upper case", () => {
    expect(verdict("https://mailer.example.com/api", ["Mailer.EXAMPLE.com"])).toBe("accepted");
  });

  test.each([
    ["10.0.0.1", "host"],
    ["8.8.8.8", "host"],
    ["0x7f.1", "host"],
    ["1.0x7f", "host"],
    ["mailer.internal", "host"],
    ["*.localhost.example.net", "host"],
    ["*.nip.io", "host"],
    ["metadata.tencentyun.com", "host"],
    ["*.com", "syntax"],
    ["*", "syntax"],
    ["*.*.example.com", "syntax"],
    ["localhost", "syntax"],
    ["mailer.example.com:443", "syntax"],
    ["https://mailer.example.com", "syntax"],
    ["mailer.example.com.", "syntax"],
    ["", "syntax"],
    [42, "syntax"],
  ])("is refused when it holds %s", (entry, rule) => {
    expect(() => checkApprovedHosts(["mailer.example.com", entry])).toThrow(
      expect.objectContaining({
        code: "CONFIG_INVALID",
        details: { path: "approved_hosts", problem: `entry 2 breaks the rule ${rule}` },
      }),
    );
  });
});

test("no mutation of the corpus is accepted unless it is an approved https URL in every respect", () => {
  const seed = Number(process.env.SVC_TEST_SEED ?? Date.now() % 2 ** 32);
  console.info(`mutation seed ${seed}`);
  const random = createRandom(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const pieces = [
    ..."/\\@:?#%.-_~[]();!\t\n \u0000\u00ad\u3002\uff0fexA0",
    "://",
    "//",
    "..",
    "%2e",
    "%2f",
    "xn--",
    ":443",
    ":0443",
    "/api",
    "@evil.example.net",
    "127.0.0.1",
    "::1",
    "https",
    ".tenants.mailer.example.net",
  ];
  const accepted = new Set<string>();
  for (let round = 0; round < 200_000; round++) {
    let text = corpus[below(corpus.length)]?.url ?? "";
    for (let edits = 1 + below(3); edits > 0; edits--) {
      const at = below(text.length + 1);
      const kind = below(4);
      if (kind === 0) text = text.slice(0, at) + pieces[below(pieces.length)] + text.slice(at);
      else if (kind === 1) text = text.slice(0, at) + text.slice(at + 1 + below(3));
      else if (kind === 2)
        text = text.slice(0, at) + pieces[below(pieces.length)] + text.slice(at + 1);
      else text = text.slice(0, at) + (corpus[below(corpus.length)]?.url ?? "").slice(below(30));
    }
    if (verdict(text) !== "accepted") continue;
    accepted.add(text);
    const canonical = check(text);
    const url = new URL(canonical);
    const isSound =
      url.href === canonical &&
      new URL(text).href === canonical &&
      url.protocol === "https:" &&
      (approvedHosts.includes(url.hostname) ||
        /^[a-z0-9-]+\.tenants\.mailer\.example\.net$/.test(url.hostname)) &&
      url.port + url.username + url.password + url.search + url.hash === "" &&
      !/[?#@]|:443/.test(canonical) &&
      url.pathname.endsWith("/api");
    if (!isSound) expect.fail(`seed ${seed}: ${JSON.stringify(text)} was accepted as ${canonical}`);
  }
  expect(accepted.size).toBeGreaterThan(50);
});
