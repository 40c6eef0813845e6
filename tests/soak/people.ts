/**
 * The actions of people and agents on an instance, one at a time, as the decisions of the soak say.
 */
import type { Account } from "./accounts.ts";
import type { Answer, Instance } from "./instance.ts";
import type { Random } from "./random.ts";

export interface Pipeline {
  readonly id: string;
  /** Its tables are called `_svc_<prefix>…`. */
  readonly prefix: string;
  readonly destinationId: string;
  /** Undefined: it reads nothing. */
  readonly account: Account | undefined;
  /** Without an account: it writes rows all the same, of the first one's account. */
  readonly isWriting?: boolean;
  readonly credentialName: string;
  readonly into: "append" | "append_dedup";
  readonly deletes: "none" | "soft" | "hard";
  /** Attempts since its tables were empty, each of which may bring the row of its cursor again. */
  attemptCount: number;
}

export interface Tokens {
  readonly admin: string;
  readonly editor: string;
  readonly runner: string;
  readonly viewer: string;
  readonly agent: string;
}

export interface Scene {
  readonly instance: Instance;
  readonly random: Random;
  readonly workspaceId: string;
  readonly tokens: Tokens;
  readonly pipelines: Pipeline[];
  /** Tokens of svc that somebody was given: nothing may hold them. */
  readonly given: string[];
  /** Makes a pipeline that reads nothing. */
  addLight(): Promise<void>;
  nextNumber(): number;
}

/** An action, and how it was answered. */
export interface Deed {
  readonly name: string;
  readonly status: number;
}

type Action = (scene: Scene) => Promise<Answer | undefined>;

const ask =
  (
    role: keyof Tokens,
    method: "GET" | "POST" | "PATCH" | "DELETE",
    path: (pipeline: Pipeline) => string,
    body?: (scene: Scene, pipeline: Pipeline) => object,
  ): Action =>
  async (scene) => {
    const pipeline = scene.random.pick(scene.pipelines);
    if (!pipeline) return undefined;
    const { instance, tokens } = scene;
    const given = body?.(scene, pipeline) ?? (method === "GET" ? undefined : {});
    return await instance.call(method, path(pipeline), {
      token: tokens[role],
      ...(given ? { body: given } : {}),
    });
  };

const one = ({ id }: Pipeline) => `/pipelines/${id}`;
const run = (verb: string) => (pipeline: Pipeline) => `${one(pipeline)}/${verb}`;
const schedules = [
  { type: "basic", units: 2, time_unit: "days" },
  { type: "basic", units: 1, time_unit: "weeks" },
  { type: "cron", cron_expression: "30 2 * * 1,4", cron_timezone: "Europe/Berlin" },
  { type: "cron", cron_expression: "0 6 1,15 * *", cron_timezone: "America/New_York" },
];

async function decide(scene: Scene): Promise<Answer | undefined> {
  const { instance, tokens, random } = scene;
  const open = await instance.call("GET", "/approvals?status=pending", { token: tokens.admin });
  const approval = random.pick(open.body.data.items as { approval_id: string }[]);
  if (!approval) return open;
  const verb = random.chance(0.7) ? "approve" : "reject";
  const body = verb === "approve" ? {} : { reason: "not now" };
  const path = `/approvals/${approval.approval_id}/${verb}`;
  return await instance.call("POST", path, { token: tokens.admin, body });
}

/** The account gets another token; the old one ends at once, or a while later. */
async function changeAccountToken(scene: Scene): Promise<Answer | undefined> {
  const { instance, tokens, random } = scene;
  const pipeline = random.pick(scene.pipelines.filter(({ account }) => account));
  if (!pipeline?.account) return undefined;
  const { account, credentialName } = pipeline;
  const api_token = account.issue();
  if (random.chance(0.5)) account.endOld();
  const list = await instance.call("GET", `/credentials?search=${credentialName}`, {
    token: tokens.editor,
  });
  const [{ credential_handle }] = list.body.data.items;
  const body = { credential_handle, base_url: account.baseUrl, api_token };
  return await instance.call("POST", "/credentials/mailer/api-token", {
    token: tokens.editor,
    body,
  });
}

async function cancelJob({
  instance,
  tokens,
  random,
  pipelines,
}: Scene): Promise<Answer | undefined> {
  const status = random.pick(["pending", "queued", "running", "incomplete"]);
  const { body } = await instance.call("GET", `/jobs?status=${status}&limit=100`, {
    token: tokens.runner,
  });
  const place = ({ pipeline_id }: { pipeline_id: string }) =>
    pipelines.findIndex(({ id }) => id === pipeline_id);
  const open = body.data.items as { job_id: string; pipeline_id: string }[];
  const job = random.pick(open.toSorted((a, b) => place(a) - place(b)));
  if (!job) return undefined;
  const path = `/jobs/${job.job_id}/cancel`;
  return await instance.call("POST", path, { token: tokens.runner, body: {} });
}

