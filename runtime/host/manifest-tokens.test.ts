import { createHmac } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { answerJson, createInstantClock, startProvider } from "../../simulators/loopback.ts";
import { createMemorySink } from "../../tests/memory-sink.ts";
import { rotatingManifest } from "../../tests/rotating-manifest.ts";
import { zipOf } from "../../tests/zip-file.ts";
import { createMemoryTokenStore, type TokenStore } from "../contract/token-store.ts";
import { createHost } from "./create-host.ts";
import { findConnector } from "./registry.ts";

const minted = "minted-8Kq2Zr5Wt9Lx3Vb7Nm4Pd6Hs1Jc0Fg";
const session = "session-3Vb7Nm4Pd6Hs1Jc0Fg8Kq2Zr5Wt9Lx";
const secret = "secret-9Lx3Vb7Nm4Pd6Hs1Jc0Fg8Kq2Zr5Wt";

/** Records repeat the token that was sent; a field has what the manifest made of it. */
const stream = (name: string, authenticator: string) => `
  - type: DeclarativeStream
    name: ${name}
    primary_key: id
    schema_loader: { type: InlineSchemaLoader, schema: { type: object, properties: { id: { type: integer }, token: { type: string }, seen: { type: string } } } }
    transformations: [{ type: AddFields, fields: [{ type: AddedFieldDefinition, path: [seen], value: "{{ record.token | base64encode }}" }] }]
    retriever:
      type: SimpleRetriever
      record_selector: { type: RecordSelector, extractor: { type: DpathExtractor, field_path: [data] } }
      requester:
        type: HttpRequester
        url_base: https://api.example.com
        path: orders
        authenticator: ${authenticator}
`;
const manifest = `
version: 6.36.2
type: DeclarativeSource
check: { type: CheckStream, stream_names: [refreshed] }
streams:
${stream("refreshed", `{ type: OAuthAuthenticator, token_refresh_endpoint: "https://api.example.com/token", client_id: id, client_secret: "{{ config.secret }}", refresh_token: "{{ config.secret }}" }`)}
${stream("logged_in", `{ type: SessionTokenAuthenticator, session_token_path: [data, key], expiration_duration: PT1H, login_requester: { type: HttpRequester, url_base: "https://api.example.com", path: login, http_method: POST, request_body_json: { password: "{{ config.secret }}" } }, request_authentication: { type: ApiKey, inject_into: { type: RequestOption, inject_into: header, field_name: X-Key } } }`)}
spec: { type: Spec, connection_specification: { type: object, required: [secret], properties: { secret: { type: string, title: Secret, airbyte_secret: true } } } }
`;

