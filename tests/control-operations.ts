/**
 * For each operation that can be proposed, a request that succeeds. A new operation is a new entry
 * here: tests name the ones that lack.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { examples } from "../control/contract/examples.ts";
import { createSession } from "../control/members/sessions.ts";
import { addMember, createUser } from "../control/members/workspaces.ts";
import { sharedAuthority } from "../simulators/certificates.ts";
import { startMailer } from "../simulators/mailer/mailer.ts";
import { startSocial } from "../simulators/social/social.ts";
import { startTaskapp } from "../simulators/taskapp/taskapp.ts";
import { taskappClient } from "../simulators/taskapp/tokens.ts";
import { startTestControl } from "./control.ts";
import { addJob } from "./control-jobs.ts";
import {
  addCatalog,
  addCredential,
  addDestination,
  addSource,
  tableStream,
} from "./control-rows.ts";

/** A control layer with the providers that the requests need. */
export async function startTestWorld() {
  const authority = await sharedAuthority();
  const mailer = await startMailer({
    seed: 5,
    campaigns: 3,
    lists: 1,
    subscribersPerList: 3,
    authority,
  });
  const social = await startSocial({ seed: 5, authority });
  const taskapp = await startTaskapp({ seed: 5, authority });
  const warehouses = await mkdtemp(join(tmpdir(), "svc-test-"));
  const providerOf = (host: string) =>
    host === mailer.hostname ? mailer : host.endsWith("clickup.com") ? taskapp : social;
  const oauthApp = ({ clientId, clientSecret, redirectUri }: typeof taskappClient) => ({
    clientId,
    clientSecret,
    redirectUris: [redirectUri],
  });
  const api = await startTestControl({
    seams: {
      resolve: (host) => providerOf(host).seams.resolve(host),
      dial: (target) => providerOf(target.host).seams.dial(target),
      ca: authority.caPem,
    },
    sandbox: "inline",
    settings: {
      warehouses,
      network: { approvedHosts: [mailer.hostname], allowNetworks: [] },
      oauthApps: { conn_social: oauthApp(social), conn_taskapp: oauthApp(taskappClient) },
    },
  });
  return {
    api,
    mailer,
    social,
    taskapp,
    async [Symbol.asyncDispose]() {
      await api[Symbol.asyncDispose]();
      await Promise.all([mailer.close(), social.close(), taskapp.close()]);
      await rm(warehouses, { recursive: true, force: true });
    },
  };
}

export type TestWorld = Awaited<ReturnType<typeof startTestWorld>>;

export interface ValidRequest {
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** Default: the first workspace's administrator. */
  readonly token?: string;
  readonly headers?: Record<string, string>;
}

/**
 * The documents' example of a request, with what this world has in the place of its ids and
 * addresses.
 */
export function exampleOf(id: string, own: object = {}): object {
  const example = structuredClone(examples[id]) as object | undefined;
  const more = Object.keys(own).filter((name) => !example || !(name in example));
  if (!example || more.length > 0) throw new Error(`the example of ${id} lacks ${more}`);
  return { ...example, ...own };
}

/** Makes what the request acts on. */
type Arrange = (world: TestWorld) => Promise<ValidRequest>;

const mailerSource = async ({ api, mailer }: TestWorld) => {
  const credential = await addCredential(api, { api_token: mailer.token });
  return { credential, source_id: await addSource(api, credential, { base_url: mailer.baseUrl }) };
};

const mailerAccount = async ({ api, mailer }: TestWorld) => {
  const { handle } = await addCredential(api, { api_token: mailer.token });
  const own = { credential_handle: handle, base_url: mailer.baseUrl };
  return { body: { ...exampleOf("mailer.check"), ...own } };
};

const renameProposal = async (world: TestWorld): Promise<string> => {
  const { source_id } = await mailerSource(world);
  const { body } = await world.api.call("PATCH", `/sources/${source_id}`, {
    body: { name: "Proposed" },
    headers: { "x-svc-execution-mode": "proposal" },
  });
  return body.data.approval_id;
};

