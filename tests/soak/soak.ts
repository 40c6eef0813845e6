/**
 * A year of an instance in minutes: pipelines on schedules, a provider that fails, people and
 * agents who do what they like, changed tokens and keys, stops, lost leases, power cuts and an
 * upgrade. One seed is one year. Every promise is checked on the way and at the end; what breaks one is thrown.
 */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { JobRow, JobRunner } from "../../control/contract/job.ts";
import { createSession } from "../../control/members/sessions.ts";
import { addMember, createUser, createWorkspace } from "../../control/members/workspaces.ts";
import { sweptTables } from "../../control/retention/sweep.ts";
import {
  type CertificateAuthority,
  createCertificateAuthority,
} from "../../simulators/certificates.ts";
import type { Fault } from "../../simulators/simulator/faults.ts";
import { startServer } from "../../simulators/simulator/server.ts";
import { type Accounts, startAccounts } from "./accounts.ts";
import { copyOf, createSoakClock, type Instance, openInstance } from "./instance.ts";
import { createJobs, type Jobs } from "./jobs.ts";
import { makeOlder } from "./older.ts";
import { actOnce, type Deed, type Pipeline, type Scene, type Tokens } from "./people.ts";
import {
  checkAudit,
  checkJobs,
  checkQuiet,
  checkRows,
  checkSchedules,
  createSearch,
  type SeenJobs,
} from "./promises.ts";
import { createDecisions, type Random } from "./random.ts";

export interface SoakOptions {
  readonly seed: number;
  /** Empty. */
  readonly folder: string;
  readonly days: number;
  /** Between two looks at what is due. */
  readonly turnHours: number;
  /**
   * Pipelines that read a provider of their own, and such that come and go. Every other one of
   * these writes rows, the rest only pretend to.
   */
  readonly pipelines: { readonly real: number; readonly light: number };
  /** The actions of people and agents in a day. */
  readonly deedsPerDay: number;
  /** `postgres://…`; undefined: embedded. */
  readonly databaseUrl?: string | undefined;
  /** Called after each thirty days. */
  readonly onMonth?: ((month: Month) => void) | undefined;
}

/** The resources of the instance, to compare the end with the beginning. */
export interface Month {
  readonly day: number;
  readonly heapBytes: number;
  readonly jobs: number;
  /** Of the processor, for each job; what the checks take is in it. */
  readonly cpuMsPerJob: number;
  /** Rows of the tables that retention looks after. */
  readonly rows: number;
}

export interface SoakReport {
  readonly months: readonly Month[];
  /** All actions, in their order. */
  readonly deeds: readonly Deed[];
  readonly counts: Readonly<Record<string, number>>;
}

const startMs = Date.parse("2026-01-01T00:00:00Z");
const hourMs = 3_600_000;
/** So many migrations are behind when the upgrade begins. */
const migrationsBehind = 5;
/** Longer than a lease. */
const leaseIsOverMs = 60_000;

const faults: readonly Fault[] = [
  { type: "status", status: 500 },
  { type: "status", status: 429, headers: { "retry-after": "120" } },
  { type: "status", status: 503 },
  { type: "echo_authorization" },
  { type: "stack_trace" },
  { type: "malformed_json" },
  { type: "truncated" },
  { type: "reset" },
];

export async function soak(options: SoakOptions): Promise<SoakReport> {
  // Waits have jitter, and how often somebody tries follows from it.
  const { random } = Math;
  Math.random = () => 0.5;
  const year = await beginYear(options);
  try {
    const turnsPerMonth = Math.round((30 * 24) / options.turnHours);
    for (let turn = 1; turn * options.turnHours <= options.days * 24; turn += 1) {
      await year.turn();
      if (turn % turnsPerMonth !== 0) continue;
      const month = await year.endMonth();
      options.onMonth?.(month);
    }
    return await year.end();
  } finally {
    Math.random = random;
    await year[Symbol.asyncDispose]();
  }
}