test("tokens that a provider mints reach it again, and never the manifest", async () => {
  const folder = await mkdtemp(join(tmpdir(), "svc-manifest-tokens-"));
  try {
    await writeFile(join(folder, "tokens.yaml"), manifest);
    await using provider = await startProvider(({ url, headers }, response) => {
      if (url === "/token") return answerJson(response, 200, { access_token: minted });
      if (url === "/login") return answerJson(response, 200, { data: { key: session } });
      const token = headers["x-key"] ?? headers.authorization?.slice(7);
      answerJson(response, 200, { data: [{ id: 1, token }] });
    });
    await using host = createHost({
      clock: createInstantClock(Date.UTC(2026, 0, 15)),
      seams: provider.seams,
    });
    const connector = findConnector(join(folder, "tokens.yaml"), "/");
    const streams = await host.discover(connector, { secret });
    const sink = createMemorySink();
    await host.read(
      connector,
      {
        config: { secret },
        catalog: { streams: streams.map((one) => ({ stream: one, sync_mode: "full_refresh" })) },
      },
      sink,
    );
    const asked = provider.received.map(({ url, body, headers }) => [
      url,
      url === "/orders" ? (headers["x-key"] ?? headers.authorization) : body,
    ]);
    expect(asked).toEqual([
      [
        "/token",
        `grant_type=refresh_token&client_id=id&client_secret=${secret}&refresh_token=${secret}`,
      ],
      ["/orders", `Bearer ${minted}`],
      ["/login", JSON.stringify({ password: secret })],
      ["/orders", session],
    ]);
    const rows = sink.rows();
    expect(rows.map(({ token }) => token)).toEqual(["[redacted]", "[redacted]"]);
    for (const { seen } of rows) {
      const known = Buffer.from(String(seen), "base64").toString();
      for (const token of [minted, session]) expect(known).not.toContain(token);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test("a token that the host signs is made anew for each run, with the key of that run", async () => {
  const folder = await mkdtemp(join(tmpdir(), "svc-manifest-tokens-"));
  try {
    const signing = `{ type: JwtAuthenticator, secret_key: "{{ config.secret }}", algorithm: HS256, jwt_payload: { iss: shop } }`;
    const [head = "", tail = ""] = manifest.split(/streams:\n[\s\S]*(?=\nspec:)/);
    await writeFile(
      join(folder, "signed.yaml"),
      `${head.replace("[refreshed]", "[signed]")}streams:\n${stream("signed", signing)}${tail}`,
    );
    await using provider = await startProvider((_, response) =>
      answerJson(response, 200, { data: [{ id: 1 }] }),
    );
    const clock = createInstantClock(Date.UTC(2026, 0, 15));
    await using host = createHost({ clock, sandbox: "inline", seams: provider.seams });
    const connector = findConnector(join(folder, "signed.yaml"), "/");
    const keys = [secret, `another-${secret}`];
    for (const key of keys) await host.check(connector, { secret: key });
    const tokens = provider.received.map(({ headers }) => headers.authorization?.split(" ").at(-1));
    for (const [index, key] of keys.entries()) {
      const [header, payload, signature] = tokens[index]?.split(".") ?? [];
      const hmac = createHmac("sha256", key).update(`${header}.${payload}`);
      expect(signature).toBe(hmac.digest("base64url"));
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

/** A provider that replaces its tokens with each refresh, and a manifest that is read there. */
async function openRotating(
  store: (refreshToken: string) => TokenStore | undefined,
  { budget = "", refused = "" } = {},
) {
  const folder = await mkdtemp(join(tmpdir(), "svc-manifest-tokens-"));
  const origin = "https://api.example.com";
  const text = rotatingManifest({ login: `${origin}/token`, api: origin });
  await writeFile(join(folder, "items.yaml"), `${text}${budget}`);
  let count = 0;
  const provider = await startProvider(({ url, headers }, response) => {
    if (refused !== "" && headers.authorization?.endsWith(refused))
      return answerJson(response, 401, {});
    if (url !== "/token")
      return answerJson(response, 200, { id: "1", token: headers.authorization?.slice(7) });
    count++;
    answerJson(response, 200, {
      access_token: `${minted}${count}`,
      refresh_token: `${session}${count}`,
      expires_in: "3600",
    });
  });
  const clock = createInstantClock(Date.UTC(2026, 0, 15));
  const tokens = store(secret);
  const host = createHost({ clock, seams: provider.seams, tokens: () => tokens });
  const connector = findConnector(join(folder, "items.yaml"), "/");
  const config = { client_id: "id", client_secret: "canary-of-a-client", refresh_token: secret };
  return {
    clock,
    received: provider.received,
    async read() {
      const sink = createMemorySink();
      const [stream] = await host.discover(connector, config);
      const catalog = stream ? [{ stream, sync_mode: "full_refresh" as const }] : [];
      const { status, error } = await host.read(
        connector,
        { config, catalog: { streams: catalog } },
        sink,
      );
      return { status, error, rows: sink.rows() };
    },
    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

test("a refresh token that changes is kept before what came with it is used, and no connector sees it", async () => {
  const saved: string[] = [];
  await using items = await openRotating((refreshToken) => {
    const store = createMemoryTokenStore({ refreshToken });
    return {
      ...store,
      async save(version, tokens) {
        saved.push(`${items.received.length} requests: ${tokens.refreshToken}`);
        return await store.save(version, tokens);
      },
    };
  });
  for (const _ of [1, 2]) {
    const { rows } = await items.read();
    expect(rows.map(({ token }) => token)).toEqual(["[redacted]"]);
    const seen = Buffer.from(String(rows[0]?.seen), "base64").toString();
    expect(seen).not.toContain(minted);
    await items.clock.sleep(3_600_000);
  }
  const asked = items.received.map(
    ({ body, headers }) => new URLSearchParams(body).get("refresh_token") ?? headers.authorization,
  );
  expect(asked).toEqual([secret, `Bearer ${minted}1`, `${session}1`, `Bearer ${minted}2`]);
  expect(saved).toEqual([`1 requests: ${session}1`, `3 requests: ${session}2`]);
});

test("new tokens are asked for at once, however long the connector's own requests have to wait", async () => {
  const heldMs: number[] = [];
  const holdsOneRequest = `
api_budget: { type: HTTPAPIBudget, policies: [{ type: FixedWindowCallRatePolicy, period: PT1H, call_limit: 1, matchers: [] }] }
`;
  const toStore = (refreshToken: string): TokenStore => ({
    ...createMemoryTokenStore({ refreshToken }),
    async exclusively(work) {
      const takenMs = items.clock.now();
      const made = await work();
      heldMs.push(items.clock.now() - takenMs);
      return made;
    },
  });
  // The first token is refused by the only request that the limit leaves for an hour.
  await using items = await openRotating(toStore, {
    budget: holdsOneRequest,
    refused: `${minted}1`,
  });
  const begunMs = items.clock.now();
  expect((await items.read()).status).toBe("succeeded");
  expect(items.received.map(({ url }) => url)).toEqual(["/token", "/items", "/token", "/items"]);
  expect(heldMs).toHaveLength(2);
  for (const ms of heldMs) expect(ms).toBeLessThan(60_000);
  expect(items.clock.now() - begunMs).toBeGreaterThan(3_590_000);
});

test("what cannot be kept is not used: the next run goes on with the token that is kept", async () => {
  let isBroken = true;
  await using items = await openRotating((refreshToken) => {
    const store = createMemoryTokenStore({ refreshToken });
    return {
      ...store,
      async save(version, tokens) {
        if (isBroken) throw new Error("the disk is full");
        return await store.save(version, tokens);
      },
    };
  });
  expect((await items.read()).status).not.toBe("succeeded");
  expect(items.received.map(({ url }) => url)).toEqual(["/token"]);
  isBroken = false;
  expect((await items.read()).status).toBe("succeeded");
});

test("where nothing keeps a refresh token that changes, it is not used at all, and one reads where it can be", async () => {
  await using items = await openRotating(() => undefined);
  const { error } = await items.read();
  expect(error).toMatchObject({ code: "CONFIG_INVALID" });
  expect(JSON.stringify(error)).toContain("svc connectors add");
  expect(items.received).toEqual([]);
});

test("a secret in an archive, or written as XML writes it, reaches no manifest either", async () => {
  const folder = await mkdtemp(join(tmpdir(), "svc-manifest-tokens-"));
  const key = "secret&of<an>account-9Lx3Vb7Nm4Pd6Hs1";
  const escaped = key.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  try {
    await using provider = await startProvider(({ url }, response) => {
      response.writeHead(200);
      const line = JSON.stringify({ id: 1, token: key });
      if (url === "/zipped") response.end(zipOf([{ name: "a.jsonl", text: line }]));
      else response.end(`<rows><row><id>1</id><token>${escaped}</token></row></rows>`);
    });
    await using host = createHost({ sandbox: "inline", seams: provider.seams });
    const decoders = {
      zipped: "{ type: ZipfileDecoder, decoder: { type: JsonlDecoder } }",
      written: "{ type: XmlDecoder }",
    };
    for (const [name, decoder] of Object.entries(decoders)) {
      const bearer = `{ type: BearerAuthenticator, api_token: "{{ config.secret }}" }`;
      const path = name === "zipped" ? "[]" : "[rows, row]";
      const [head = "", tail = ""] = manifest.split(/streams:\n[\s\S]*(?=\nspec:)/);
      const read = stream(name, bearer)
        .replace("path: orders", `path: ${name}`)
        .replace("id: { type: integer }", "id: {}")
        .replace("record.token | base64encode", "record.token[:6]")
        .replace("field_path: [data] } }", `field_path: ${path} } }\n      decoder: ${decoder}`);
      const file = join(folder, `${name}.yaml`);
      await writeFile(file, `${head.replace("[refreshed]", `[${name}]`)}streams:\n${read}${tail}`);
      const connector = findConnector(file, "/");
      const config = { secret: key };
      const [found] = await host.discover(connector, config);
      const catalog = found ? [{ stream: found, sync_mode: "full_refresh" as const }] : [];
      const sink = createMemorySink();
      await host.read(connector, { config, catalog: { streams: catalog } }, sink);
      const [row] = sink.rows();
      expect(row?.token).toBe("[redacted]");
      // That of a placeholder, or "[redac".
      expect(row?.seen).not.toBe("secret");
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
