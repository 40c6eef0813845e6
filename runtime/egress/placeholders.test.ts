import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import {
  answerJson,
  createInstantClock,
  type Handler,
  type Provider,
  providerName,
  startProvider,
  tokenServerName,
} from "../../simulators/loopback.ts";
import { type HttpEgress, http } from "../contract/egress.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { JsonObject } from "../contract/json.ts";
import { createSecretRegistry, runSecretLimits } from "../filter/secrets.ts";
import type { HttpCall } from "../wire/http-call.ts";
import { createHttpBroker } from "./http-broker.ts";
import { createPlaceholders } from "./placeholders.ts";

const never = new AbortController().signal;
const secret = "sk_live_K7Qx2mVt9sLw4ZrB8nPy5Dh3Gj6Fc1Ta0Ue7Ri2";
const tricky = 'can"ary\\/+=&%é K7Qx2mVt9sLw4Zr';
const otherName = "other.example.com";

function open(
  provider: Provider,
  declared: { [Name in keyof HttpEgress]?: HttpEgress[Name] | undefined } = {},
  more: { readonly config?: JsonObject; readonly spec?: JsonObject } = {},
) {
  const secrets = createSecretRegistry(runSecretLimits);
  const placeholders = createPlaceholders(secrets);
  const broker = createHttpBroker({
    declaration: http({
      baseUrl: `https://${providerName}/v1`,
      auth: [],
      placeholders: {},
      ...declared,
    } as Parameters<typeof http>[0]),
    config: { api_token: secret, ...more.config },
    spec: more.spec,
    secrets,
    placeholders,
    clock: createInstantClock(Date.UTC(2026, 0, 15, 12)),
    settings: { approvedHosts: [tokenServerName], allowNetworks: [] },
    seams: provider.seams,
    random: () => 0.5,
  });
  const send = async (call: Partial<HttpCall>) => {
    const answer = await broker.request({ method: "GET", path: ["items"], ...call }, never);
    return { ...answer, text: answer.body.toString() };
  };
  return {
    ...{ broker, secrets, placeholders, send },
    [Symbol.asyncDispose]: () => broker.close(),
  };
}

const ok: Handler = (_, response) => answerJson(response, 200, { ok: true });
const codeOf = async (work: Promise<unknown>) =>
  work.then(
    () => "it succeeded",
    (error: unknown) => (error instanceof ConnectorError ? error.code : error),
  );
