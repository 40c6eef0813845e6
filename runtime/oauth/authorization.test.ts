import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { authorizeInBrowser } from "../../simulators/authorization/browser.ts";
import {
  type AuthorizationServer,
  authorizationServerName,
  client,
  startAuthorizationServer,
} from "../../simulators/authorization/server.ts";
import { createInstantClock } from "../../simulators/loopback.ts";
import type { Manifest } from "../contract/catalog.ts";
import { bearer, http, oauth2 } from "../contract/egress.ts";
import { ConnectorError } from "../contract/errors.ts";
import { createMemoryTokenStore } from "../contract/token-store.ts";
import { createHttpBroker } from "../egress/http-broker.ts";
import { createSecretRegistry } from "../filter/secrets.ts";
import { validAccessToken } from "./access-token.ts";
import { finishAuthorization } from "./finish.ts";
import { type AuthorizationContext, createMemoryPendingStore } from "./pending.ts";
import { revokeTokens } from "./revoke.ts";
import { startAuthorization } from "./start.ts";

const redirectUri = "https://svc.example.net/oauth/callback/conn_x";
const otherUri = "https://svc.example.net/oauth/callback/conn_y";
const context: AuthorizationContext = {
  workspace: "w1",
  connector: "conn_x",
  user: "u1",
  session: "session-of-the-first-user",
};
const config = { client_id: client.id, client_secret: client.secret };
const text = { type: "string" };
const secret = { type: "string", "x-svc-secret": true };

/** @param authorization changes of it; null: none is declared */
function manifestWith(authorization: object | null = {}): Manifest {
  const auth = oauth2({
    tokenUrl: `https://${authorizationServerName}/token`,
    clientId: "client_id",
    clientSecret: "client_secret",
    refreshToken: "refresh_token",
    ...(authorization && {
      authorization: {
        authorizeUrl: `https://${authorizationServerName}/auth`,
        scopes: ["items:read", "offline_access"],
        issuer: `https://${authorizationServerName}`,
        revokeUrl: `https://${authorizationServerName}/token/revocation`,
        extra: { prompt: "consent" },
        ...authorization,
      },
    }),
  });
  return {
    id: "conn_x",
    version: "1.0.0",
    title: "X",
    spec: {
      type: "object",
      properties: { client_id: text, client_secret: secret, refresh_token: secret },
      required: ["client_id", "client_secret", "refresh_token"],
    },
    egress: http({ baseUrl: "https://api.example.com/v1", auth }),
  };
}

const startServer = () => startAuthorizationServer({ redirectUris: [redirectUri, otherUri] });

/** One user's way: start, log in and consent, callback. */
function createFlow(server: AuthorizationServer, manifest = manifestWith()) {
  const clock = createInstantClock(Date.now());
  const pendings = createMemoryPendingStore(clock.now);
  const secrets = createSecretRegistry();
  const network = {
    settings: { approvedHosts: [], allowNetworks: [] },
    seams: server.seams,
    secrets,
    clock,
  };
  return {
    ...{ clock, pendings, secrets },
    async start(options: Partial<Parameters<typeof startAuthorization>[0]> = {}) {
      const started = await startAuthorization({
        manifest,
        config,
        redirectUri,
        context,
        clock,
        ...options,
      });
      await pendings.put(started.pending);
      return started;
    },
    finish: (callbackUrl: string, given = context) =>
      finishAuthorization({ manifest, callbackUrl, context: given, pendings, ...network }),
    revoke: (tokens: object, given = manifest) =>
      revokeTokens({ manifest: given, config, tokens, ...network }),
  };
}

async function refusedBy(work: Promise<unknown>) {
  const error = await work.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  if (!(error instanceof ConnectorError)) throw error ?? new Error("it was granted");
  expect(inspect(error, { depth: 9, showHidden: true }) + JSON.stringify(error)).not.toMatch(
    /canary|code=|state=/,
  );
  return error.code === "AUTHORIZATION_FAILED" ? error.details.rule : error.code;
}
/** Whether the API of the server takes an access token: as the broker of a run sends it. */
async function isHonoured(
  server: AuthorizationServer,
  accessToken: string | undefined,
): Promise<boolean> {
  const broker = createHttpBroker({
    declaration: http({ baseUrl: "https://api.example.com/v1", auth: bearer("token") }),
    config: { token: accessToken ?? "" },
    secrets: createSecretRegistry(),
    clock: createInstantClock(Date.now()),
    settings: { approvedHosts: [], allowNetworks: [] },
    seams: server.seams,
  });
  const call = { method: "GET", path: ["items"], accept: [401] } as const;
  const { status } = await broker
    .request(call, new AbortController().signal)
    .finally(() => broker.close());
  return status === 200;
}