async function makeToken({ instance, tokens, random, given }: Scene): Promise<Answer> {
  const role = random.pick(["viewer", "editor"] as const);
  const made = await instance.call("POST", "/sessions", {
    token: tokens.admin,
    body: { name: "for a while", role, client: "api", expires_in_days: random.whole(1, 60) },
    isShownOnce: true,
  });
  const { token, session_id } = made.body.data;
  given.push(token);
  if (random.chance(0.5)) {
    const path = `/sessions/${session_id}/revoke`;
    await instance.call("POST", path, { token: tokens.admin, body: {} });
    const after = await instance.call("GET", "/me", { token });
    if (after.status !== 401) throw new Error(`a revoked token was answered ${after.status}`);
  }
  return made;
}

async function invite(scene: Scene): Promise<Answer> {
  const { instance, tokens, random, workspaceId } = scene;
  const path = `/workspaces/${workspaceId}/members/invitations`;
  const email = `guest${scene.nextNumber()}@example.com`;
  const made = await instance.call("POST", path, {
    token: tokens.admin,
    body: { email, role: "viewer" },
  });
  if (random.chance(0.5))
    await instance.call("POST", `${path}/${made.body.data.invitation_id}/revoke`, {
      token: tokens.admin,
      body: {},
    });
  return made;
}

/** Somebody whose connection broke sends the same request again: it counts once. */
async function syncTwice(scene: Scene): Promise<Answer | undefined> {
  const pipeline = scene.random.pick(scene.pipelines);
  if (!pipeline) return undefined;
  const headers = { "idempotency-key": `key-${scene.nextNumber()}` };
  const options = { token: scene.tokens.runner, body: {}, headers };
  const path = run("sync")(pipeline);
  const first = await scene.instance.call("POST", path, options);
  const again = await scene.instance.call("POST", path, options);
  if (first.status === 202 && again.body.data.job.job_id !== first.body.data.job.job_id)
    throw new Error("a repeated request has made a second job");
  return first;
}

async function addOrRemoveLight(scene: Scene): Promise<undefined> {
  const { instance, tokens, random, pipelines } = scene;
  const old = random.pick(pipelines.filter(({ account }) => !account));
  if (!old || random.chance(0.5)) {
    await scene.addLight();
    return undefined;
  }
  const found = await instance.call("GET", one(old), { token: tokens.admin });
  const path = `/connections/${found.body.data.connection_id}`;
  const { status } = await instance.call("DELETE", path, { token: tokens.admin });
  if (status === 200) pipelines.splice(pipelines.indexOf(old), 1);
  return undefined;
}

/** The more often the higher its weight. */
const actions: readonly (readonly [weight: number, name: string, action: Action])[] = [
  [4, "viewer looks", ask("viewer", "GET", () => "/pipelines")],
  [3, "viewer looks at jobs", ask("viewer", "GET", ({ id }) => `/jobs?pipeline_id=${id}`)],
  [2, "admin reads the log", ask("admin", "GET", () => "/audit-logs?limit=20")],
  [1, "viewer may not", ask("viewer", "PATCH", one, () => ({ name: "mine" }))],
  [4, "runner syncs", ask("runner", "POST", run("sync"))],
  [1, "runner refreshes", ask("runner", "POST", run("sync"), () => ({ full_refresh: true }))],
  [2, "runner pauses", ask("runner", "POST", run("pause"), () => ({ cancel_running: true }))],
  [6, "runner resumes", ask("runner", "POST", run("resume"))],
  [1, "editor clears", ask("editor", "POST", run("clear"))],
  [1, "editor resets", ask("editor", "POST", run("reset"))],
  [
    3,
    "editor renames",
    ask("editor", "PATCH", one, ({ nextNumber }) => ({ name: `P${nextNumber()}` })),
  ],
  [
    2,
    "editor reschedules",
    ask("editor", "PATCH", one, ({ random }) => ({ schedule: random.pick(schedules) })),
  ],
  [2, "runner cancels", cancelJob],
  [2, "runner syncs twice", syncTwice],
  [2, "account token", changeAccountToken],
  [2, "token", makeToken],
  [1, "invitation", invite],
  [2, "light pipelines", addOrRemoveLight],
  [
    3,
    "agent renames",
    ask("agent", "PATCH", one, ({ nextNumber }) => ({ name: `A${nextNumber()}` })),
  ],
  [2, "agent syncs", ask("agent", "POST", run("sync"))],
  [1, "agent resets", ask("agent", "POST", run("reset"))],
  [5, "admin decides", decide],
];
const lots = actions.flatMap(
  ([weight, name, action]) =>
    Array(weight).fill({ name, action }) as { name: string; action: Action }[],
);

export async function actOnce(scene: Scene): Promise<Deed | undefined> {
  const lot = scene.random.pick(lots);
  if (!lot) return undefined;
  const answer = await lot.action(scene);
  if (!answer) return undefined;
  if (answer.status >= 500)
    throw new Error(`${lot.name}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return { name: lot.name, status: answer.status };
}