async function beginYear(options: SoakOptions) {
  const random = createDecisions(options.seed);
  const clock = createSoakClock(startMs);
  const authority = await createCertificateAuthority();
  const accounts = await startAccounts({
    seed: options.seed,
    count: options.pipelines.real,
    now: clock.now,
    authority,
  });
  const heard: string[] = [];
  let folderCount = 0;
  const nextFolder = () => join(options.folder, `instance-${folderCount++}`);
  let folder = nextFolder();
  await mkdir(folder, { recursive: true });
  const receiver = await startReceiver(accounts, random.of("receiver"), authority);
  const open = () =>
    openInstance({
      folder,
      databaseUrl: options.databaseUrl,
      clock,
      seams: receiver.seams,
      approvedHosts: [accounts.hostname],
      hear: (text) => heard.push(text),
    });
  let instance = await open();
  const { workspaceId, tokens } = await addPeople(instance);
  const pipelines: Pipeline[] = [];
  const given: string[] = Object.values(tokens);
  const counts: Record<string, number> = {};
  const count = (name: string, more = 1) => {
    counts[name] = (counts[name] ?? 0) + more;
  };
  let number = 0;
  const scene: Omit<Scene, "instance"> = {
    random,
    workspaceId,
    tokens,
    pipelines,
    given,
    nextNumber: () => ++number,
    addLight: () => addLight(instance, scene),
  };
  await addPipelines(instance, scene, accounts, options.pipelines);
  let turnCount = 0;
  const upgradeTurn = Math.ceil((options.days * 24) / options.turnHours / 2);
  const momentOf = ({ subject_id, attempt }: JobRow) =>
    `${pipelines.find(({ id }) => id === subject_id)?.prefix} ${turnCount} ${attempt}`;
  const light: JobRunner = async ({ job, progress }) => {
    progress.add({ name: "campaigns" }, { emitted: 1, committed: 1 });
    if (random.of(momentOf(job)).chance(0.1)) throw new Error("once");
    return { status: "succeeded" };
  };
  const writes = (id: string) => {
    const known = pipelines.find((one) => one.id === id);
    return known?.account !== undefined || known?.isWriting === true;
  };
  const openJobs = (hangs: number): Jobs =>
    createJobs({
      services: instance.services,
      random,
      hangs,
      light,
      isLight: (id) => !writes(id),
      momentOf,
    });
  let jobs = openJobs(0.02);
  const seen: SeenJobs = new Map();
  const deeds: Deed[] = [];
  const months: Month[] = [];
  let cpu = process.cpuUsage();
  let jobsBefore = 0;
  const secrets = () => [...given, ...accounts.accounts.flatMap(({ issued }) => issued)];

  /** Everything stops, and is started again. */
  async function restart(how: "stop" | "power cut" | "upgrade"): Promise<void> {
    count(how);
    if (how !== "power cut") await jobs.giveBack();
    const old = { instance, jobs, folder };
    if (how === "power cut") {
      folder = nextFolder();
      await copyOf(old.folder, folder);
    }
    await old.jobs[Symbol.asyncDispose]();
    await old.instance[Symbol.asyncDispose]();
    if (how === "power cut") await rm(old.folder, { recursive: true });
    // What has happened so far has happened under an earlier version.
    if (how === "upgrade") await makeOlder(folder, migrationsBehind);
    instance = await open();
    jobs = openJobs(0.02);
  }

  /**
   * A process stood still for longer than its lease: another one takes its jobs over, then it wakes
   * up.
   */
  async function takeOver(): Promise<void> {
    count("lost leases", jobs.hanging.length);
    clock.move(leaseIsOverMs);
    await using others = openJobs(0);
    await others.turn();
    await jobs.wakeAll();
    clock.move(2 * hourMs);
    await others.turn();
  }

  async function runTurn(): Promise<void> {
    // Jobs take their time: what comes due meanwhile is for the next turn.
    const dueBy = new Date(clock.now());
    await jobs.turn();
    await checkSchedules(instance.services, dueBy);
    if (jobs.hanging.length > 0) {
      const isCut = options.databaseUrl === undefined && random.of(`cut ${turnCount}`).chance(0.3);
      if (isCut) await restart("power cut");
      else await takeOver();
    }
    await checkJobs(instance.services, seen);
    await checkSynced();
    await instance.deliverEvents();
  }

  /** Attempts are counted; a first attempt that succeeded has just brought what there is. */
  let attemptsFrom = new Date(startMs - 1);
  async function checkSynced(): Promise<void> {
    const rows = await instance.services.database.db
      .selectFrom("job_attempts")
      .innerJoin("jobs", "jobs.id", "job_attempts.job_id")
      .select([
        "jobs.subject_id",
        "jobs.job_type",
        "jobs.status",
        "jobs.attempt",
        "jobs.records_committed",
        "job_attempts.started_at",
      ])
      .where("job_attempts.started_at", ">", attemptsFrom)
      .execute();
    for (const row of rows) {
      if (row.started_at && row.started_at > attemptsFrom) attemptsFrom = row.started_at;
      const pipeline = pipelines.find(({ id }) => id === row.subject_id);
      count("runs");
      if (pipeline?.isWriting && row.status === "succeeded")
        count("light rows", Number(row.records_committed));
      if (!pipeline?.account) continue;
      pipeline.attemptCount += 1;
      count("attempts");
      const isSynced = row.job_type !== "clear" && row.status === "succeeded" && row.attempt === 1;
      if (!isSynced || !random.of(`${pipeline.prefix} ${turnCount}`).chance(0.5)) continue;
      await checkRows(instance.services, pipeline);
      count("comparisons");
    }
  }

  return {
    async turn(): Promise<void> {
      turnCount += 1;
      // However long others have slept: what is due in a turn is the same in each run of a seed.
      clock.moveTo(startMs + turnCount * options.turnHours * hourMs);
      // Decisions of others between two of ours do not change the next one.
      const own = random.of(`turn ${turnCount}`);
      for (const account of accounts.accounts) if (own.chance(0.4)) account.change(own);
      accounts.faults.clear();
      for (const { baseUrl } of accounts.accounts) {
        const fault = own.pick(faults);
        if (!fault || !own.chance(0.1)) continue;
        const scope = { path: new URL(baseUrl).pathname, after: own.whole(0, 8) };
        accounts.faults.inject(fault, { ...scope, times: own.whole(1, 12) });
        count("faults");
      }
      const deedCount = (options.deedsPerDay * options.turnHours) / 24;
      for (let left = deedCount; left > 0; left -= 1) {
        if (left < 1 && !own.chance(left)) break;
        clock.move(1_000);
        const decisions = random.of(`deed ${turnCount} ${left}`);
        const deed = await actOnce({ ...scene, random: decisions, instance });
        if (deed) deeds.push(deed);
      }
      await runTurn();
      // Only of an embedded database we have the files.
      if (turnCount === upgradeTurn && options.databaseUrl === undefined) await restart("upgrade");
      else if (own.chance(0.02)) await restart("stop");
      if (own.chance(0.03)) {
        await instance.operator.run("key.rotate", {});
        count("key rotations");
        if (own.chance(0.5)) await instance.operator.run("key.prune", {});
      }
      await instance.sweep();
    },
    async endMonth(): Promise<Month> {
      hear();
      const { db } = instance.services.database;
      let rows = 0;
      for (const table of sweptTables) {
        const total = await db
          .selectFrom(table)
          .select(({ fn }) => fn.countAll<string>().as("count"))
          .executeTakeFirstOrThrow();
        rows += Number(total.count);
      }
      const used = process.cpuUsage(cpu);
      const done = (counts.runs ?? 0) - jobsBefore;
      const month = {
        day: Math.round((clock.now() - startMs) / 86_400_000),
        heapBytes: await usedHeap(),
        jobs: done,
        cpuMsPerJob: (used.user + used.system) / 1_000 / Math.max(1, done),
        rows,
      };
      months.push(month);
      cpu = process.cpuUsage();
      jobsBefore = counts.runs ?? 0;
      return month;
    },
    /** Faults end, everything that waits is done, and every promise is checked. */
    async end(): Promise<SoakReport> {
      accounts.faults.clear();
      receiver.mend();
      await settleAll();
      for (const pipeline of pipelines.filter(({ account }) => account)) {
        await syncAtLast(pipeline);
        await checkRows(instance.services, pipeline);
      }
      for (let round = 0; round < 12; round += 1) {
        clock.move(12 * hourMs);
        await instance.deliverEvents();
      }
      await instance.services.database.db
        .updateTable("pipelines")
        .set({ next_run_at: null })
        .execute();
      await settleAll();
      await checkQuiet(instance.services);
      await checkAudit(instance.services);
      const metrics = await instance.call("GET", "/metrics", { token: tokens.admin });
      if (metrics.status !== 200) throw new Error(`metrics: ${metrics.status}`);
      const search = hear();
      await search.database(instance.services);
      await jobs[Symbol.asyncDispose]();
      await instance[Symbol.asyncDispose]();
      await search.files(folder);
      return { months, deeds, counts };
    },
    async [Symbol.asyncDispose]() {
      await Promise.allSettled([jobs[Symbol.asyncDispose]()]);
      await Promise.allSettled([instance[Symbol.asyncDispose]()]);
      await receiver.close();
      await accounts.close();
    },
  };

  /** Looks through what was said so far, and forgets it. */
  function hear() {
    const search = createSearch(secrets());
    search.text("what was said", heard.splice(0).join("\n"));
    return search;
  }

  async function settleAll(): Promise<void> {
    for (let round = 0; round < 30; round += 1) {
      clock.move(2 * hourMs);
      await using quiet = openJobs(0);
      await quiet.turn();
      await checkJobs(instance.services, seen);
      await checkSynced();
      await instance.deliverEvents();
    }
  }

  async function syncAtLast({ id, account }: Pipeline): Promise<void> {
    const options = { token: tokens.admin, body: {} };
    const found = await instance.call("GET", "/approvals?status=pending", options);
    for (const { approval_id } of found.body.data.items)
      await instance.call("POST", `/approvals/${approval_id}/reject`, {
        token: tokens.admin,
        body: { reason: "the year is over" },
      });
    await instance.call("POST", `/pipelines/${id}/resume`, options);
    const made = await instance.call("POST", `/pipelines/${id}/sync`, {
      token: tokens.admin,
      body: { confirm_deletes: true },
    });
    if (made.status !== 202) throw new Error(`the last sync: ${JSON.stringify(made.body)}`);
    account?.endOld();
    await using quiet = openJobs(0);
    await quiet.turn();
    const job = await instance.call("GET", `/jobs/${made.body.data.job.job_id}`, options);
    if (job.body.data.status !== "succeeded") {
      const { body } = await instance.call(
        "GET",
        `/jobs/${made.body.data.job.job_id}/logs`,
        options,
      );
      const said = heard.filter((line) => line.includes('"level"')).slice(-20);
      throw new Error(
        `the last sync: ${JSON.stringify([job.body.data, body.data.items])}\n${said.join("")}`,
      );
    }
    await checkSynced();
  }
}

