/**
 * Secrets of credentials and accounts through every endpoint that takes them: what leaves holds
 * none, in no encoding.
 */
import { createSecretRegistry } from "svc-connectors/host";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLog } from "../control/services/log.ts";
import { startSocial } from "../simulators/social/social.ts";
import { startTestControl, type TestCall, type TestControl } from "./control.ts";
import { databaseText } from "./database-text.ts";

const plenty = { requests: 1_000_000, windowMs: 60_000 };
const shapes = {
  "45 letters and digits": "Zq7Xw2Lk9Vb4Nm6Tp1Rs8Yd3Fg5Hj0Ac7Ue2Io4Qz9Wx6",
  "characters that are written otherwise elsewhere": "k\"9\\/+=&%Z~<>'Qw7;Lp2#Vt?Xm4 Rn8",
};

let social: Awaited<ReturnType<typeof startSocial>>;
let api: TestControl;
const lines: string[] = [];

beforeAll(async () => {
  social = await startSocial({ seed: 2, tokenLimit: plenty, postsPerChannel: 1 });
  const { clientId, clientSecret, redirectUri } = social;
  api = await startTestControl({
    seams: social.seams,
    sandbox: "inline",
    log: createLog({ write: (line) => void lines.push(line) }),
    settings: {
      network: { approvedHosts: ["mail.example.com"], allowNetworks: [] },
      oauthApps: { conn_social: { clientId, clientSecret, redirectUris: [redirectUri] } },
    },
  });
});
afterAll(async () => {
  await api?.[Symbol.asyncDispose]();
  await social?.[Symbol.asyncDispose]();
});