const tokenRequests = ({ requests }: AuthorizationServer) =>
  requests.filter((one) => one === "POST /token");

/** A callback of the real server, with some of its parameters changed; undefined takes one out. */
function altered(callback: string, changes: Record<string, string | undefined>): string {
  const url = new URL(callback);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  return url.href;
}

describe("connecting an account", () => {
  test("sends the browser off with a state of 32 bytes and a proof key, and keeps neither the state nor the session", async () => {
    await using server = await startServer();
    const { url, pending } = await createFlow(server).start();
    const asked = Object.fromEntries(new URL(url).searchParams);
    expect(asked).toMatchObject({
      response_type: "code",
      client_id: client.id,
      redirect_uri: redirectUri,
      scope: "items:read offline_access",
      prompt: "consent",
      code_challenge_method: "S256",
    });
    expect(Buffer.from(asked.state ?? "", "base64url")).toHaveLength(32);
    expect(JSON.stringify(pending)).not.toContain(asked.state);
    expect(JSON.stringify(pending)).not.toContain(context.session);
    expect(pending.codeVerifier).toMatch(/^[\w-]{43}$/);
    expect(url).not.toContain(pending.codeVerifier);
    expect(pending.config).toEqual(config);
  });

  test("gives tokens that are good until they end, with what was granted", async () => {
    await using server = await startServer();
    const flow = createFlow(server);
    const { url } = await flow.start({ reference: "source-7" });
    const granted = await flow.finish(await authorizeInBrowser(server, url));
    expect(granted).toMatchObject({ reference: "source-7", config: {}, missingScopes: [] });
    expect(granted.grantedScopes).toContain("items:read");
    expect(granted.tokens.expiresAtMs).toBe(flow.clock.now() + 3_600_000);
    for (const token of [granted.tokens.accessToken, granted.tokens.refreshToken]) {
      expect(flow.secrets.contains(Buffer.from(`x ${token} x`))).toBe(true);
    }
    expect(await isHonoured(server, granted.tokens.accessToken)).toBe(true);
  });

  test("works once for a callback that comes four times at a time, and sends the code once", async () => {
    await using server = await startServer();
    const flow = createFlow(server);
    const callback = await authorizeInBrowser(server, (await flow.start()).url);
    const results = await Promise.allSettled(
      Array.from({ length: 4 }, () => flow.finish(callback)),
    );
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await refusedBy(flow.finish(callback))).toBe("unknown_state");
    expect(tokenRequests(server)).toHaveLength(1);
    expect(server.revokedGrantCount).toBe(0);
  });

  test.each([
    ["another workspace", { workspace: "w2" }],
    ["another connector", { connector: "conn_y" }],
    ["another user", { user: "u2" }],
    ["another session", { session: "s2" }],
  ])("is refused to %s, also afterwards to the right one, and no code is sent", async (_name, change) => {
    await using server = await startServer();
    const flow = createFlow(server);
    const callback = await authorizeInBrowser(server, (await flow.start()).url);
    expect(await refusedBy(flow.finish(callback, { ...context, ...change }))).toBe("other_context");
    expect(await refusedBy(flow.finish(callback))).toBe("unknown_state");
    expect(tokenRequests(server)).toHaveLength(0);
  });

  test("is refused ten minutes after the start", async () => {
    await using server = await startServer();
    const flow = createFlow(server);
    const callback = await authorizeInBrowser(server, (await flow.start()).url);
    flow.clock.advance(600_000);
    expect(await refusedBy(flow.finish(callback))).toBe("expired");
    expect(tokenRequests(server)).toHaveLength(0);
  });

  test.each([
    ["the issuer of another server", { iss: "https://evil.example.net" }, "other_issuer"],
    ["no issuer", { iss: undefined }, "other_issuer"],
    ["an empty issuer", { iss: "" }, "other_issuer"],
    ["no code", { code: undefined }, "malformed"],
    ["an id token as well", { id_token: "x" }, "malformed"],
    ["a signed answer as well", { response: "x" }, "malformed"],
    ["no state", { state: undefined }, "malformed"],
    ["a state that was never given", { state: "A".repeat(43) }, "unknown_state"],
    [
      "access_denied",
      { code: undefined, error: "access_denied", error_description: "canary" },
      "denied",
    ],
    [
      "another error",
      { code: undefined, error: "server_error", error_description: "canary" },
      "failed",
    ],
  ])("with %s is refused before a code is sent", async (_name, changes, rule) => {
    await using server = await startServer();
    const flow = createFlow(server);
    const callback = await authorizeInBrowser(server, (await flow.start()).url);
    expect(await refusedBy(flow.finish(altered(callback, changes)))).toBe(rule);
    expect(tokenRequests(server)).toHaveLength(0);
  });

  test.each([
    "code",
    "state",
    "iss",
    "accounts-server",
  ])("with the parameter %s twice is refused", async (name) => {
    await using server = await startServer();
    const flow = createFlow(server);
    const callback = new URL(await authorizeInBrowser(server, (await flow.start()).url));
    callback.searchParams.append(name, callback.searchParams.get(name) ?? "x");
    callback.searchParams.append(name, callback.searchParams.get(name) ?? "x");
    expect(await refusedBy(flow.finish(callback.href))).toBe("malformed");
    expect(tokenRequests(server)).toHaveLength(0);
  });

  test("without a declared issuer takes the origin of the authorization endpoint for it", async () => {
    await using server = await startServer();
    const flow = createFlow(server, manifestWith({ issuer: undefined }));
    const first = await authorizeInBrowser(server, (await flow.start()).url);
    expect(await refusedBy(flow.finish(altered(first, { iss: "https://evil.example.net" })))).toBe(
      "other_issuer",
    );
    const second = await authorizeInBrowser(server, (await flow.start()).url);
    expect((await flow.finish(second)).tokens.accessToken).toBeTypeOf("string");
  });

  test("is refused at another redirect URI, and by the server when the URI of the start was swapped", async () => {
    await using server = await startServer();
    const flow = createFlow(server);
    const callback = await authorizeInBrowser(server, (await flow.start()).url);
    expect(await refusedBy(flow.finish(callback.replace(redirectUri, otherUri)))).toBe(
      "other_redirect",
    );
    expect(tokenRequests(server)).toHaveLength(0);
    const { url, pending } = await flow.start();
    const swapped = (await authorizeInBrowser(server, url)).replace(redirectUri, otherUri);
    await flow.pendings.put({ ...pending, redirectUri: otherUri });
    expect(await refusedBy(flow.finish(swapped))).toBe("code_refused");
  });

  test("is refused by the server when the proof key is another's", async () => {
    await using server = await startServer();
    const flow = createFlow(server);
    const { url, pending } = await flow.start();
    const callback = await authorizeInBrowser(server, url);
    await flow.pendings.put({ ...pending, codeVerifier: "A".repeat(43) });
    expect(await refusedBy(flow.finish(callback))).toBe("code_refused");
    expect(tokenRequests(server)).toHaveLength(1);
  });

  test("would end the grant if a code were sent again, which is why a callback counts once", async () => {
    await using server = await startServer();
    const flow = createFlow(server);
    const { url, pending } = await flow.start();
    const callback = await authorizeInBrowser(server, url);
    const { tokens } = await flow.finish(callback);
    await flow.pendings.put(pending);
    expect(await refusedBy(flow.finish(callback))).toBe("code_refused");
    expect(await isHonoured(server, tokens.accessToken)).toBe(false);
  });

  test("says which client is wrong when the secret is", async () => {
    await using server = await startServer();
    const flow = createFlow(server);
    const { url } = await flow.start({
      config: { ...config, client_secret: "wrong-secret-canary" },
    });
    expect(await refusedBy(flow.finish(await authorizeInBrowser(server, url)))).toBe(
      "CREDENTIALS_REJECTED",
    );
  });
});

