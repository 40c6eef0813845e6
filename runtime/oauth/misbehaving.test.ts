import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import {
  answerJson,
  createInstantClock,
  type Handler,
  type Provider,
  startProvider,
  tokenServerName,
} from "../../simulators/loopback.ts";
import type { Manifest } from "../contract/catalog.ts";
import { type Authorization, http, oauth2 } from "../contract/egress.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { HttpLimits } from "../contract/network.ts";
import { createSecretRegistry } from "../filter/secrets.ts";
import { finishAuthorization } from "./finish.ts";
import { createMemoryPendingStore } from "./pending.ts";
import { revokeTokens } from "./revoke.ts";
import { startAuthorization } from "./start.ts";

const redirectUri = "https://svc.example.net/oauth/callback/conn_x";
const context = {
  workspace: "w1",
  connector: "conn_x",
  user: "u1",
  session: "session-of-the-first-user",
};
const config = { client_id: "client-1", client_secret: "client-secret-canary" };
const text = { type: "string" };
const secret = { type: "string", "x-svc-secret": true };

/** The regions are the first labels of the two hosts of the loopback provider. */
function manifestWith(authorization: Partial<Authorization> = {}): Manifest {
  const auth = oauth2<string>({
    tokenUrl: "https://{region}.example.com/token",
    clientId: "client_id",
    clientSecret: "client_secret",
    refreshToken: "refresh_token",
    authorization: {
      authorizeUrl: "https://{region}.example.com/auth",
      scopes: ["items:read", "items:write"],
      scopeSeparator: ",",
      revokeUrl: "https://{region}.example.com/revoke",
      region: { parameter: "accounts-server", field: "region" },
      ...authorization,
    },
  });
  const region = { type: "string", enum: ["login", "api"], default: "login" };
  const properties = { region, client_id: text, client_secret: secret, refresh_token: secret };
  return {
    id: "conn_x",
    version: "1.0.0",
    title: "X",
    spec: { type: "object", properties, required: ["client_id", "client_secret", "refresh_token"] },
    egress: http({ baseUrl: "https://api.example.com/v1", auth }),
  };
}

async function connect(
  provider: Provider,
  callback: Record<string, string> = {},
  manifest = manifestWith(),
  limits: Partial<HttpLimits> = {},
) {
  const clock = createInstantClock(Date.UTC(2026, 0, 15));
  const pendings = createMemoryPendingStore(clock.now);
  const { url, pending } = await startAuthorization({
    manifest,
    config,
    redirectUri,
    context,
    clock,
  });
  await pendings.put(pending);
  const state = new URL(url).searchParams.get("state") ?? "";
  const parameters = new URLSearchParams({ code: "code-canary", state, ...callback });
  const callbackUrl = `${redirectUri}?${parameters}`;
  const network = { ...networkOf(provider, clock), limits };
  return await finishAuthorization({ manifest, callbackUrl, context, pendings, ...network });
}

const networkOf = (provider: Provider, clock = createInstantClock(0)) => ({
  settings: { approvedHosts: [], allowNetworks: [] },
  seams: provider.seams,
  secrets: createSecretRegistry(),
  clock,
});

async function failureOf(work: Promise<unknown>) {
  const error = await work.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  if (!(error instanceof ConnectorError)) throw error ?? new Error("it succeeded");
  expect(inspect(error, { depth: 9, showHidden: true }) + JSON.stringify(error)).not.toContain(
    "canary",
  );
  return error.code === "AUTHORIZATION_FAILED" ? error.details.rule : error.code;
}

const answering =
  (status: number, body: unknown): Handler =>
  (_request, response) => {
    if (typeof body === "string")
      response.writeHead(status, { "content-type": "text/html" }).end(body);
    else answerJson(response, status, body, { location: "https://evil.example.net/" });
  };

const tokens = {
  access_token: "access-canary",
  refresh_token: "refresh-canary",
  expires_in: 3_600,
};

