import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { addCredential, addSource, type TestCredential } from "../../tests/control-rows.ts";
import { databaseText } from "../../tests/database-text.ts";

interface Case {
  readonly url: string;
  readonly why: string;
  readonly expect: "accept" | "reject";
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
const rules = [
  "scheme",
  "userinfo",
  "query",
  "fragment",
  "port",
  "host",
  "path",
  "not_approved",
  "syntax",
];

describe("a base URL", () => {
  let api: TestControl;
  let credential: TestCredential;
  let sourceId: string;
  /** Names that were looked up, and addresses that were connected to. */
  const seen: string[] = [];

  beforeAll(async () => {
    api = await startTestControl({
      sandbox: "inline",
      settings: { network: { approvedHosts, allowNetworks: [] } },
      seams: {
        resolve: async (name) => {
          seen.push(name);
          return [];
        },
        dial: ({ host }) => {
          seen.push(host);
          throw new Error("nothing is connected to");
        },
      },
    });
    credential = await addCredential(api);
    sourceId = await addSource(api, credential, { base_url: "https://mailer.example.com/api" });
  });
  afterAll(() => api?.[Symbol.asyncDispose]());

  const account = (base_url: unknown) => ({ credential_handle: credential.handle, base_url });
  const source = (rest: object) => ({
    name: "Mailer",
    connector_id: "conn_mailer_product_edm",
    credential_handle: credential.handle,
    ...rest,
  });
  const doors = {
    "POST /credentials/mailer/api-token": (base_url: unknown) =>
      api.call("POST", "/credentials/mailer/api-token", {
        body: { base_url, api_token: "a-token-of-no-account" },
      }),
    "POST /connectors/mailer/check": (base_url: unknown) =>
      api.call("POST", "/connectors/mailer/check", { body: account(base_url) }),
    "POST /connectors/mailer/edm/preview": (base_url: unknown) =>
      api.call("POST", "/connectors/mailer/edm/preview", { body: account(base_url) }),
    "POST /sources": (base_url: unknown) =>
      api.call("POST", "/sources", { body: source({ configuration: { base_url } }) }),
    "POST /sources, beside the configuration": (base_url: unknown) =>
      api.call("POST", "/sources", { body: source({ base_url }) }),
    "PATCH /sources/{source_id}": (base_url: unknown) =>
      api.call("PATCH", `/sources/${sourceId}`, { body: { configuration: { base_url } } }),
  };

  const placeOf = (name: string) =>
    /sources($|\/)/.test(name) ? "configuration.base_url" : "base_url";

  describe.each(Object.entries(doors))("at %s", (name, send) => {
    test("is refused by the rule that it breaks, and leads to no look-up, no connection and no repetition", async () => {
      const refused = corpus.filter((row) => row.expect === "reject");
      expect(refused.length).toBeGreaterThan(200);
      seen.length = 0;
      for (const { url, why } of refused) {
        const { status, body, text } = await send(url);
        expect([status, body.code], why).toEqual([422, "422"]);
        // PostgreSQL keeps no NUL: such a body is refused as a whole.
        if (url.includes("\u0000")) expect(body.details.reason).toBe("validation_failed");
        else {
          expect(body.details.reason, why).toBe("invalid_base_url");
          expect(rules, why).toContain(body.details.rule);
          expect(body.details.errors, why).toMatchObject([{ path: placeOf(name) }]);
        }
        if (url.length > 12) expect(text).not.toContain(JSON.stringify(url).slice(1, -1));
      }
      expect(seen).toEqual([]);
    });

    test("is accepted when it is that of an approved host", async () => {
      for (const { url } of corpus.filter((row) => row.expect === "accept")) {
        seen.length = 0;
        const { body } = await send(url);
        expect(body.details?.reason).not.toBe("invalid_base_url");
        if (name.includes("api-token")) expect(seen).toEqual([]);
        else expect(new Set(seen)).toEqual(new Set([new URL(url).hostname]));
      }
    });
  });

  test.each([
    undefined,
    "",
    42,
    ["https://mailer.example.com/api"],
    { href: "x" },
    "x".repeat(3_000),
  ])("that is no URL is refused: %j", async (value) => {
    seen.length = 0;
    for (const send of Object.values(doors).slice(1, 5))
      expect((await send(value)).status).toBe(422);
    expect(seen).toEqual([]);
  });

  test("of a cloud account is one label and /api, whatever the operator has approved", async () => {
    const cloud = async (base_url: string) => {
      const body = { ...account(base_url), connection_method: "cloud" };
      return (await api.call("POST", "/connectors/mailer/check", { body })).body;
    };
    expect((await cloud("https://my-team.mailcoach.app/api")).data.connection_method).toBe("cloud");
    for (const url of [
      "https://mailer.example.com/api",
      "https://a.b.mailcoach.app/api",
      "https://mailcoach.app/api",
      "https://my-team.mailcoach.app/mail/api",
    ])
      expect((await cloud(url)).details.reason).toBe("invalid_base_url");
    const unknown = { ...account("https://mailer.example.com/api"), connection_method: "own" };
    const { body } = await api.call("POST", "/connectors/mailer/check", { body: unknown });
    expect(body).toMatchObject({ code: "422", details: { reason: "validation_failed" } });
  });

  test("that was refused is kept nowhere", async () => {
    const text = await databaseText(api.db);
    const accepted = corpus.filter((row) => row.expect === "accept");
    const kept = corpus.filter(
      ({ url, ...row }) =>
        row.expect === "reject" &&
        url.length > 12 &&
        text.includes(JSON.stringify(url).slice(1, -1)) &&
        !accepted.some((other) => other.url.includes(url)),
    );
    expect(kept).toEqual([]);
    expect(text).toContain("https://mailer.example.com/api");
  });
});
