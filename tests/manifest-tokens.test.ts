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
import { rotatingManifest } from "./rotating-manifest.ts";

const redirectUri = "https://svc.example.net/connected";
const manifest = rotatingManifest({
  login: `https://${login}/token`,
  api: `https://${resourceServerName}`,
});

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

test("the service keeps each new refresh token with the credential: one refresh for all who ask", async () => {
  const entered = await consent();
  await made("/connectors", { name: "items", manifest });
  const { credential_handle, credential_id } = await made("/credentials", {
    ...{ connector_id: "conn_items", name: "Account" },
    secrets: { client_secret: client.secret, refresh_token: entered },
  });
  const tokens = async () => {
    const owner = secretOwner({ id: credential_id, workspace_id: api.first.id });
    const opened = await api.control.services.vault.open(api.db, owner);
    return opened?.value.tokens as { readonly accessToken: string; readonly refreshToken: string };
  };
  const begun = server.mintedCount;
  const mintedCount = () => server.mintedCount - begun;
  const { source_id } = await made("/sources", {
    ...{ name: "Items", connector_id: "conn_items", credential_handle },
    configuration: { client_id: client.id },
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
