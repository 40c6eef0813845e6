/** Accounts of a connector of one's own, connected at a real authorization server. */
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { secretOwner } from "../control/credentials/stored-secret.ts";
import { askInstance } from "../control/operator/ask.ts";
import { createOperator } from "../control/operator/operator.ts";
import { authorizeInBrowser } from "../simulators/authorization/browser.ts";
import {
  type AuthorizationServer,
  client,
  startAuthorizationServer,
} from "../simulators/authorization/server.ts";
import { startTestControl, type TestControl } from "./control.ts";
import { queryDestination } from "./control-pipelines.ts";
import { databaseRows } from "./database-text.ts";
import { skipUnlessWhole } from "./effort.ts";
import { makeOwnConnector, writeAccountsModule } from "./own-connector.ts";
import { parsePrometheus } from "./prometheus-text.ts";
import { soon } from "./soon.ts";

const redirectUri = "https://svc.example.net/oauth/callback/conn_helpdesk";
const ways = "/credentials/source/oauth";

let folder: string;
let accounts: AuthorizationServer;
let api: TestControl;
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "svc-own-")));
  await writeAccountsModule(await makeOwnConnector(folder));
  accounts = await startAuthorizationServer({ redirectUris: [redirectUri] });
  const app = { clientId: client.id, clientSecret: client.secret, redirectUris: [redirectUri] };
  api = await startTestControl({
    seams: accounts.seams,
    connectorsFolder: folder,
    jobs: "run",
    settings: { oauthApps: { conn_helpdesk: app } },
  });
});
beforeEach(() => operator("connector.add", { path: join(folder, "helpdesk") }));
afterAll(async () => {
  await api?.[Symbol.asyncDispose]();
  await accounts?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const operator = (name: "connector.add" | "connector.remove", body: object) =>
  createOperator(askInstance(api.control.services)).run(name, { body } as never);

async function must(path: string, body: object) {
  const answer = await api.call("POST", path, { body });
  if (answer.status >= 300) throw new Error(answer.text);
  return answer.body.data;
}
/** A person consents. Gives what the browser brings back. */
async function consent(body: object = {}) {
  const start = { connector_id: "conn_helpdesk", redirect_uri: redirectUri, ...body };
  const { authorization_url } = await must(`${ways}/start`, start);
  const back = await authorizeInBrowser(accounts, authorization_url);
  return Object.fromEntries(new URL(back).searchParams);
}
const tokensOf = async (id: string) => {
  const owner = secretOwner({ id, workspace_id: api.first.id });
  const opened = await api.control.services.vault.open(api.db, owner);
  return opened?.value.tokens as { readonly accessToken: string; readonly refreshToken: string };
};
const sourceOf = (credential_handle: string) =>
  must("/sources", {
    name: "Helpdesk",
    connector_id: "conn_helpdesk",
    credential_handle,
    configuration: {},
  });

test("an account is connected, read, and read on with new tokens, none of which anybody sees", async (context) => {
  skipUnlessWhole(context);
  const { data: spec } = (await api.call("GET", "/connectors/conn_helpdesk/spec")).body;
  expect(spec.auth).toMatchObject({ type: "oauth2", start_path: `${ways}/start` });
  const { credential_handle, credential_id } = await must(`${ways}/callback`, await consent());
  const { source_id } = await sourceOf(credential_handle);
  const { destination_id } = await must("/destinations", {
    name: "Warehouse",
    connector_id: "conn_duckdb",
    configuration: { file: "warehouse" },
  });
  const { pipeline_id } = await must("/pipelines", {
    name: "Helpdesk",
    source_id,
    destination_id,
    streams: [{ name: "items" }],
  });
  const sync = async () => {
    const { job } = await must(`/pipelines/${pipeline_id}/sync`, {});
    return await vi.waitFor(async () => {
      const { data } = (await api.call("GET", `/jobs/${job.job_id}`)).body;
      expect(data.ended_at).not.toBeNull();
      return data;
    }, soon);
  };
  expect(await sync()).toMatchObject({ status: "succeeded", failure: null });
  expect(await queryDestination(api, destination_id, "SELECT id FROM _svc_items")).toEqual([[1]]);

  const first = await tokensOf(credential_id);
  accounts.refuse(first.accessToken);
  expect(await sync()).toMatchObject({ status: "succeeded", failure: null });
  const second = await tokensOf(credential_id);
  expect(second.refreshToken).not.toBe(first.refreshToken);
  expect(accounts.revokedGrantCount).toBe(0);

  const scrape = await api.control.services.telemetry.scrape();
  const requests = { connector: "conn_helpdesk", method: "GET", status: "200" };
  expect(
    parsePrometheus(scrape).value("svc_provider_request_duration_seconds_count", requests),
  ).toBeGreaterThan(0);
  const seen = [
    JSON.stringify(await databaseRows(api.db)),
    (await api.call("GET", `/credentials/${credential_id}`)).text,
    scrape,
  ].join("\n");
  for (const secret of [...Object.values(first), ...Object.values(second), client.secret])
    if (secret.length > 10) expect(seen).not.toContain(secret);
});

test("an account that is given back is revoked at its provider, and connected again under its id", async () => {
  const connected = await must(`${ways}/callback`, await consent());
  const { credential_id, credential_handle } = connected;
  const again = await must(`${ways}/callback`, await consent({ credential_id }));
  expect(again).toMatchObject({ credential_id, credential_handle, status: "active" });
  await sourceOf(credential_handle);
  const revoked = accounts.revokedGrantCount;
  const other = await must(`${ways}/callback`, await consent());
  const gone = await api.call("DELETE", `/credentials/${other.credential_id}`);
  expect([gone.status, accounts.revokedGrantCount]).toEqual([200, revoked + 1]);
});

test("a connector that is removed while a person consents gets no code, and no account is begun", async () => {
  const back = await consent();
  const { mintedCount } = accounts;
  await operator("connector.remove", { connector: "conn_helpdesk" });
  const refused = { status: 409, body: { details: { reason: "connector_disabled" } } };
  const start = { connector_id: "conn_helpdesk", redirect_uri: redirectUri };
  expect(await api.call("POST", `${ways}/callback`, { body: back })).toMatchObject(refused);
  expect(await api.call("POST", `${ways}/start`, { body: start })).toMatchObject(refused);
  expect(accounts.mintedCount).toBe(mintedCount);
});