/** The heap after everything that can go has gone. */
async function usedHeap(): Promise<number> {
  const { setFlagsFromString } = await import("node:v8");
  const { runInNewContext } = await import("node:vm");
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  return process.memoryUsage().heapUsed;
}

async function addPeople(instance: Instance) {
  const { db } = instance.services.database;
  const now = new Date(instance.services.clock.now());
  const workspaceId = await createWorkspace(db, { name: "Soak", slug: "soak" }, now);
  const lifetimeMs = 800 * 24 * hourMs;
  const person = async (role: "admin" | "editor" | "runner" | "viewer") => {
    const userId = await createUser(db, { email: `${role}@example.com`, name: role }, now);
    await addMember(db, { workspaceId, userId, role }, now);
    const { token } = await createSession(db, { userId, client: "api", lifetimeMs }, now);
    return { userId, token };
  };
  const [admin, editor, runner, viewer] = [
    await person("admin"),
    await person("editor"),
    await person("runner"),
    await person("viewer"),
  ];
  const agent = { userId: editor.userId, client: "mcp", role: "editor", lifetimeMs } as const;
  const tokens: Tokens = {
    admin: admin.token,
    editor: editor.token,
    runner: runner.token,
    viewer: viewer.token,
    agent: (await createSession(db, agent, now)).token,
  };
  return { workspaceId, tokens };
}