/** A pipeline of a mailer whose streams are known; gives its ids. */
const pipeline = async (world: TestWorld) => {
  const { api } = world;
  const body = exampleOf("pipeline.create", await pipelineBody(world));
  const { pipeline_id, connection_id } = (await api.call("POST", "/pipelines", { body })).body.data;
  return { pipeline_id, connection_id };
};

const pipelineBody = async (world: TestWorld) => {
  const { source_id } = await mailerSource(world);
  const { json_schema, ...campaigns } = tableStream("campaigns");
  const properties = { ...(json_schema.properties as object), from_email: { type: "string" } };
  const schema = { ...json_schema, properties };
  await addCatalog(world.api, source_id, [{ ...campaigns, json_schema: schema }]);
  return { source_id, destination_id: await addDestination(world.api) };
};

const pipelineOnly = async (world: TestWorld): Promise<ValidRequest> => {
  const { pipeline_id } = await pipeline(world);
  return { params: { pipeline_id } };
};

const duckdb = () => exampleOf("destination.create", { configuration: { file: "proposed" } });

/** A model of a warehouse of its own, and a destination. */
const reverseEtl = async ({ api, mailer }: TestWorld) => {
  const made = async (path: string, body: object) =>
    (await api.call("POST", path, { body })).body.data;
  const { destination_id } = await made("/destinations", duckdb());
  const { handle: credentialHandle } = await addCredential(api, { api_token: mailer.token });
  const model = exampleOf("reverse_etl_model.create", { warehouseId: destination_id });
  const destination = exampleOf("reverse_etl_destination.create", {
    credentialHandle,
    configuration: { base_url: mailer.baseUrl },
  });
  const { modelId } = await made("/reverse-etl/models", model);
  const { destinationId } = await made("/reverse-etl/destinations", destination);
  const [list] = mailer.truth.email_lists();
  const ids = { modelId, destinationId, object: list?.uuid };
  const activation = exampleOf("reverse_etl_activation.create", ids);
  return { modelId, destinationId, model, destination, activation };
};

const reverseActivation = async (world: TestWorld): Promise<Readonly<Record<string, string>>> => {
  const { activation } = await reverseEtl(world);
  const { body } = await world.api.call("POST", "/reverse-etl/activations", {
    body: activation,
  });
  return { activationId: body.data.activationId };
};

const reverseRun = async (world: TestWorld): Promise<Readonly<Record<string, string>>> => {
  const { activationId } = await reverseActivation(world);
  const { body } = await world.api.call("POST", `/reverse-etl/activations/${activationId}/run`, {
    body: {},
  });
  return { runId: body.data.runId };
};

const invite = async ({ api }: TestWorld): Promise<Readonly<Record<string, string>>> => {
  const email = `${Math.random().toString(36).slice(2)}@example.com`;
  const path = `/workspaces/${api.first.id}/members/invitations`;
  const { body } = await api.call("POST", path, { body: { email, role: "viewer" } });
  return { workspace_id: api.first.id, invitation_id: body.data.invitation_id };
};

/** Of a name that no other has. */
const namedManifest = () =>
  exampleOf("connector.create", { name: `orders-${Math.random().toString(36).slice(2)}` });

const manifestConnector = async ({ api }: TestWorld): Promise<Readonly<Record<string, string>>> => {
  const { body } = await api.call("POST", "/connectors", { body: namedManifest() });
  return { connector_id: body.data.connector_id };
};

const member = async ({ api }: TestWorld, role: "viewer" | "runner") => {
  const row = await api.db
    .selectFrom("memberships")
    .select("id")
    .where("workspace_id", "=", api.first.id)
    .where("user_id", "=", api.first.users[role])
    .executeTakeFirstOrThrow();
  return { workspace_id: api.first.id, member_id: row.id };
};