const form = { "content-type": "application/x-www-form-urlencoded" };
const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`;

describe("a placeholder", () => {
  test("is random for each run, the same within one, with the prefix, alphabet and length class of the secret", () => {
    const make = (text: string) => createPlaceholders(createSecretRegistry()).placeholderOf(text);
    expect(make(secret)).toMatch(/^sk_live_[0-9A-Za-z]{64}$/);
    expect(make("0123456789abcdef0123456789abcdef01234567")).toMatch(/^[0-9a-f]{64}$/);
    expect(make("12345678")).toMatch(/^[1-9][0-9]{31}$/);
    expect(make(tricky)).toMatch(/^[0-9A-Za-z]{32}$/);
    expect(make(secret)).not.toBe(make(secret));
    const run = createPlaceholders(createSecretRegistry());
    expect(run.placeholderOf(secret)).toBe(run.placeholderOf(secret));
    expect(run.placeholderOf("")).toBe("");
  });

  test("tells nothing of a secret whose beginning is no known prefix", () => {
    const { placeholderOf } = createPlaceholders(createSecretRegistry());
    expect(placeholderOf("correct-horse-battery")).not.toContain("correct");
  });

  test("is refused where a run has more than it can need", () => {
    const { placeholderOf } = createPlaceholders(createSecretRegistry());
    const many = () => {
      for (let index = 0; index <= 1_000; index++) placeholderOf(`token number ${index}`);
    };
    expect(many).toThrow(expect.objectContaining({ code: "CONNECTOR_PROTOCOL" }));
  });
});

describe("a request with placeholders", () => {
  const places: Record<
    string,
    [(one: string) => Partial<HttpCall>, (request: Provider["received"][number]) => unknown]
  > = {
    "a segment of the path": [
      (one) => ({ path: ["keys", one, "items"] }),
      ({ url }) => decodeURIComponent(url.split("/")[3] ?? ""),
    ],
    "the path of a whole URL": [
      (one) => ({ path: `https://${providerName}/other/${one}/items` }),
      ({ url }) => decodeURIComponent(url.split("/")[2] ?? ""),
    ],
    "the query": [
      (one) => ({ query: { a: "x", key: one } }),
      ({ url }) => new URL(url, "https://x").searchParams.get("key"),
    ],
    "the query of a whole URL": [
      (one) => ({ path: `https://${providerName}/v1/items?key=${one}`, query: { a: "x" } }),
      ({ url }) => new URL(url, "https://x").searchParams.get("key"),
    ],
    "a JSON body, at any depth": [
      (one) => ({ method: "POST", body: { auth: [{ key: one }], n: 1.5 } }),
      ({ body }) => JSON.parse(body).auth[0].key,
    ],
    "a name in a JSON body": [
      (one) => ({ method: "POST", body: { [one]: 1 } }),
      ({ body }) => Object.keys(JSON.parse(body))[0],
    ],
    "a form": [
      (one) => ({ method: "POST", text: `grant=a&key=${one}`, headers: form }),
      ({ body }) => new URLSearchParams(body).get("key"),
    ],
    "a body of another type": [
      (one) => ({
        method: "POST",
        text: `--b\r\ncontent-disposition: form-data; name="key"\r\n\r\n${one}\r\n--b--`,
        headers: { "content-type": "multipart/form-data; boundary=b" },
      }),
      ({ body }) => body.split("\r\n")[3],
    ],
    "HTTP Basic": [
      (one) => ({ headers: { Authorization: basic(`ann:${one}`) } }),
      ({ headers }) =>
        Buffer.from(headers.authorization?.split(" ")[1] ?? "", "base64")
          .toString()
          .replace("ann:", ""),
    ],
  };

  test.each(
    Object.entries(places).flatMap(([name, [call, seen]]) =>
      [secret, tricky].map((value) => ({ name, call, seen, value })),
    ),
  )("has the secret in $name ($value.length characters)", async ({ call, seen, value }) => {
    await using provider = await startProvider(ok);
    await using run = open(provider);
    await run.send(call(run.placeholders.placeholderOf(value)));
    expect(seen(provider.received[0] as never)).toBe(value);
  });

  test("has the secret in header values, with what stands around it", async () => {
    await using provider = await startProvider(ok);
    await using run = open(provider);
    const placeholder = run.placeholders.placeholderOf(secret);
    await run.send({
      headers: { Authorization: `Bearer ${placeholder}`, "X-Key": `a,${placeholder};b` },
    });
    expect(provider.received[0]?.headers).toMatchObject({
      authorization: `Bearer ${secret}`,
      "x-key": `a,${secret};b`,
    });
  });

  test("is refused when the secret cannot stand there", async () => {
    await using provider = await startProvider(ok);
    await using run = open(provider);
    const lines = run.placeholders.placeholderOf("K7Qx2mVt9s\r\nX-Admin: 1");
    expect(await codeOf(run.send({ headers: { "x-key": lines } }))).toBe("CONFIG_INVALID");
    const dots = run.placeholders.placeholderOf("..");
    expect(await codeOf(run.send({ path: ["a", dots, "b"] }))).toBe("CONFIG_INVALID");
    expect(provider.received).toEqual([]);
  });

  test("goes to declared hosts only, whatever its URL looks like", async () => {
    await using provider = await startProvider(ok);
    await using run = open(provider, { placeholders: { urls: [`https://${tokenServerName}/x`] } });
    const placeholder = run.placeholders.placeholderOf(secret);
    await run.send({ path: `https://${tokenServerName}/login?key=${placeholder}` });
    expect(provider.received[0]).toMatchObject({
      host: tokenServerName,
      url: `/login?key=${secret}`,
    });
    for (const path of [
      `https://${otherName}/?key=${placeholder}`,
      `http://${providerName}/?key=${placeholder}`,
      `https://${providerName}:8443/?key=${placeholder}`,
      `https://${providerName}@${otherName}/?key=${placeholder}`,
      `https://ann:x@${providerName}/?key=${placeholder}`,
      `https://${otherName}\\@${providerName}/`,
      `https://${placeholder}.${otherName}/`,
      `//${providerName}/`,
      "file:///etc/passwd",
      "",
    ])
      expect(await codeOf(run.send({ path }))).toBe("CONNECTOR_PROTOCOL");
    expect(provider.received).toHaveLength(1);
  });

  test("reaches a host that the customer types in where the operator or the spec has named it", async () => {
    await using provider = await startProvider(ok);
    const reach = async (shop: unknown, spec: JsonObject = { type: "string" }) => {
      const config = { shop: shop as never };
      const more = { config, spec: { type: "object", properties: { shop: spec } } };
      try {
        await using run = open(provider, { placeholders: { urls: ["https://{shop}"] } }, more);
        const path = `https://${tokenServerName}/a`;
        return await codeOf(run.send({ path, headers: { "x-key": "x" } }));
      } catch (error) {
        if (!(error instanceof ConnectorError)) throw error;
        const { rule = "" } = error.details;
        return `${error.code} ${rule}`;
      }
    };
    for (const typed of [tokenServerName, `https://${tokenServerName}/v1/`, ` ${tokenServerName} `])
      expect(await reach(typed), typed).toBe("it succeeded");
    expect(await reach(undefined)).toBe("CONNECTOR_PROTOCOL");
    for (const [typed, rule] of [
      [otherName, "not_approved"],
      [`http://${tokenServerName}`, "scheme"],
      [`ann@${tokenServerName}`, "userinfo"],
      ["169.254.169.254", "host"],
      ["2130706433", "host"],
      [`${tokenServerName}:8443`, "port"],
      [`${tokenServerName}?`, "query"],
      [`${otherName}\\@${tokenServerName}`, "syntax"],
    ])
      expect(await reach(typed), typed).toBe(`BASE_URL_REFUSED ${rule}`);
    const choices = { type: "string", enum: [`https://${otherName}`], default: otherName };
    expect(await reach(otherName, choices)).toBe("CONNECTOR_PROTOCOL"); // it may, and asks another
    expect(await reach("metadata.google.internal", { enum: ["metadata.google.internal"] })).toBe(
      "BASE_URL_REFUSED host",
    );
  });

  test("does not follow a redirect to another host, not even a declared one", async () => {
    await using provider = await startProvider(({ url }, response) => {
      const location = url.endsWith("/near") ? "/v1/there" : `https://${tokenServerName}/there`;
      if (/there/.test(url)) return answerJson(response, 200, {});
      response.writeHead(302, { location }).end();
    });
    await using run = open(provider, { placeholders: { urls: [`https://${tokenServerName}`] } });
    const headers = { authorization: `Bearer ${run.placeholders.placeholderOf(secret)}` };
    await run.send({ path: ["near"], headers });
    expect(provider.received[1]?.headers.authorization).toBe(`Bearer ${secret}`);
    expect(await codeOf(run.send({ path: ["far"], headers }))).toBe("REDIRECT_REFUSED");
  });

  test("sends one that was cut or encoded otherwise as it is", async () => {
    await using provider = await startProvider(ok);
    await using run = open(provider);
    const placeholder = run.placeholders.placeholderOf(secret);
    for (const worthless of [
      placeholder.slice(0, -1),
      placeholder.slice(1),
      [...placeholder].reverse().join(""),
      Buffer.from(placeholder).toString("base64"),
      Buffer.from(placeholder).toString("hex"),
      placeholder.toUpperCase(),
      [...placeholder].join(" "),
    ]) {
      await run.send({ headers: { "x-key": worthless }, query: { key: worthless } });
      const { headers = {}, url = "" } = provider.received.at(-1) ?? ({} as never);
      expect(headers["x-key"]).toBe(worthless);
      expect(new URL(url, "https://x").searchParams.get("key")).toBe(worthless);
      // of the placeholder
      expect(run.secrets.contains(Buffer.from(JSON.stringify(headers) + url))).toBe(true);
      expect(`${JSON.stringify(headers)} ${url}`).not.toContain(secret.slice(8, 18));
    }
  });

  test("is refused a whole URL, and Authorization, without the declaration", async () => {
    await using provider = await startProvider(ok);
    await using run = open(provider, { placeholders: undefined });
    expect(await codeOf(run.send({ path: `https://${providerName}/v1/items` }))).toBe(
      "CONNECTOR_PROTOCOL",
    );
    expect(await codeOf(run.send({ headers: { authorization: "Bearer x" } }))).toBe(
      "CONNECTOR_PROTOCOL",
    );
  });
});