type Setting = Pick<Scene, "tokens" | "random" | "pipelines" | "given" | "nextNumber">;

/** Asks for something that must be done. */
async function must(
  instance: Instance,
  token: string,
  path: string,
  body: object,
  { isShownOnce = false } = {},
) {
  const answer = await instance.call("POST", path, { token, body, isShownOnce });
  if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
  return answer.body.data;
}

async function addPipelines(
  instance: Instance,
  scene: Setting,
  { accounts }: Accounts,
  { light }: SoakOptions["pipelines"],
): Promise<void> {
  const { tokens, pipelines, random, given } = scene;
  const ask = (path: string, body: object) => must(instance, tokens.editor, path, body);
  const destinations: string[] = [];
  for (const [connector_id, configuration] of [
    ["conn_duckdb", { file: "first" }],
    ["conn_files", { folder: "second" }],
  ] as const) {
    const body = { name: connector_id, connector_id, configuration };
    destinations.push((await ask("/destinations", body)).destination_id);
  }
  for (const [index, account] of accounts.entries()) {
    const credentialName = `account-${String(index).padStart(4, "0")}`;
    const { credential_handle } = await ask("/credentials/mailer/api-token", {
      base_url: account.baseUrl,
      api_token: account.issue(),
      name: credentialName,
    });
    const into = index % 3 === 2 ? "append" : "append_dedup";
    // Files do not compare keys.
    const isFiles = index % 2 === 1;
    const deletes = into === "append" || isFiles ? "none" : index % 4 === 0 ? "hard" : "soft";
    const { source_id } = await ask("/sources", {
      name: credentialName,
      connector_id: "conn_mailer_product_edm",
      credential_handle,
      configuration: { base_url: account.baseUrl, lookback_days: into === "append" ? 0 : 30 },
    });
    const prefix = `r${index}_`;
    const destinationId = destinations[isFiles ? 1 : 0] ?? "";
    const { pipeline_id: id } = await ask("/pipelines", {
      name: credentialName,
      source_id,
      destination_id: destinationId,
      prefix,
      streams: [
        { name: "email_lists", sync_mode: "full_refresh", destination_sync_mode: "overwrite" },
        {
          name: "campaigns",
          sync_mode: "incremental",
          destination_sync_mode: into,
          cursor_field: ["sent_at"],
          ...(deletes === "none" ? {} : { detect_deletes: deletes }),
        },
      ],
      schedule: { type: "basic", units: random.whole(2, 10), time_unit: "days" },
    });
    pipelines.push({
      id,
      prefix,
      destinationId,
      account,
      credentialName,
      into,
      deletes,
      attemptCount: 0,
    });
  }
  for (let left = light; left > 0; left -= 1) await addLight(instance, scene);
  const url = "https://hooks.example.com/svc";
  const body = { name: "Ours", url };
  const hook = await must(instance, tokens.admin, "/webhook-endpoints", body, {
    isShownOnce: true,
  });
  given.push(hook.signing_secret);
}

