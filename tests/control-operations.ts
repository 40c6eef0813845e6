/** For each operation that can be proposed, a request that succeeds. A new operation is a new entry here: tests name the ones that lack. */

import { createCertificateAuthority } from "../fixtures/providers/certificates.ts";
import { startMailer } from "../fixtures/providers/mailer/mailer.ts";
import { startSocial } from "../fixtures/providers/social/social.ts";
import { startTaskapp } from "../fixtures/providers/taskapp/taskapp.ts";
import { taskappClient } from "../fixtures/providers/taskapp/tokens.ts";
import { startTestControl } from "./control.ts";
import { addJob } from "./control-jobs.ts";
import { addCredential, addSource } from "./control-rows.ts";

/** A control layer with the providers that the requests need. */
export async function startSurroundings() {
  const authority = await createCertificateAuthority();
  const mailer = await startMailer({ seed: 5, campaigns: 3, lists: 1, subscribersPerList: 3, authority });
  const social = await startSocial({ seed: 5, authority });
  const taskapp = await startTaskapp({ seed: 5, authority });
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
    },
  };
}

export type Surroundings = Awaited<ReturnType<typeof startSurroundings>>;

export interface ValidRequest {
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** Default: the first workspace's administrator. */
  readonly token?: string;
}

/** Makes what the request acts on. */
type Arrange = (surroundings: Surroundings) => Promise<ValidRequest>;

const mailerSource = async ({ api, mailer }: Surroundings) => {
  const credential = await addCredential(api, { api_token: mailer.token });
  return { credential, source_id: await addSource(api, credential, { base_url: mailer.baseUrl }) };
};

const mailerAccount = async ({ api, mailer }: Surroundings) => {
  const { handle } = await addCredential(api, { api_token: mailer.token });
  return { body: { credential_handle: handle, base_url: mailer.baseUrl } };
};

const renameProposal = async (surroundings: Surroundings): Promise<string> => {
  const { source_id } = await mailerSource(surroundings);
  const { body } = await surroundings.api.call("PATCH", `/sources/${source_id}`, {
    body: { name: "Proposed" },
    headers: { "x-svc-execution-mode": "proposal" },
  });
  return body.data.approval_id;
};

const invite = async ({ api }: Surroundings): Promise<Readonly<Record<string, string>>> => {
  const email = `${Math.random().toString(36).slice(2)}@example.com`;
  const path = `/workspaces/${api.first.id}/members/invitations`;
  const { body } = await api.call("POST", path, { body: { email, role: "viewer" } });
  return { workspace_id: api.first.id, invitation_id: body.data.invitation_id };
};

const member = async ({ api }: Surroundings, role: "viewer" | "runner") => {
  const row = await api.db
    .selectFrom("memberships")
    .select("id")
    .where("workspace_id", "=", api.first.id)
    .where("user_id", "=", api.first.users[role])
    .executeTakeFirstOrThrow();
  return { workspace_id: api.first.id, member_id: row.id };
};

const socialStart = ({ social }: Surroundings) => ({
  connector_id: "conn_social",
  redirect_uri: social.redirectUri,
});
const taskappStart = () => ({ redirect_uri: taskappClient.redirectUri });

/** What the browser brings back after the user has agreed. */
const callback = async (
  { api }: Surroundings,
  path: string,
  body: object,
  consent: (authorizationUrl: string) => string,
): Promise<ValidRequest> => {
  const started = await api.call("POST", `${path}/start`, { body });
  const { searchParams } = new URL(consent(started.body.data.authorization_url));
  return { body: { query_params: Object.fromEntries(searchParams) } };
};

export const operationCases: Readonly<Record<string, Arrange>> = {
  "source.create": async (surroundings) => {
    const { credential_handle, base_url } = (await mailerAccount(surroundings)).body;
    const connector_id = "conn_mailer_product_edm";
    return { body: { name: "Another mailer", connector_id, credential_handle, configuration: { base_url } } };
  },
  "source.update": async (surroundings) => {
    const { source_id } = await mailerSource(surroundings);
    return { params: { source_id }, body: { name: "Another name" } };
  },
  "source.delete": async (surroundings) => {
    const { source_id } = await mailerSource(surroundings);
    return { params: { source_id } };
  },
  "source.check": async (surroundings) => {
    const { source_id } = await mailerSource(surroundings);
    return { params: { source_id } };
  },
  "source.entities": async ({ api, social }) => {
    const { handle } = await addCredential(
      api,
      { client_secret: social.clientSecret, refresh_token: social.refreshToken },
      { connectorId: "conn_social", metadata: { client_id: social.clientId } },
    );
    return { body: { credential_handle: handle } };
  },
  "oauth.start_source": async (surroundings) => ({ body: socialStart(surroundings) }),
  "oauth.finish_source": (surroundings) =>
    callback(surroundings, "/credentials/source/oauth", socialStart(surroundings), surroundings.social.consent),
  "oauth.start_taskapp": async () => ({ body: taskappStart() }),
  "oauth.finish_taskapp": (surroundings) =>
    callback(surroundings, "/credentials/taskapp/oauth", taskappStart(), surroundings.taskapp.consent),
  "mailer.check": mailerAccount,
  "mailer.preview": mailerAccount,
  "credential.create_mailer_token": async ({ mailer }) => ({
    body: { api_token: "Qm4kT8vZ1xR6wL3n", base_url: mailer.baseUrl },
  }),
  "credential.create": async () => ({
    body: {
      connector_id: "conn_mailer_product_edm",
      name: "A token",
      secrets: { api_token: "Hn7pD2sJ9cV5bG8y" },
    },
  }),
  "credential.update": async ({ api }) => {
    const { id } = await addCredential(api);
    return { params: { credential_id: id }, body: { secrets: { api_token: "Wt3rY6uK0oP4aS1d" } } };
  },
  "credential.delete": async ({ api }) => {
    const { id } = await addCredential(api);
    return { params: { credential_id: id } };
  },
  "invitation.create": async ({ api }) => ({
    params: { workspace_id: api.first.id },
    body: { email: `${Math.random().toString(36).slice(2)}@example.com`, role: "viewer" },
  }),
  "invitation.resend": async (surroundings) => ({ params: await invite(surroundings) }),
  "invitation.revoke": async (surroundings) => ({ params: await invite(surroundings) }),
  "member.update": async (surroundings) => ({
    params: await member(surroundings, "runner"),
    body: { role: "editor" },
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
  "session.revoke": async ({ api }) => {
    const { tokens, users } = await api.addWorkspace("fourth");
    const { body } = await api.call("GET", "/sessions", { token: tokens.editor });
    const mine = body.data.items.find((one: { user_id: string }) => one.user_id === users.editor);
    return { params: { session_id: mine.session_id }, token: tokens.admin };
  },
  "job.cancel": async ({ api }) => ({ params: { job_id: await addJob(api) } }),
  "approval.approve": async (surroundings) => ({ params: { approval_id: await renameProposal(surroundings) } }),
  "approval.reject": async (surroundings) => ({ params: { approval_id: await renameProposal(surroundings) } }),
  "approval.cancel": async (surroundings) => ({ params: { approval_id: await renameProposal(surroundings) } }),
  "approval_policy.update": async () => ({
    params: { category: "sync_run" },
    body: { requires_approval: true },
  }),
};