/** Another administrator of the first workspace, who may belong to several. */
const administrator = async ({ api: { db, control, first } }: TestWorld) => {
  const now = new Date(control.services.clock.now());
  const email = `${Math.random().toString(36).slice(2)}@example.com`;
  const userId = await createUser(db, { email, name: "Another administrator" }, now);
  await addMember(db, { workspaceId: first.id, userId, role: "admin" }, now);
  const { token } = await createSession(db, { userId, client: "api" }, now);
  return { token, headers: { "x-svc-workspace-id": first.id } };
};

const socialStart = ({ social }: TestWorld) =>
  exampleOf("oauth.start_source", { redirect_uri: social.redirectUri });
const taskappStart = () =>
  exampleOf("oauth.start_taskapp", { redirect_uri: taskappClient.redirectUri });

/** The parameters that the browser brings back after the user has agreed. */
const callback = async (
  { api }: TestWorld,
  path: string,
  body: object,
  consent: (authorizationUrl: string) => string,
): Promise<ValidRequest> => {
  const started = await api.call("POST", `${path}/start`, { body });
  const { searchParams } = new URL(consent(started.body.data.authorization_url));
  const own = { query_params: Object.fromEntries(searchParams) };
  return { body: exampleOf("oauth.finish_source", own) };
};

const endpoint = async ({ api }: TestWorld) => {
  // A workspace can have twenty.
  await api.db.deleteFrom("webhook_endpoints").execute();
  const body = { name: "Ours", url: "https://hooks.example.com/svc/events" };
  const { data } = (await api.call("POST", "/webhook-endpoints", { body })).body;
  return { webhook_endpoint_id: data.webhook_endpoint_id as string };
};