describe("a token endpoint that answers a code", () => {
  test.each([
    ["a web page", 200, "<html>code-canary</html>", "RESPONSE_INVALID"],
    ["nothing", 200, "", "RESPONSE_INVALID"],
    [
      "200 with an error",
      200,
      { error: "invalid_code", error_description: "code-canary" },
      "code_refused",
    ],
    ["invalid_grant", 400, { error: "invalid_grant" }, "code_refused"],
    ["200 with a wrong client", 200, { error: "invalid_client" }, "CREDENTIALS_REJECTED"],
    ["a huge answer", 200, { access_token: "a".repeat(300_000) }, "RESPONSE_TOO_LARGE"],
    [
      "a token with a line break",
      200,
      { ...tokens, access_token: "access\nx-evil: canary" },
      "RESPONSE_INVALID",
    ],
    [
      "a refresh token with a line break",
      200,
      { ...tokens, refresh_token: "canary\r\n" },
      "RESPONSE_INVALID",
    ],
    ["no token", 200, { refresh_token: "refresh-canary" }, "RESPONSE_INVALID"],
    [
      "no refresh token for a token that ends",
      200,
      { ...tokens, refresh_token: undefined },
      "no_refresh_token",
    ],
    ["a redirect", 307, {}, "REDIRECT_REFUSED"],
    ["503", 503, {}, "PROVIDER_UNAVAILABLE"],
    ["429", 429, {}, "RATE_LIMITED"],
  ])("with %s gets it once, and no secret is in the error", async (_name, status, body, code) => {
    await using provider = await startProvider(answering(status, body));
    expect(await failureOf(connect(provider))).toBe(code);
    expect(provider.received).toHaveLength(1);
    expect(new URLSearchParams(provider.received[0]?.body).get("code")).toBe("code-canary");
  });

  test("by breaking the connection gets it once", async () => {
    await using provider = await startProvider((_request, response) => void response.destroy());
    expect(await failureOf(connect(provider))).toBe("CONNECTION_FAILED");
    expect(provider.received).toHaveLength(1);
  });

  test("never gets it when its name leads to a private address", async () => {
    await using provider = await startProvider(answering(200, tokens));
    const seams = {
      ...provider.seams,
      resolve: async () => [{ address: "10.0.0.7", family: 4 as const }],
    };
    expect(await failureOf(connect({ ...provider, seams }))).toBe("ADDRESS_REFUSED");
    expect(provider.received).toEqual([]);
  });

  test("never, gets it once", async () => {
    await using provider = await startProvider(() => undefined);
    expect(await failureOf(connect(provider, {}, manifestWith(), { totalTimeoutMs: 200 }))).toBe(
      "PROVIDER_TIMEOUT",
    );
    expect(provider.received).toHaveLength(1);
  });

  test.each([
    ["no", undefined],
    ["a negative", -5],
    ["a zero", 0],
    ["an unreadable", "soon"],
  ])("with %s lifetime gives a token that is used until it is refused", async (_name, expires_in) => {
    await using provider = await startProvider(answering(200, { ...tokens, expires_in }));
    expect((await connect(provider)).tokens).toEqual({
      accessToken: "access-canary",
      refreshToken: "refresh-canary",
      obtainedAtMs: Date.UTC(2026, 0, 15),
    });
  });

  test("with a token that never ends needs to give no refresh token", async () => {
    await using provider = await startProvider(answering(200, { access_token: "access-canary" }));
    expect((await connect(provider)).tokens.refreshToken).toBeUndefined();
  });

  test.each([
    ["fewer scopes", "items:read", ["items:read"], ["items:write"]],
    ["other scopes, with commas", "items:write,more", ["items:write", "more"], ["items:read"]],
    ["none", "", [], ["items:read", "items:write"]],
    ["no word of them", undefined, ["items:read", "items:write"], []],
  ])("with %s says what is missing", async (_name, scope, grantedScopes, missingScopes) => {
    await using provider = await startProvider(answering(200, { ...tokens, scope }));
    expect(await connect(provider)).toMatchObject({ grantedScopes, missingScopes });
  });

  test("gets no proof key when the declaration turns it off", async () => {
    await using provider = await startProvider(answering(200, tokens));
    await connect(provider, {}, manifestWith({ pkce: false }));
    await connect(provider);
    expect(
      provider.received.map(({ body }) => new URLSearchParams(body).has("code_verifier")),
    ).toEqual([false, true]);
  });
});