describe("a start", () => {
  test.each([
    "http://svc.example.net/callback",
    "https://svc.example.net/callback?next=x",
    "https://svc.example.net/callback#x",
    "https://user@svc.example.net/callback",
    "https://SVC.example.net/callback",
    "https://svc.example.net/a/../callback",
    "javascript:alert(1)",
    "callback",
  ])("refuses the redirect URI %s", async (uri) => {
    await using server = await startServer();
    expect(await refusedBy(createFlow(server).start({ redirectUri: uri }))).toBe("CONFIG_INVALID");
  });

  test("may bring the operator's client, which then counts over any setting", async () => {
    await using server = await startServer();
    const flow = createFlow(server);
    const settings = { client_id: "somebody-else", client_secret: "another-secret-canary" };
    const { url, pending } = await flow.start({ config: settings, client });
    expect(new URL(url).searchParams.get("client_id")).toBe(client.id);
    expect(pending).toMatchObject({ config: {}, client });
    expect(
      (await flow.finish(await authorizeInBrowser(server, url))).tokens.accessToken,
    ).toBeTypeOf("string");
  });

  test("asks for the scopes that are chosen, and refuses others", async () => {
    await using server = await startServer();
    const flow = createFlow(server);
    const { url } = await flow.start({ scopes: ["items:read"] });
    expect(new URL(url).searchParams.get("scope")).toBe("items:read");
    expect(await refusedBy(flow.start({ scopes: ["items:write"] }))).toBe("CONFIG_INVALID");
  });

  test("asks for the client before the user logs in", async () => {
    await using server = await startServer();
    expect(await refusedBy(createFlow(server).start({ config: { client_id: "x" } }))).toBe(
      "CONFIG_INVALID",
    );
  });

  test("is refused for a connector that declares no authorization", async () => {
    await using server = await startServer();
    expect(await refusedBy(createFlow(server, manifestWith(null)).start())).toBe(
      "CONNECTOR_INVALID",
    );
  });
});

