import { hashState } from "svc-connectors/host";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createInstantClock } from "../../simulators/loopback.ts";
import { startSocial } from "../../simulators/social/social.ts";
import { startTaskapp, type TaskappSimulator } from "../../simulators/taskapp/taskapp.ts";
import { startTestControl, type TestAnswer, type TestControl } from "../../tests/control.ts";
import { secretOwner } from "../credentials/stored-secret.ts";
import { createSession } from "../members/sessions.ts";

const startMs = Date.UTC(2026, 5, 1);
const plenty = { requests: 1_000_000, windowMs: 60_000 };

describe("accounts of the social provider", () => {
  const clock = createInstantClock(startMs);
  let social: Awaited<ReturnType<typeof startSocial>>;
  let api: TestControl;

  beforeAll(async () => {
    social = await startSocial({
      seed: 2,
      clockNow: clock.now,
      tokenLimit: plenty,
      postsPerChannel: 1,
    });
    const { clientId, clientSecret, redirectUri } = social;
    const redirectUris = [redirectUri, `${redirectUri}/other`];
    api = await startTestControl({
      seams: social.seams,
      sandbox: "inline",
      clock,
      settings: { oauthApps: { conn_social: { clientId, clientSecret, redirectUris } } },
    });
  });
  afterAll(async () => {
    await api?.[Symbol.asyncDispose]();
    await social?.[Symbol.asyncDispose]();
  });
  let tokensBefore = 0;
  beforeEach(() => {
    tokensBefore = social.tokenRequests.length;
  });
  const tokenRequests = () => social.tokenRequests.length - tokensBefore;

  const start = (changes: object = {}, token = api.first.tokens.editor) =>
    api.call("POST", "/credentials/source/oauth/start", {
      token,
      body: { connector_id: "conn_social", redirect_uri: social.redirectUri, ...changes },
    });
  const finish = (
    parameters: object,
    options: { token?: string; headers?: Record<string, string> } = {},
  ) =>
    api.call("POST", "/credentials/source/oauth/callback", {
      token: api.first.tokens.editor,
      ...options,
      body: parameters,
    });
  const consent = ({ body }: TestAnswer, decision: "grant" | "deny" = "grant") =>
    Object.fromEntries(new URL(social.consent(body.data.authorization_url, decision)).searchParams);
  const connect = async (changes: object = {}) => await finish(consent(await start(changes)));
  const storedTokens = async (id: string) => {
    const owner = secretOwner({ id, workspace_id: api.first.id });
    return (await api.control.services.vault.open(api.db, owner))?.value.tokens;
  };
  const reasonOf = ({ status, body }: TestAnswer) => [status, body.details?.reason];

  test("are begun with an address that holds the state, and nothing of it is stored in the clear", async () => {
    const started = await start({ oauth_input: { region: "com" } });
    expect(started.status).toBe(200);
    const { authorization_url, state, oauth_session_id, expires_at, connector_id } =
      started.body.data;
    expect(connector_id).toBe("conn_social");
    expect(Date.parse(expires_at)).toBe(clock.now() + 600_000);
    const asked = new URL(authorization_url);
    expect(asked.origin + asked.pathname).toBe("https://accounts.zoho.com/oauth/v2/auth");
    expect(Object.fromEntries(asked.searchParams)).toMatchObject({
      state,
      client_id: social.clientId,
      redirect_uri: social.redirectUri,
      code_challenge_method: "S256",
    });
    const row = await api.db
      .selectFrom("oauth_sessions")
      .selectAll()
      .where("id", "=", oauth_session_id)
      .executeTakeFirstOrThrow();
    expect(row.state_hash).toBe(hashState(state));
    expect(JSON.stringify(row)).not.toContain(state);
    expect(started.text).not.toContain(social.clientSecret);
  });

  test("become credentials whose tokens nobody sees, and that a source can use", async () => {
    const connected = await connect({ name: "Our brands" });
    expect(connected.status).toBe(201);
    const { data } = connected.body;
    expect(data).toEqual({
      credential_handle: expect.stringMatching(/^ch_/),
      credential_id: expect.stringMatching(/^cred_/),
      connector_id: "conn_social",
      status: "active",
      granted_scopes: expect.arrayContaining(["ZohoSocial.posts.READ"]),
      expires_at: new Date(clock.now() + 3_600_000).toISOString(),
    });
    const shown = await api.call("GET", `/credentials/${data.credential_id}`);
    expect(shown.body.data).toMatchObject({
      name: "Our brands",
      auth_type: "oauth2",
      metadata: { region: "com" },
      secret_fields: [],
    });
    const tokens = (await storedTokens(data.credential_id)) as {
      accessToken: string;
      refreshToken: string;
    };
    for (const token of [tokens.accessToken, tokens.refreshToken, social.clientSecret])
      expect(connected.text + shown.text).not.toContain(token);
    const source = await api.call("POST", "/sources", {
      body: {
        name: "Brands",
        connector_id: "conn_social",
        credential_handle: data.credential_handle,
        configuration: {
          portal_id: social.portalId,
          brand_ids: [social.truth.brands()[0]?.brand_id],
        },
      },
    });
    expect(source.body.data ?? source.body).toMatchObject({ status: "active" });
  });

  test("are found in the region that the callback names, whatever the user said", async () => {
    const callback = consent(await start({ oauth_input: { region: "com" } }));
    const elsewhere = { ...callback, "accounts-server": "https://accounts.zoho.evil" };
    expect(reasonOf(await finish(elsewhere))).toEqual([422, "oauth_callback_invalid"]);
    expect(tokenRequests()).toBe(0);
  });

  test("are also connected by parameters in query_params", async () => {
    const connected = await finish({ query_params: consent(await start()) });
    expect(connected.status).toBe(201);
    const parameters = consent(await start());
    const mixed = await finish({ query_params: parameters, state: parameters.state });
    expect(reasonOf(mixed)).toEqual([422, "validation_failed"]);
  });

  test.each([
    [
      "a redirect URI that is not registered",
      { redirect_uri: "https://evil.example.net/" },
      422,
      "redirect_uri_not_allowed",
    ],
    [
      "one that is registered but for a slash",
      { redirect_uri: "https://svc.example.com/oauth/callback/conn_social/" },
      422,
      "redirect_uri_not_allowed",
    ],
    ["a connector without accounts", { connector_id: "conn_postgres" }, 422, "oauth_not_supported"],
    [
      "a connector without an application",
      { connector_id: "conn_taskapp" },
      422,
      "oauth_app_missing",
    ],
    ["an unknown connector", { connector_id: "conn_nothing" }, 404, "not_found"],
    [
      "a region that does not exist",
      { oauth_input: { region: "evil.example" } },
      422,
      "invalid_configuration",
    ],
    [
      "a secret among the settings",
      { oauth_input: { client_secret: "x" } },
      422,
      "secret_not_allowed",
    ],
    [
      "a scope that the connector does not ask for",
      { scopes: ["ZohoSocial.everything.ALL"] },
      422,
      "invalid_configuration",
    ],
    ["an unknown credential", { credential_id: "cred_0000000000000000000000" }, 404, "not_found"],
    ["an unknown source", { source_id: "src_0000000000000000000000" }, 404, "not_found"],
  ])("are not begun with %s", async (_name, change, status, reason) => {
    const refused = await start(change);
    expect(reasonOf(refused)).toEqual([status, reason]);
    expect(refused.text).not.toContain("evil");
  });

  test("are not begun for viewers", async () => {
    expect((await start({}, api.first.tokens.viewer)).status).toBe(403);
  });

  test("are finished once, by one of many callbacks at a time, and the code is sent once", async () => {
    const callback = consent(await start());
    const answers = await Promise.all([finish(callback), finish(callback), finish(callback)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    expect(reasonOf(await finish(callback))).toEqual([409, "oauth_state_used"]);
    expect(tokenRequests()).toBe(1);
  });

  test("are not finished with a state that was never given", async () => {
    const refused = await finish({ ...consent(await start()), state: "A".repeat(43) });
    expect(reasonOf(refused)).toEqual([400, "oauth_state_unknown"]);
    expect(reasonOf(await finish({ code: "x" }))).toEqual([422, "validation_failed"]);
  });

  test("are not finished by another user, session or workspace; who began still can", async () => {
    const callback = consent(await start());
    const now = new Date(clock.now());
    const userId = api.first.users.editor;
    const otherSession = (await createSession(api.db, { userId, client: "api" }, now)).token;
    for (const token of [api.first.tokens.admin, otherSession, api.second.tokens.editor]) {
      const refused = await finish(callback, { token });
      expect(reasonOf(refused)).toEqual([403, "oauth_other_session"]);
      expect(refused.body.message).toBe("permission denied");
    }
    expect(tokenRequests()).toBe(0);
    expect((await finish(callback)).status).toBe(201);
  });

  test("are not finished in another workspace of the same user", async () => {
    const userId = api.first.users.editor;
    await api.db
      .insertInto("memberships")
      .values({
        id: "mem_both",
        workspace_id: api.second.id,
        user_id: userId,
        role: "editor",
        status: "active",
        joined_at: new Date(startMs),
        last_active_at: null,
      })
      .execute();
    const callback = consent(await start({ workspace_id: api.first.id }));
    const refused = await finish({ ...callback, workspace_id: api.second.id });
    expect(reasonOf(refused)).toEqual([403, "oauth_other_session"]);
    expect((await finish({ ...callback, workspace_id: api.first.id })).status).toBe(201);
    await api.db.deleteFrom("memberships").where("id", "=", "mem_both").execute();
  });

  test("are not finished for another connector than the one of the start", async () => {
    const callback = consent(await start());
    expect(reasonOf(await finish({ ...callback, connector_id: "conn_taskapp" }))).toEqual([
      403,
      "oauth_other_session",
    ]);
    const token = api.first.tokens.editor;
    const other = await api.call("POST", "/credentials/taskapp/oauth/callback", {
      token,
      body: callback,
    });
    expect(reasonOf(other)).toEqual([403, "oauth_other_session"]);
    expect(tokenRequests()).toBe(0);
  });

  test("are not finished ten minutes after the start", async () => {
    const callback = consent(await start());
    clock.advance(600_000);
    expect(reasonOf(await finish(callback))).toEqual([410, "oauth_state_expired"]);
    expect(tokenRequests()).toBe(0);
  });

  test("are not finished with the answer of another authorization server", async () => {
    const callback = { ...consent(await start()), iss: "https://evil.example.net" };
    expect(reasonOf(await finish(callback))).toEqual([422, "oauth_callback_invalid"]);
    expect(tokenRequests()).toBe(0);
  });

  test("are refused by the provider when the redirect URI of the start is swapped", async () => {
    const started = await start();
    const { oauth_session_id } = started.body.data;
    const swapped = { redirect_uri: `${social.redirectUri}/other` };
    await api.db
      .updateTable("oauth_sessions")
      .set(swapped)
      .where("id", "=", oauth_session_id)
      .execute();
    expect(reasonOf(await finish(consent(started)))).toEqual([422, "oauth_callback_invalid"]);
  });

  test("are refused when the provider, or its user, says no", async () => {
    const started = await start();
    const denied = { ...consent(started, "deny"), error_description: "a word of the provider" };
    const refused = await finish(denied);
    expect(reasonOf(refused)).toEqual([422, "oauth_denied"]);
    expect(refused.text).not.toContain("word of the provider");
    expect(reasonOf(await finish(denied))).toEqual([409, "oauth_state_used"]);
  });

  test.each([
    [
      "refuses the code",
      { type: "status", status: 200, body: '{"error":"invalid_code","note":"PROVIDER-TEXT"}' },
    ],
    ["answers with a page", { type: "html" }],
    ["fails", { type: "stack_trace" }],
    ["hangs up", { type: "reset" }],
    ["sends the request elsewhere", { type: "redirect" }],
    [
      "gives an access token that ends, and no other",
      {
        type: "status",
        status: 200,
        body: '{"access_token":"PROVIDER-TEXT-0123","expires_in":3600}',
      },
    ],
    [
      "gives a token of two lines",
      {
        type: "status",
        status: 200,
        body: '{"access_token":"PROVIDER-TEXT\\n","refresh_token":"x"}',
      },
    ],
  ] as const)("are not connected when the token endpoint %s, and nothing of its answer is told", async (_name, fault) => {
    social.tokenFaults.inject(fault);
    const callback = consent(await start());
    const refused = await finish(callback);
    expect(reasonOf(refused)).toEqual([502, "provider_exchange_failed"]);
    expect(Object.keys(refused.body.details)).toEqual(["reason"]);
    expect(refused.text).not.toMatch(/PROVIDER-TEXT|laravel|invalid_code/);
    expect(reasonOf(await finish(callback))).toEqual([409, "oauth_state_used"]);
    social.tokenFaults.clear();
  });

  test("are connected again in place: id and handle stay, and the credential is active", async () => {
    const { credential_id, credential_handle } = (await connect()).body.data;
    const before = await storedTokens(credential_id);
    const lost = {
      status: "needs_reauth",
      last_error: JSON.stringify({ reason: "authorization_lost", at: "x" }),
    } as const;
    await api.db.updateTable("credentials").set(lost).where("id", "=", credential_id).execute();
    const again = await connect({ credential_id });
    expect(again.body.data).toMatchObject({ credential_id, credential_handle, status: "active" });
    expect(await storedTokens(credential_id)).not.toEqual(before);
    const shown = await api.call("GET", `/credentials/${credential_id}`);
    expect(shown.body.data).toMatchObject({ last_error: null, version: 2 });
  });

  test("are connected again by the source that uses them", async () => {
    const { credential_id, credential_handle } = (await connect()).body.data;
    const configuration = {
      portal_id: social.portalId,
      brand_ids: [social.truth.brands()[0]?.brand_id],
    };
    const source = await api.call("POST", "/sources", {
      body: { name: "x", connector_id: "conn_social", credential_handle, configuration },
    });
    const again = await connect({ source_id: source.body.data.source_id });
    expect(again.body.data).toMatchObject({ credential_id, credential_handle });
  });

  test("that were deleted meanwhile stay deleted", async () => {
    const { credential_id } = (await connect()).body.data;
    const callback = consent(await start({ credential_id }));
    await api.call("DELETE", `/credentials/${credential_id}`);
    expect((await finish(callback)).status).toBe(404);
    expect(await storedTokens(credential_id)).toBeUndefined();
  });

  test("end at the provider when their credential is deleted", async () => {
    const { credential_id } = (await connect()).body.data;
    const { accessToken } = (await storedTokens(credential_id)) as { accessToken: string };
    expect(social.tokens.isValid(`Zoho-oauthtoken ${accessToken}`)).toBe(true);
    const deleted = await api.call("DELETE", `/credentials/${credential_id}`);
    expect(deleted.body.data).toMatchObject({ deleted: true, revocation: "revoked" });
    const entry = api.db
      .selectFrom("audit_logs")
      .select("summary")
      .where("action", "=", "credential.delete");
    expect(await entry.where("resource_id", "=", credential_id).executeTakeFirst()).toEqual({
      summary: "Delete a credential: the provider has revoked the tokens",
    });
    expect(social.tokens.isValid(`Zoho-oauthtoken ${accessToken}`)).toBe(false);
  });

  test("are destroyed here also when the provider does not answer, and that is noted", async () => {
    const { credential_id } = (await connect()).body.data;
    social.tokenFaults.inject({ type: "stack_trace" }, { path: "revoke" });
    const deleted = await api.call("DELETE", `/credentials/${credential_id}`);
    expect(deleted.body.data).toMatchObject({ deleted: true, revocation: "failed" });
    expect(await storedTokens(credential_id)).toBeUndefined();
    const shown = await api.call("GET", `/credentials/${credential_id}`);
    expect(shown.body.data).toMatchObject({
      status: "revoked",
      last_error: { reason: "revocation_failed" },
    });
  });

  test("that nobody finished are destroyed when the next one is begun", async () => {
    const { oauth_session_id } = (await start()).body.data;
    const kept = () =>
      api.db
        .selectFrom("secrets")
        .select("owner_id")
        .where("owner_id", "=", oauth_session_id)
        .execute();
    expect(await kept()).toHaveLength(1);
    clock.advance(600_000);
    await start();
    expect(await kept()).toEqual([]);
  });

  describe("that are proposed", () => {
    const asProposal = { "x-svc-execution-mode": "proposal" };
    const propose = async (changes: object = {}) => {
      const answer = await finish(consent(await start(changes)), { headers: asProposal });
      expect([answer.status, answer.body.data?.status]).toEqual([202, "pending"]);
      const { approval_id, proposal } = answer.body.data;
      const waiting = String(proposal.body_redacted.credential_id);
      return { approval_id, waiting, text: answer.text };
    };
    const decide = (id: string, verb: "approve" | "reject") =>
      api.call("POST", `/approvals/${id}/${verb}`);
    const statusOf = async (id: string) =>
      (await api.call("GET", `/credentials/${id}`)).body.data?.status;

    test("are exchanged at once, and of no use until they are approved", async () => {
      const { approval_id, waiting, text } = await propose({ name: "Held" });
      expect(tokenRequests()).toBe(1);
      const { accessToken } = (await storedTokens(waiting)) as { accessToken: string };
      expect(text).not.toContain(accessToken);
      expect(await statusOf(waiting)).toBe("pending_approval");
      expect(reasonOf(await start({ credential_id: waiting }))).toEqual([
        424,
        "credential_not_usable",
      ]);
      const { credential_handle } = (await api.call("GET", `/credentials/${waiting}`)).body.data;
      const configuration = {
        portal_id: social.portalId,
        brand_ids: [social.truth.brands()[0]?.brand_id],
      };
      const body = { name: "x", connector_id: "conn_social", credential_handle, configuration };
      expect(reasonOf(await api.call("POST", "/sources", { body }))).toEqual([
        424,
        "credential_not_usable",
      ]);
      const approved = await decide(approval_id, "approve");
      expect(approved.body.data).toMatchObject({
        status: "executed",
        result: { credential_id: waiting, status: "active" },
      });
      expect((await api.call("POST", "/sources", { body })).status).toBe(201);
      expect(tokenRequests()).toBe(1); // The code, once.
    });

    test("are destroyed when they are rejected", async () => {
      const { approval_id, waiting } = await propose();
      await decide(approval_id, "reject");
      expect(await statusOf(waiting)).toBe("revoked");
      expect(await storedTokens(waiting)).toBeUndefined();
      expect((await decide(approval_id, "approve")).status).toBe(409);
    });

    test("take the place of what was connected before only when they are approved", async () => {
      const { credential_id, credential_handle } = (await connect()).body.data;
      const before = await storedTokens(credential_id);
      const { approval_id, waiting } = await propose({ credential_id });
      expect(await storedTokens(credential_id)).toEqual(before);
      const held = await storedTokens(waiting);
      const approved = await decide(approval_id, "approve");
      expect(approved.body.data.result).toMatchObject({
        credential_id,
        credential_handle,
        status: "active",
      });
      expect(await storedTokens(credential_id)).toEqual(held);
      expect(await statusOf(waiting)).toBeUndefined();
    });

    test("by an agent wait for an approval, and the agent begins freely", async () => {
      const token = api.first.tokens.agent;
      const started = await start({}, token);
      expect(started.status).toBe(200);
      const held = await finish(consent(started), { token });
      expect([held.status, held.body.data.category]).toEqual([202, "credential_change"]);
    });
  });

  test("keep no secret of an authorisation that has ended", async () => {
    const started = await start();
    await finish(consent(started));
    const { oauth_session_id } = started.body.data;
    expect(
      await api.db
        .selectFrom("secrets")
        .selectAll()
        .where("owner_id", "=", oauth_session_id)
        .execute(),
    ).toEqual([]);
  });
});

describe("accounts of the task app", () => {
  const open = async (tokenSeconds?: number) => {
    const clock = createInstantClock(startMs);
    const taskapp = await startTaskapp({
      tasks: 3,
      clockNow: clock.now,
      ...(tokenSeconds ? { tokenSeconds } : {}),
    });
    const { clientId, clientSecret, redirectUri } = taskapp.client;
    const api = await startTestControl({
      seams: taskapp.seams,
      sandbox: "inline",
      clock,
      settings: {
        oauthApps: { conn_taskapp: { clientId, clientSecret, redirectUris: [redirectUri] } },
      },
    });
    return {
      api,
      taskapp,
      clock,
      async [Symbol.asyncDispose]() {
        await api[Symbol.asyncDispose]();
        await taskapp[Symbol.asyncDispose]();
      },
    };
  };
  const connect = async (api: TestControl, taskapp: TaskappSimulator, changes: object = {}) => {
    const path = "/credentials/taskapp/oauth";
    const body = { redirect_uri: taskapp.client.redirectUri, ...changes };
    const started = await api.call("POST", `${path}/start`, { body });
    expect(started.body).toMatchObject({ data: { connector_id: "conn_taskapp" } });
    const url = started.body.data.authorization_url;
    const callback = Object.fromEntries(new URL(taskapp.consent(url)).searchParams);
    return { url, connected: await api.call("POST", `${path}/callback`, { body: callback }) };
  };
  const createSource = (api: TestControl, credential_handle: string) =>
    api.call("POST", "/sources", {
      body: { name: "Tasks", connector_id: "conn_taskapp", credential_handle, configuration: {} },
    });

  test("are connected without scopes and proof key, and their token takes the place of the setting", async () => {
    await using opened = await open();
    const { api, taskapp } = opened;
    const { url, connected } = await connect(api, taskapp);
    const asked = new URL(url);
    expect(asked.origin + asked.pathname).toBe("https://app.clickup.com/api");
    expect([...asked.searchParams.keys()].sort()).toEqual([
      "client_id",
      "redirect_uri",
      "response_type",
      "state",
    ]);
    expect(connected.status).toBe(201);
    expect(connected.body.data).toMatchObject({
      connector_id: "conn_taskapp",
      status: "active",
      granted_scopes: [],
    });
    expect(connected.body.data).not.toHaveProperty("expires_at");
    const source = await createSource(api, connected.body.data.credential_handle);
    expect(source.body.data ?? source.body).toMatchObject({ status: "active" });
  });

  test("may be named as the path names them, and as nothing else", async () => {
    await using opened = await open();
    const { api, taskapp } = opened;
    expect((await connect(api, taskapp, { connector_id: "conn_taskapp" })).connected.status).toBe(
      201,
    );
    const body = { redirect_uri: taskapp.client.redirectUri, connector_id: "conn_social" };
    const other = await api.call("POST", "/credentials/taskapp/oauth/start", { body });
    expect(other.body).toMatchObject({
      code: "422",
      details: { errors: [{ path: "connector_id" }] },
    });
  });

  test("are also entered as a personal token", async () => {
    await using opened = await open();
    const { api, taskapp } = opened;
    const secrets = { access_token: taskapp.token };
    const created = await api.call("POST", "/credentials", {
      body: { connector_id: "conn_taskapp", secrets },
    });
    expect((await createSource(api, created.body.data.credential_handle)).status).toBe(201);
    const again = await connect(api, taskapp, { credential_id: created.body.data.credential_id });
    expect(again.connected.body.data).toMatchObject({
      credential_handle: created.body.data.credential_handle,
    });
    expect((await createSource(api, created.body.data.credential_handle)).status).toBe(201);
  });

  test("whose tokens end are renewed before a run, by one refresh, and the new refresh token is kept", async () => {
    await using opened = await open(3_600);
    const { api, taskapp, clock } = opened;
    const { credential_handle } = (await connect(api, taskapp)).connected.body.data;
    for (let hour = 1; hour <= 3; hour += 1) {
      clock.advance(3_600_000);
      const answers = await Promise.all(
        Array.from({ length: 5 }, () => createSource(api, credential_handle)),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(201));
      expect(taskapp.tokens.refreshCount).toBe(hour);
    }
    expect(taskapp.tokens.endedFamilyCount).toBe(0);
  });

  test("that were taken back are to be connected again, and nobody asks for them meanwhile", async () => {
    await using opened = await open();
    const { api, taskapp } = opened;
    const { credential_id, credential_handle } = (await connect(api, taskapp)).connected.body.data;
    taskapp.tokens.revokeAll();
    const found = await createSource(api, credential_handle);
    expect([found.status, found.body.details.check.error]).toEqual([422, "REAUTHORIZATION_NEEDED"]);
    const shown = await api.call("GET", `/credentials/${credential_id}`);
    expect(shown.body.data).toMatchObject({
      status: "needs_reauth",
      last_error: { reason: "reauthorization_needed" },
    });
    const asked = taskapp.requests.length;
    const refused = await createSource(api, credential_handle);
    expect([refused.status, refused.body.details]).toEqual([
      424,
      {
        reason: "credential_not_usable",
        status: "needs_reauth",
        error: "REAUTHORIZATION_NEEDED",
      },
    ]);
    expect(taskapp.requests.length).toBe(asked);
    const again = await connect(api, taskapp, { credential_id });
    expect(again.connected.body.data).toMatchObject({ credential_id, status: "active" });
    expect((await createSource(api, credential_handle)).status).toBe(201);
  });
});