describe("a callback that names the token host", () => {
  test.each([
    "https://api.example.com",
    "api.example.com",
  ])("as %s decides the region", async (named) => {
    await using provider = await startProvider(answering(200, tokens));
    expect(await connect(provider, { "accounts-server": named })).toMatchObject({
      config: { region: "api" },
    });
    expect(provider.received.map(({ host }) => host)).toEqual(["api.example.com"]);
  });

  test("not at all leaves the region as it was", async () => {
    await using provider = await startProvider(answering(200, tokens));
    expect((await connect(provider)).config).toEqual({});
    expect(provider.received.map(({ host }) => host)).toEqual([tokenServerName]);
  });

  test.each([
    "https://evil.example.net",
    "https://api.example.com.evil.net",
    "https://api.example.com@evil.net",
    "https://evil.example.com",
    "https://api.example.com:8443",
    "https://api.example.com/../evil",
    "http://api.example.com",
    "//api.example.com",
    "https://API.example.com",
    "https://127.0.0.1",
  ])("as %s, which is none of the connector's, gets nothing", async (named) => {
    await using provider = await startProvider(answering(200, tokens));
    let dialCount = 0;
    const dial = () => {
      dialCount++;
      return provider.seams.dial();
    };
    const seams = { ...provider.seams, dial };
    expect(await failureOf(connect({ ...provider, seams }, { "accounts-server": named }))).toBe(
      "other_region",
    );
    expect(dialCount).toBe(0);
    expect(provider.received).toEqual([]);
  });
});

describe("a revocation endpoint that answers", () => {
  const revoke = (provider: Provider, given: object) =>
    revokeTokens({
      manifest: manifestWith(),
      config: { ...config, region: "login" },
      tokens: given,
      ...networkOf(provider),
    });
  const both = { refreshToken: "refresh-canary", accessToken: "access-canary" };

  test("yes is asked for the refresh token first", async () => {
    await using provider = await startProvider(answering(200, ""));
    expect(await revoke(provider, both)).toEqual({ status: "revoked" });
    expect(provider.received.map(({ body }) => new URLSearchParams(body).get("token"))).toEqual([
      "refresh-canary",
      "access-canary",
    ]);
    expect(provider.received[0]).toMatchObject({
      method: "POST",
      url: "/revoke",
      host: tokenServerName,
    });
  });

  test.each([
    [503, "PROVIDER_UNAVAILABLE"],
    [401, "CREDENTIALS_REJECTED"],
    [400, "REQUEST_REJECTED"],
    [302, "REDIRECT_REFUSED"],
  ])("%i is a failure to record, not an exception", async (status, code) => {
    await using provider = await startProvider(answering(status, { error: "canary" }));
    expect(await revoke(provider, both)).toEqual({ status: "failed", code });
    expect(provider.received).toHaveLength(1);
  });

  test("no to access tokens only has still ended the grant", async () => {
    await using provider = await startProvider((_request, response, count) =>
      answerJson(
        response,
        count === 1 ? 200 : 400,
        count === 1 ? {} : { error: "unsupported_token_type" },
      ),
    );
    expect(await revoke(provider, both)).toEqual({ status: "revoked" });
    expect(await revoke(provider, { accessToken: "access-canary" })).toEqual({
      status: "failed",
      code: "REQUEST_REJECTED",
    });
  });

  test("with a setting missing is a failure too", async () => {
    await using provider = await startProvider(answering(200, ""));
    const network = networkOf(provider);
    const given = {
      manifest: manifestWith(),
      config: { client_id: "x", region: "login" },
      tokens: both,
      ...network,
    };
    expect(await revokeTokens(given)).toEqual({ status: "failed", code: "CONFIG_INVALID" });
  });
});