describe("an answer", () => {
  test("that is a file packed by gzip is unpacked, and searched; an image gets it as it is", async () => {
    const packed = gzipSync(`{"echo":"${secret}"}`);
    await using provider = await startProvider(
      (_, response) =>
        void response.writeHead(200, { "content-type": "application/gzip" }).end(packed),
    );
    await using run = open(provider);
    const placeholder = run.placeholders.placeholderOf(secret);
    expect((await run.send({})).text).toBe(`{"echo":"${placeholder}"}`);
    const bomb = gzipSync(Buffer.alloc(100_000));
    await using other = await startProvider((_, response) => void response.end(bomb));
    await using bounded = open(other, { maxResponseBytes: 1_000 });
    expect(await codeOf(bounded.send({}))).toBe("RESPONSE_TOO_LARGE");
    await using image = open(provider, { isImage: true });
    expect((await image.send({})).body).toEqual(packed);
  });

  test.each([
    secret,
    tricky,
  ])("has the placeholder in place of a secret that comes back", async (value) => {
    const link = `<https://${providerName}/v1/items?page=2&key=${encodeURIComponent(value)}>; rel="next"`;
    await using provider = await startProvider((_, response) => {
      response.setHeader("link", link);
      answerJson(response, 200, {
        plain: value,
        url: `https://${providerName}/?key=${encodeURIComponent(value)}`,
        form: new URLSearchParams({ key: value }).toString(),
        untouched: 12345678901234567890n.toString(),
      });
    });
    await using run = open(provider);
    const placeholder = run.placeholders.placeholderOf(value);
    const { text, headers } = await run.send({});
    expect(JSON.parse(text)).toEqual({
      plain: placeholder,
      url: `https://${providerName}/?key=${placeholder}`,
      form: `key=${placeholder}`,
      untouched: "12345678901234567890",
    });
    expect(headers.link).toBe(link.replace(encodeURIComponent(value), placeholder));
  });

  const echoes: Record<string, (text: string) => string> = {
    reversed: (text) => [...text].reverse().join(""),
    "in base64": (text) => Buffer.from(`user:${text}`).toString("base64"),
    "in hex": (text) => Buffer.from(text).toString("hex"),
    "in capitals": (text) => text.toUpperCase(),
    "in part": (text) => text.slice(10, 30),
    "as unicode escapes": (text) =>
      Array.from(
        text,
        (one) => `\\u${(one.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
      ).join(""),
    "percent-encoded in every byte": (text) =>
      Array.from(Buffer.from(text), (byte) => `%${byte.toString(16).padStart(2, "0")}`).join(""),
  };
  test.each(Object.entries(echoes))("shows no secret %s", async (_, echo) => {
    await using provider = await startProvider((request, response) => {
      response.setHeader("etag", echo(secret));
      answerJson(response, request.url.includes("bad") ? 422 : 200, { echo: echo(secret) });
    });
    await using run = open(provider);
    const known = createSecretRegistry();
    known.add(secret);
    run.placeholders.placeholderOf(secret);
    for (const path of [["good"], ["bad"]]) {
      const { text, headers } = await run.send({ path, accept: [422] });
      expect(known.contains(Buffer.from(text + JSON.stringify(headers)))).toBe(false);
      expect(text).toContain("[redacted]");
    }
  });

  test("keeps honest text although a secret is a plain word", async () => {
    const body = { test: "a test of testing", kind: "test-1", other: "abc" };
    await using provider = await startProvider((_, response) => answerJson(response, 200, body));
    await using run = open(provider);
    run.placeholders.placeholderOf("abcd");
    expect(JSON.parse((await run.send({})).text)).toEqual(body);
  });
});

const pieceBytes = 1024 * 1024;

test.each([
  ["nowhere", []],
  ["at the border of a piece", [pieceBytes - 10]],
  ["before and behind it", [pieceBytes - 29, pieceBytes, 2 * pieceBytes - 1]],
  ["at the end", [10 * 1024 * 1024 - 30]],
  ["in every row", Array.from({ length: 20_000 }, (_, index) => index * 500)],
  ["in every short row", Array.from({ length: 170_000 }, (_, index) => index * 60)],
  ["and nothing else", Array.from({ length: 300_000 }, (_, index) => index * 29)],
])("a secret is hidden in a large answer that has it %s", async (_, places) => {
  const placeholders = createPlaceholders(createSecretRegistry());
  const secret = "s3cr3t-token-0123456789abcdef";
  const placeholder = placeholders.placeholderOf(secret);
  const filling = Buffer.alloc(10 * 1024 * 1024, "é, ");
  for (const place of places) filling.write(secret, place);
  const answer = filling.toString().replaceAll("\uFFFD", "e");
  const hidden = await placeholders.hideBytes(Buffer.from(answer));
  expect(hidden.toString() === answer.replaceAll(secret, placeholder)).toBe(true);
});

describe("a token that the provider mints", () => {
  const minted = [{ url: `https://${tokenServerName}/token`, pointers: ["/data/pass"] }];
  const answer: JsonObject = {
    access_token: "minted-K7Qx2mVt9sLw4ZrB8nPy",
    token_type: "bearer",
    expires_in: 3600,
    refresh_token: "rotated-Gj6Fc1Ta0Ue7Ri2Dh3",
    data: { pass: "p4ss", again: "see minted-K7Qx2mVt9sLw4ZrB8nPy" },
    scope: "read write",
  };

  test("never reaches the connector, which signs with its placeholder", async () => {
    await using provider = await startProvider(({ host }, response) =>
      answerJson(response, 200, host === tokenServerName ? answer : { ok: true }),
    );
    await using run = open(provider, { placeholders: { minted } });
    const { text } = await run.send({
      method: "POST",
      path: `https://${tokenServerName}/token?at=1`,
      text: `client_secret=${run.placeholders.placeholderOf(secret)}`,
      headers: form,
    });
    const given = JSON.parse(text);
    const { access_token, refresh_token, data } = given;
    expect(text).not.toMatch(/minted-|rotated-|p4ss/);
    expect(given).toEqual({
      ...answer,
      access_token,
      refresh_token,
      data: { pass: data.pass, again: `see ${access_token}` },
    });
    await run.send({ headers: { authorization: `Bearer ${access_token}`, "x-p": data.pass } });
    expect(provider.received[1]?.headers).toMatchObject({
      authorization: "Bearer minted-K7Qx2mVt9sLw4ZrB8nPy",
      "x-p": "p4ss",
    });
    expect(run.secrets.redactText("log: minted-K7Qx2mVt9sLw4ZrB8nPy")).toBe("log: [redacted]");
  });

  test.each([
    ["is a form", "access_token=minted-K7Qx2mVt9sLw4ZrB8nPy", "RESPONSE_INVALID"],
    ["is too deep", `${"[".repeat(100)}${"]".repeat(100)}`, "RESPONSE_INVALID"],
    ["is too large", JSON.stringify({ ...answer, x: "x".repeat(4 << 20) }), "RESPONSE_TOO_LARGE"],
  ])("in an answer that %s, and is not taken apart, is not given away", async (_, body, code) => {
    await using provider = await startProvider((_, response) => void response.end(body));
    await using run = open(provider, { placeholders: { minted } });
    const asking = run.send({ path: `https://${tokenServerName}/token` });
    expect(await codeOf(asking)).toBe(code);
  });
});

describe("what a connector or a provider could make of the search for secrets", () => {
  const long = (length: number, seed: number) =>
    Array.from({ length }, (_, index) => ((index * 31 + seed * 7919) % 36).toString(36)).join("");

  test("a user name of the connector's own choice is not searched for, and its password is", async () => {
    await using provider = await startProvider((request, response) =>
      answerJson(response, 200, { echo: request.headers.authorization ?? null }),
    );
    await using run = open(provider);
    const placeholder = run.placeholders.placeholderOf(secret);
    for (let index = 0; index < 40; index++) {
      const user = long(6_000 + (index % 3), index);
      const { text } = await run.send({
        headers: { authorization: basic(`${user}:${placeholder}`) },
      });
      expect(text).toContain("[redacted]");
      const encoded = Buffer.from(`${user}:${secret}`).toString("base64");
      expect(run.secrets.redactText(encoded.slice(-60))).toMatch(/^\[redacted\]=*$/);
      expect(run.secrets.contains(Buffer.from(user))).toBe(false);
    }
  });

  test("the header with a short password is searched for, since no part of it tells enough", async () => {
    await using provider = await startProvider(ok);
    await using run = open(provider);
    const placeholder = run.placeholders.placeholderOf("p4ss");
    await run.send({ headers: { authorization: basic(`somebody:${placeholder}`) } });
    const encoded = Buffer.from("somebody:p4ss").toString("base64");
    expect(run.secrets.redactText(`it was ${encoded}!`)).toBe("it was [redacted]!");
  });

  const minted = [{ url: `https://${tokenServerName}/token`, pointers: ["/token"] }];
  test.each([
    ["where it is declared", (token: string): JsonObject => ({ token })],
    ["under the name of a secret", (token: string): JsonObject => ({ access_token: token })],
  ])("a minted token longer than any of a login is refused %s", async (_, answer) => {
    await using provider = await startProvider((_request, response) =>
      answerJson(response, 200, answer(long(16 * 1024 + 1, 1))),
    );
    await using run = open(provider, { placeholders: { minted } });
    const sent = run.send({ path: `https://${tokenServerName}/token` });
    expect(await codeOf(sent)).toBe("RESPONSE_INVALID");
  });

  test("minted tokens without end stop the connector, not the host", async () => {
    let count = 0;
    await using provider = await startProvider((_request, response) =>
      answerJson(response, 200, { token: long(10_000, ++count) }),
    );
    await using run = open(provider, { placeholders: { minted } });
    const codes: unknown[] = [];
    for (let index = 0; index < 12; index++)
      codes.push(await codeOf(run.send({ path: `https://${tokenServerName}/token` })));
    expect(codes.indexOf("CONNECTOR_PROTOCOL")).toBe(6);
  });

  test("a request in which a placeholder stands too often is refused", async () => {
    await using provider = await startProvider(ok);
    await using run = open(provider);
    const placeholder = run.placeholders.placeholderOf(long(10_000, 3));
    const body = { text: placeholder.repeat(400) };
    expect(await codeOf(run.send({ method: "POST", body }))).toBe("CONNECTOR_PROTOCOL");
    expect(provider.received).toEqual([]);
  });

  test("refresh tokens that replace each other are hidden, the older ones no longer", async () => {
    const secrets = createSecretRegistry();
    const placeholders = createPlaceholders(secrets);
    const tokens = Array.from({ length: 60 }, (_, index) => `${index}-${long(4_000, index)}`);
    const standing = placeholders.placeholderOf("the first refresh token");
    for (const token of tokens) placeholders.rebind(standing, token);
    await placeholders.prepare();
    expect(placeholders.fill(standing)).toBe(tokens.at(-1));
    expect(placeholders.hide(`x ${tokens.at(-2)}`)).toBe(`x ${standing}`);
    expect(placeholders.secrets.length).toBeLessThan(12);
  });
});