test.each(Object.entries(shapes))("a secret of %s leaves by no way", async (_name, canary) => {
  const left: string[] = [];
  let refusedCount = 0;
  const call = async (
    method: "GET" | "POST" | "PATCH" | "DELETE",
    path: string,
    options: TestCall = {},
  ) => {
    const answer = await api.call(method, path, options);
    left.push(answer.text, JSON.stringify(answer.headers));
    if (answer.status >= 400) refusedCount += 1;
    expect(answer.status).not.toBe(500);
    return answer;
  };
  const inUrl = encodeURIComponent(canary);
  const bank = (changes: object = {}) => ({
    connector_id: "conn_bankdata",
    secrets: { api_key: canary, access_token: `access-${canary}` },
    metadata: { client_id: "team" },
    ...changes,
  });

  // Stored, shown, changed, proposed, deleted.
  const created = await call("POST", "/credentials", { body: bank() });
  expect(created.status).toBe(201);
  const path = `/credentials/${created.body.data.credential_id}`;
  await call("GET", path);
  await call("GET", "/credentials");
  await call("PATCH", path, { body: { secrets: { api_key: `${canary}2` } } });
  await call("PATCH", path, {
    body: { name: "Another name" },
    headers: { "idempotency-key": "renamed" },
  });
  await call("POST", "/credentials", { body: bank(), headers: { "idempotency-key": "stored" } });
  await call("POST", "/credentials", { body: bank(), headers: { "idempotency-key": "stored" } });
  for (const verb of ["approve", "reject"]) {
    const proposed = await call("POST", "/credentials", {
      body: bank(),
      headers: { "x-svc-execution-mode": "proposal" },
    });
    expect([proposed.status, proposed.body.details]).toEqual([202, undefined]);
    await call("GET", `/approvals/${proposed.body.data.approval_id}`);
    await call("POST", `/approvals/${proposed.body.data.approval_id}/${verb}`);
  }

  // In the wrong place.
  const wrong: object[] = [
    { name: canary },
    { name: `Our ${canary}` },
    { metadata: { client_id: canary } },
    { metadata: { [canary]: "x" } },
    { metadata: { api_key: canary } },
    { metadata: { environment: canary } },
    { metadata: { country_codes: [canary] } },
    { connector_id: canary },
    { auth_type: canary },
    { [canary]: canary },
    { secrets: { [canary]: canary } },
    { secrets: { api_key: `${canary}\n`, access_token: canary } },
    { secrets: canary },
    { secrets: [canary] },
    { secrets: { api_key: { token: canary } } },
    { secrets: { api_key: canary.repeat(300), access_token: "x" } },
    { metadata: canary },
    { workspace_id: canary },
  ];
  for (const change of wrong) await call("POST", "/credentials", { body: bank(change) });
  const mailer = {
    connector_id: "conn_mailer_product_edm",
    secrets: { api_token: "another-secret-0123" },
  };
  for (const base_url of [
    `https://user:${inUrl}@mail.example.com/api`,
    `https://mail.example.com/api?token=${inUrl}`,
    `https://${canary}/api`,
  ])
    for (const [path, body] of [
      ["/credentials", { ...mailer, metadata: { base_url } }],
      ["/credentials/mailer/api-token", { api_token: mailer.secrets.api_token, base_url }],
    ] as const)
      await call("POST", path, { body });
  for (const body of [
    { name: `Our ${canary}2` },
    { [canary]: 1 },
    { secrets: { [canary]: canary } },
    { secrets: canary },
    { metadata: { x: canary } },
  ])
    await call("PATCH", path, { body });
  await call("POST", "/credentials", { body: `{"secrets":{"api_key":"${canary}` });
  for (const query of ["cursor", "status", "connector_id", "limit", "workspace_id", "token"])
    await call("GET", `/credentials?${query}=${inUrl}`);
  for (const method of ["GET", "PATCH", "DELETE"] as const)
    await call(method, `/credentials/${inUrl}`, method === "PATCH" ? { body: { name: "x" } } : {});

  // Accounts: in every parameter, and in whatever the provider says.
  const startPath = "/credentials/source/oauth/start";
  const redirect = { connector_id: "conn_social", redirect_uri: social.redirectUri };
  const startBodies: object[] = [
    { redirect_uri: `https://svc.example.com/?token=${inUrl}` },
    { redirect_uri: canary },
    { oauth_input: { region: canary } },
    { oauth_input: { client_secret: canary } },
    { oauth_input: { [canary]: canary } },
    { credential_id: canary.slice(0, 60) },
    { source_id: canary.slice(0, 60) },
    { scopes: [canary] },
    { connector_id: canary },
    { [canary]: canary },
  ];
  for (const body of startBodies) await call("POST", startPath, { body: { ...redirect, ...body } });
  const finish = async (toParameters: (callback: Record<string, string>) => object) => {
    const started = await call("POST", startPath, { body: redirect });
    const callback = new URL(social.consent(started.body.data.authorization_url)).searchParams;
    return await call("POST", "/credentials/source/oauth/callback", {
      body: toParameters(Object.fromEntries(callback)),
    });
  };
  await finish((callback) => ({ ...callback, code: canary }));
  await finish((callback) => ({ ...callback, state: canary }));
  await finish((callback) => ({ ...callback, iss: canary }));
  await finish((callback) => ({ ...callback, "accounts-server": canary }));
  await finish((callback) => ({ ...callback, [canary]: canary }));
  await finish((callback) => ({ query_params: { ...callback, code: canary }, [canary]: canary }));
  await finish(({ state }) => ({ state, error: "server_error", error_description: canary }));
  await finish(({ state }) => ({ query_params: { state, error: canary } }));
  const texts = [
    { error: "invalid_code", error_description: canary },
    { error: canary },
    { access_token: { token: canary } },
  ];
  for (const body of texts) {
    social.tokenFaults.inject({ type: "status", status: 200, body: JSON.stringify(body) });
    expect((await finish((callback) => callback)).status).toBe(502);
  }
  const tokens = {
    access_token: token(canary),
    refresh_token: `r${token(canary)}`,
    expires_in: 3_600,
  };
  social.tokenFaults.inject({ type: "status", status: 200, body: JSON.stringify(tokens) });
  const connected = await finish((callback) => callback);
  expect(connected.status).toBe(201);
  await call("GET", `/credentials/${connected.body.data.credential_id}`);
  social.tokenFaults.inject({
    type: "status",
    status: 400,
    body: JSON.stringify({ error: canary }),
  });
  await call("DELETE", `/credentials/${connected.body.data.credential_id}`);
  await call("DELETE", path);

  expect(refusedCount).toBeGreaterThan(40);
  const registry = createSecretRegistry();
  for (const secret of [canary, token(canary), social.clientSecret]) registry.add(secret);
  const database = await databaseText(api.db);
  for (const [place, text] of Object.entries({
    answers: left.join("\n"),
    log: lines.join(""),
    database,
  }))
    expect([place, registry.contains(Buffer.from(text))]).toEqual([place, false]);
  // The search itself: what is there is found.
  expect(registry.contains(Buffer.from(`${database}${JSON.stringify({ canary })}`))).toBe(true);
});

/** The parts of it that can be a token. */
const token = (canary: string) => canary.replace(/[^\x21-\x7e]/g, "~");