describe("an account whose token takes the place of a setting", () => {
  const manifest: Manifest = {
    ...manifestWith(null),
    spec: { type: "object", properties: { access_token: secret }, required: ["access_token"] },
    egress: http({
      baseUrl: "https://api.example.com/v1",
      auth: bearer("access_token", {
        bareIfStartsWith: "pk_",
        authorization: {
          authorizeUrl: `https://${authorizationServerName}/auth`,
          tokenUrl: `https://${authorizationServerName}/token`,
          revokeUrl: `https://${authorizationServerName}/token/revocation`,
          scopes: ["items:read", "offline_access"],
        },
      }),
    }),
  };

  test("is connected with the operator's client, which is no setting", async () => {
    await using server = await startServer();
    const flow = createFlow(server, manifest);
    expect(await refusedBy(flow.start({ config: {} }))).toBe("CONFIG_INVALID");
    const { url, pending } = await flow.start({
      config: { access_token: "entered before" },
      client,
    });
    expect(pending.config).toEqual({});
    const { tokens } = await flow.finish(await authorizeInBrowser(server, url));
    expect(await isHonoured(server, tokens.accessToken)).toBe(true);
  });

  test("gives a token that is good: the same one until it ends, then a new one, saved first", async () => {
    await using server = await startServer();
    const flow = createFlow(server, manifest);
    const { url } = await flow.start({ config: {}, client });
    const { tokens } = await flow.finish(await authorizeInBrowser(server, url));
    const store = createMemoryTokenStore(tokens);
    const network = {
      settings: { approvedHosts: [], allowNetworks: [] },
      seams: server.seams,
      secrets: flow.secrets,
    };
    const valid = () =>
      validAccessToken({ manifest, config: {}, client, store, clock: flow.clock, ...network });
    expect(await valid()).toBe(tokens.accessToken);
    expect(tokenRequests(server)).toHaveLength(1); // The code.
    flow.clock.advance(3_600_000);
    const renewed = await Promise.all([valid(), valid(), valid()]);
    expect(new Set(renewed).size).toBe(1);
    expect(renewed[0]).not.toBe(tokens.accessToken);
    expect(tokenRequests(server)).toHaveLength(2);
    expect((await store.load()).tokens).toMatchObject({ accessToken: renewed[0] });
    expect(
      await revokeTokens({
        manifest,
        config: {},
        client,
        tokens: (await store.load()).tokens,
        clock: flow.clock,
        ...network,
      }),
    ).toEqual({ status: "revoked" });
    flow.clock.advance(3_600_000);
    expect(await refusedBy(valid())).toBe("REAUTHORIZATION_NEEDED");
    expect(await refusedBy(valid())).toBe("REAUTHORIZATION_NEEDED");
    expect(tokenRequests(server)).toHaveLength(3);
  });
});

describe("revocation", () => {
  test("ends both tokens at the server, the refresh token first", async () => {
    await using server = await startServer();
    const flow = createFlow(server);
    const { tokens } = await flow.finish(
      await authorizeInBrowser(server, (await flow.start()).url),
    );
    expect(await flow.revoke(tokens)).toEqual({ status: "revoked" });
    expect(await isHonoured(server, tokens.accessToken)).toBe(false);
    expect(server.revokedGrantCount).toBe(1);
    // RFC 7009: an unknown token is no failure.
    expect(await flow.revoke(tokens)).toEqual({ status: "revoked" });
  });

  test("is not supported without an endpoint or a token", async () => {
    await using server = await startServer();
    const flow = createFlow(server);
    const manifest = manifestWith({ revokeUrl: undefined });
    expect(await flow.revoke({ refreshToken: "x" }, manifest)).toEqual({ status: "not_supported" });
    expect(await flow.revoke({})).toEqual({ status: "not_supported" });
    expect(server.requests).toEqual([]);
  });
});