async function addLight(instance: Instance, scene: Setting): Promise<void> {
  const { tokens, pipelines, random } = scene;
  const [like] = pipelines;
  if (!like) throw new Error("no pipeline to copy");
  const { body } = await instance.call("GET", `/pipelines/${like.id}`, { token: tokens.editor });
  const number = scene.nextNumber();
  const prefix = `l${number}_`;
  await instance.services.clock.sleep(1_000);
  const { pipeline_id: id } = await must(instance, tokens.editor, "/pipelines", {
    name: prefix,
    source_id: body.data.source_id,
    destination_id: body.data.destination_id,
    prefix,
    streams: [
      { name: "email_lists", sync_mode: "full_refresh", destination_sync_mode: "overwrite" },
    ],
    schedule: { type: "basic", units: random.whole(1, 20), time_unit: "days" },
  });
  pipelines.push({
    ...like,
    id,
    prefix,
    account: undefined,
    deletes: "none",
    attemptCount: 0,
    isWriting: number % 2 === 1,
  });
}

/** Takes the events, unless it is broken, and leads the instance to the accounts and to itself. */
async function startReceiver(accounts: Accounts, random: Random, authority: CertificateAuthority) {
  let isMended = false;
  const hostname = "hooks.example.com";
  const receiver = await startServer({
    hostname,
    authority,
    answer: () => ({
      status: !isMended && random.chance(0.1) ? 503 : 204,
      headers: {},
      body: Buffer.alloc(0),
    }),
  });
  const of = (host: string) => (host === hostname ? receiver : accounts).seams;
  return {
    close: receiver.close,
    mend() {
      isMended = true;
    },
    seams: {
      resolve: (host: string) => of(host).resolve(host),
      dial: (target: Parameters<typeof accounts.seams.dial>[0]) => of(target.host).dial(target),
      ca: accounts.seams.ca,
    },
  };
}