export const operationCases: Readonly<Record<string, Arrange>> = {
  "source.create": async (world) => {
    const { credential_handle, base_url } = (await mailerAccount(world)).body;
    const own = { credential_handle, configuration: { base_url } };
    return { body: exampleOf("source.create", own) };
  },
  "source.update": async (world) => {
    const { source_id } = await mailerSource(world);
    return { params: { source_id }, body: exampleOf("source.update") };
  },
  "source.delete": async (world) => {
    const { source_id } = await mailerSource(world);
    return { params: { source_id } };
  },
  "source.check": async (world) => {
    const { source_id } = await mailerSource(world);
    return { params: { source_id } };
  },
  "destination.check": async ({ api }) => ({
    params: { destination_id: await addDestination(api) },
  }),
  "source.entities": async ({ api, social }) => {
    const { handle } = await addCredential(
      api,
      { client_secret: social.clientSecret, refresh_token: social.refreshToken },
      { connectorId: "conn_social", metadata: { client_id: social.clientId } },
    );
    return { body: exampleOf("source.entities", { credential_handle: handle }) };
  },
  "destination.create": async () => ({ body: duckdb() }),
  "destination.update": async ({ api }) => ({
    params: { destination_id: await addDestination(api) },
    body: exampleOf("destination.update"),
  }),
  "destination.delete": async ({ api }) => ({
    params: { destination_id: await addDestination(api) },
  }),
  "pipeline.prepare": async (world) => ({
    body: exampleOf("pipeline.prepare", await pipelineBody(world)),
  }),
  "pipeline.create": async (world) => ({
    body: exampleOf("pipeline.create", await pipelineBody(world)),
  }),
  "pipeline.update": async (world) => ({
    ...(await pipelineOnly(world)),
    body: exampleOf("pipeline.update"),
  }),
  "pipeline.update_streams": async (world) => ({
    ...(await pipelineOnly(world)),
    body: exampleOf("pipeline.update_streams"),
  }),
  "pipeline.pause": async (world) => ({
    ...(await pipelineOnly(world)),
    body: exampleOf("pipeline.pause"),
  }),
  "pipeline.resume": pipelineOnly,
  "pipeline.sync": async (world) => ({
    ...(await pipelineOnly(world)),
    body: exampleOf("pipeline.sync"),
  }),
  "pipeline.clear": pipelineOnly,
  "pipeline.reset": pipelineOnly,
  "schedule.preview": async () => ({ body: exampleOf("schedule.preview") }),
  "connection.delete": async (world) => {
    const { connection_id } = await pipeline(world);
    return { params: { connection_id } };
  },
  "reverse_etl.prepare": async (world) => {
    const { modelId, destinationId } = await reverseEtl(world);
    return { body: exampleOf("reverse_etl.prepare", { modelId, destinationId }) };
  },
  "reverse_etl_model.preview": async (world) => {
    const { warehouseId } = (await reverseEtl(world)).model as { readonly warehouseId: string };
    return { body: exampleOf("reverse_etl_model.preview", { warehouseId }) };
  },
  "reverse_etl_model.create": async (world) => ({
    body: (await reverseEtl(world)).model,
  }),
  "reverse_etl_model.update": async (world) => {
    const { modelId } = await reverseEtl(world);
    return { params: { modelId }, body: exampleOf("reverse_etl_model.update") };
  },
  "reverse_etl_model.delete": async (world) => {
    const { modelId } = await reverseEtl(world);
    return { params: { modelId } };
  },
  "reverse_etl_destination.create": async (world) => ({
    body: (await reverseEtl(world)).destination,
  }),
  "reverse_etl_destination.update": async (world) => {
    const { destinationId } = await reverseEtl(world);
    return { params: { destinationId }, body: exampleOf("reverse_etl_destination.update") };
  },
  "reverse_etl_destination.delete": async (world) => {
    const { destinationId } = await reverseEtl(world);
    return { params: { destinationId } };
  },
  "reverse_etl_activation.create": async (world) => ({
    body: (await reverseEtl(world)).activation,
  }),
  "reverse_etl_activation.update": async (world) => ({
    params: await reverseActivation(world),
    body: exampleOf("reverse_etl_activation.update"),
  }),
  "reverse_etl_activation.delete": async (world) => ({
    params: await reverseActivation(world),
  }),
  "reverse_etl_activation.run": async (world) => ({
    params: await reverseActivation(world),
    body: exampleOf("reverse_etl_activation.run"),
  }),
  "reverse_etl_run.cancel": async (world) => ({
    params: await reverseRun(world),
    body: {},
  }),
  "oauth.start_source": async (world) => ({ body: socialStart(world) }),
  "oauth.finish_source": (world) =>
    callback(world, "/credentials/source/oauth", socialStart(world), world.social.consent),
  "oauth.start_taskapp": async () => ({ body: taskappStart() }),
  "oauth.finish_taskapp": (world) =>
    callback(world, "/credentials/taskapp/oauth", taskappStart(), world.taskapp.consent),
  "mailer.check": mailerAccount,
  "mailer.preview": mailerAccount,
  "credential.create_mailer_token": async ({ mailer }) => ({
    body: exampleOf("credential.create_mailer_token", {
      api_token: "Qm4kT8vZ1xR6wL3n",
      base_url: mailer.baseUrl,
    }),
  }),
  "credential.create": async () => ({
    body: exampleOf("credential.create", { secrets: { password: "Hn7pD2sJ9cV5bG8y" } }),
  }),
  "credential.update": async ({ api }) => {
    const { id } = await addCredential(api, { password: "x" }, { connectorId: "conn_postgres" });
    return {
      params: { credential_id: id },
      body: exampleOf("credential.update", { secrets: { password: "Wt3rY6uK0oP4aS1d" } }),
    };
  },
  "credential.delete": async ({ api }) => {
    const { id } = await addCredential(api);
    return { params: { credential_id: id } };
  },
  "invitation.create": async ({ api }) => ({
    params: { workspace_id: api.first.id },
    body: exampleOf("invitation.create", {
      email: `${Math.random().toString(36).slice(2)}@example.com`,
    }),
  }),
  "invitation.resend": async (world) => ({ params: await invite(world) }),
  "invitation.revoke": async (world) => ({ params: await invite(world) }),
  "connector.create": async () => ({ body: namedManifest() }),
  "connector.update": async (world) => ({
    params: await manifestConnector(world),
    // Another text than that of the example, which is there already.
    body: {
      manifest: `${(exampleOf("connector.update") as { manifest: string }).manifest}# newer\n`,
    },
  }),
  "connector.delete": async (world) => ({ params: await manifestConnector(world) }),
  "connector_report.create": async (world) => {
    const params = await manifestConnector(world);
    const { report } = exampleOf("connector_report.create") as { report: object };
    const connector = { name: "orders", id: params.connector_id };
    return { params, body: { report: { ...report, connector } } };
  },
  "workspace.create": async (world) => ({
    ...(await administrator(world)),
    body: exampleOf("workspace.create"),
  }),
  "workspace.update": async ({ api }) => ({
    params: { workspace_id: api.first.id },
    body: exampleOf("workspace.update"),
  }),
  "workspace.delete": async (world) => {
    const own = await administrator(world);
    const options = { ...own, body: { name: "For a moment" } };
    const { body } = await world.api.call("POST", "/workspaces", options);
    return { ...own, params: { workspace_id: body.data.workspace_id } };
  },
  "member.update": async (world) => ({
    params: await member(world, "runner"),
    body: exampleOf("member.update"),
  }),
  "member.remove": async ({ api }) => {
    const { viewer } = (await api.addWorkspace("third")).users;
    const id = `mem_${viewer.slice(4)}`;
    const { id: _, ...row } = await api.db
      .selectFrom("memberships")
      .selectAll()
      .where("user_id", "=", viewer)
      .executeTakeFirstOrThrow();
    await api.db
      .insertInto("memberships")
      .values({ ...row, id, workspace_id: api.first.id })
      .execute();
    return { params: { workspace_id: api.first.id, member_id: id } };
  },
  "session.create": async () => ({ body: exampleOf("session.create") }),
  "session.revoke": async ({ api }) => {
    const { tokens, users } = await api.addWorkspace("fourth");
    const { body } = await api.call("GET", "/sessions", { token: tokens.editor });
    const mine = body.data.items.find((one: { user_id: string }) => one.user_id === users.editor);
    return { params: { session_id: mine.session_id }, token: tokens.admin };
  },
  "job.cancel": async ({ api }) => ({ params: { job_id: await addJob(api) } }),
  "approval.approve": async (world) => ({
    params: { approval_id: await renameProposal(world) },
    body: exampleOf("approval.approve"),
  }),
  "approval.reject": async (world) => ({
    params: { approval_id: await renameProposal(world) },
    body: exampleOf("approval.reject"),
  }),
  "approval.cancel": async (world) => ({
    params: { approval_id: await renameProposal(world) },
    body: exampleOf("approval.cancel"),
  }),
  "approval_policy.update": async () => ({
    params: { category: "sync_run" },
    body: exampleOf("approval_policy.update"),
  }),
  "webhook_endpoint.create": async () => ({
    body: exampleOf("webhook_endpoint.create"),
  }),
  "webhook_endpoint.update": async (world) => ({
    params: await endpoint(world),
    body: exampleOf("webhook_endpoint.update"),
  }),
  "webhook_endpoint.rotate_secret": async (world) => ({
    params: await endpoint(world),
    body: exampleOf("webhook_endpoint.rotate_secret"),
  }),
  "webhook_endpoint.test": async (world) => ({ params: await endpoint(world), body: {} }),
  "webhook_endpoint.delete": async (world) => ({ params: await endpoint(world) }),
  "webhook_delivery.redeliver": async (world) => {
    const params = await endpoint(world);
    const path = `/webhook-endpoints/${params.webhook_endpoint_id}/test`;
    const { delivery_id } = (await world.api.call("POST", path, { body: {} })).body.data;
    return { params: { ...params, delivery_id }, body: {} };
  },
  "notification_settings.update": async () => ({ body: { event_types: ["pipeline.failed"] } }),
};
