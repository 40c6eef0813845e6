/** Refresh tokens of a manifest that change with each use, at a real authorization server. */

import { http, oauth2 } from "svc-connectors";
import {
  createMemoryPendingStore,
  finishAuthorization,
  startAuthorization,
} from "svc-connectors/host";
import { afterAll, beforeAll, expect, test } from "vitest";
import { secretOwner } from "../control/credentials/stored-secret.ts";
import { createSecretRegistry } from "../runtime/filter/secrets.ts";
import { authorizeInBrowser } from "../simulators/authorization/browser.ts";
import {
  type AuthorizationServer,
  client,
  authorizationServerName as login,
  resourceServerName,
  startAuthorizationServer,
} from "../simulators/authorization/server.ts";
import { createInstantClock } from "../simulators/loopback.ts";
import { startTestControl, type TestControl } from "./control.ts";
import { nestedRotatingManifest, rotatingManifest } from "./rotating-manifest.ts";

const redirectUri = "https://svc.example.net/connected";
const provider = { login: `https://${login}/token`, api: `https://${resourceServerName}` };

let server: AuthorizationServer;
let api: TestControl;
beforeAll(async () => {
  server = await startAuthorizationServer({ redirectUris: [redirectUri] });
  api = await startTestControl({ seams: server.seams, sandbox: "inline" });
});
afterAll(async () => {
  await api?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

/** A refresh token that a person has got, to type it in. */
async function consent(): Promise<string> {
  const clock = createInstantClock(Date.now());
  const pendings = createMemoryPendingStore(clock.now);
  const auth = oauth2({
    ...{ clientId: "client_id", clientSecret: "client_secret", refreshToken: "refresh_token" },
    tokenUrl: `https://${login}/token`,
    authorization: {
      authorizeUrl: `https://${login}/auth`,
      scopes: ["items:read", "offline_access"],
      issuer: `https://${login}`,
      extra: { prompt: "consent" },
    },
  });
  const text = { type: "string" };
  const secret = { ...text, "x-svc-secret": true };
  const declared = {
    ...{ id: "conn_x", version: "1.0.0", title: "X" },
    spec: {
      type: "object",
      properties: { client_id: text, client_secret: secret, refresh_token: secret },
    },
    egress: http({ baseUrl: `https://${resourceServerName}`, auth }),
  };
  const config = { client_id: client.id, client_secret: client.secret };
  const context = { workspace: "w", connector: "conn_x", user: "u", session: "s" };
  const of = { manifest: declared, context, clock };
  const started = await startAuthorization({ ...of, config, redirectUri });
  await pendings.put(started.pending);
  const { tokens } = await finishAuthorization({
    ...of,
    ...{ pendings, seams: server.seams, secrets: createSecretRegistry() },
    callbackUrl: await authorizeInBrowser(server, started.url),
    settings: { approvedHosts: [], allowNetworks: [] },
  });
  return tokens.refreshToken ?? "";
}

async function made(path: string, body: object) {
  const answer = await api.call("POST", path, { body });
  if (answer.status >= 300) throw new Error(answer.text);
  return answer.body.data;
}

const forms = [
  { name: "items", manifest: rotatingManifest(provider), around: "", of: (open: object) => open },
  {
    ...{ name: "nested", manifest: nestedRotatingManifest(provider), around: "credentials." },
    of: (open: object) => ({ credentials: { auth_type: "oauth2.0", ...open } }),
  },
];

test.each(
  forms,
)("the service keeps each new refresh token with the credential of $name: one refresh for all who ask", async ({
  name,
  manifest,
  around,
  of,
}) => {
  const entered = await consent();
  await made("/connectors", { name, manifest });
  const { credential_handle, credential_id } = await made("/credentials", {
    ...{ connector_id: `conn_${name}`, name: "Account" },
    secrets: {
      [`${around}client_secret`]: client.secret,
      [`${around}refresh_token`]: entered,
    },
  });
  const tokens = async () => {
    const owner = secretOwner({ id: credential_id, workspace_id: api.first.id });
    const opened = await api.control.services.vault.open(api.db, owner);
    return opened?.value.tokens as { readonly accessToken: string; readonly refreshToken: string };
  };
  const begun = server.mintedCount;
  const mintedCount = () => server.mintedCount - begun;
  const { source_id } = await made("/sources", {
    ...{ name, connector_id: `conn_${name}`, credential_handle },
    configuration: of({ client_id: client.id }),
  });
  const first = await tokens();
  expect([mintedCount(), first.refreshToken === entered]).toEqual([1, false]);

  const check = () => made(`/sources/${source_id}/check`, {});
  expect(await Promise.all([check(), check(), check()])).toMatchObject(
    Array(3).fill({ status: "succeeded" }),
  );
  expect(mintedCount()).toBe(1);

  // Its end comes before its time: the next run finds out, and has another one.
  server.refuse(first.accessToken);
  expect(await Promise.all([check(), check(), check()])).toMatchObject(
    Array(3).fill({ status: "succeeded" }),
  );
  const second = await tokens();
  expect([mintedCount(), server.revokedGrantCount]).toEqual([2, 0]);
  expect(second.refreshToken).not.toBe(first.refreshToken);

  const { body } = await api.call("GET", `/credentials/${credential_id}`);
  for (const token of [entered, ...Object.values(first), ...Object.values(second)])
    expect(JSON.stringify(body)).not.toContain(token);
});

test("secrets within an object go by their paths, and each mistake says where it is", async () => {
  const name = "told";
  await made("/connectors", { name, manifest: nestedRotatingManifest(provider) });
  const connector_id = `conn_${name}`;
  const spec = (await api.call("GET", `/connectors/${connector_id}/spec`)).body.data;
  expect(spec.secret_fields).toEqual([
    "credentials.client_secret",
    "credentials.refresh_token",
    "credentials.access_token",
  ]);
  const [oauth, token] = spec.connection_specification.properties.credentials.oneOf;
  expect(oauth.properties.client_secret["x-svc-secret"]).toBe(true);
  expect(token.properties.access_token["x-svc-secret"]).toBe(true);

  const refused = async (path: string, body: object) =>
    (await api.call("POST", path, { body: { connector_id, name: "Account", ...body } })).body
      .details.errors;
  expect(await refused("/credentials", { secrets: { refresh_token: "a-token" } })).toMatchObject([
    {
      path: "secrets.refresh_token",
      message: expect.stringContaining("by its path, credentials.client_secret"),
    },
  ]);
  const { credential_handle } = await made("/credentials", {
    ...{ connector_id, name: "Account" },
    secrets: { "credentials.client_secret": "a-secret-of-a-client" },
  });
  const source = (credentials: object) =>
    refused("/sources", { credential_handle, configuration: { credentials } });
  const open = { auth_type: "oauth2.0", client_id: "an-app" };
  expect(await source({ ...open, client_secret: "a-secret" })).toMatchObject([
    { path: "configuration.credentials.client_secret", reason: "secret_not_allowed" },
  ]);
  expect((await source({ auth_type: "oauth2.0" }))[0]).toMatchObject({
    path: "configuration.credentials.client_id",
    message: "is missing",
  });
  expect(
    await source({ auth_type: "oauth2.0", client_id: "a", list: [{ token: "t" }] }),
  ).toMatchObject([{ reason: "secret_not_allowed" }]);
  const whole = { name: "Account", connector_id, credential_handle };
  const { body } = await api.call("POST", "/sources", {
    body: { ...whole, configuration: { credentials: open } },
  });
  expect(JSON.stringify(body.details)).toContain("credentials.refresh_token");
});
