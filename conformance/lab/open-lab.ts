/** Opens a lab: everything that rules need to know of one connector, and runs of it. */

import type { JsonObject } from "svc-connectors";
import { type CatalogStream, isJsonObject, type Manifest, streamLabel } from "svc-connectors/host";
import { type Budget, BudgetSpentError } from "../contract/budget.ts";
import { choices, choosingFor } from "../contract/choices.ts";
import type { Database } from "../contract/database.ts";
import type { DatabaseAddress } from "../contract/database-kind.ts";
import type { GoldenRun, Lab, NamedRun, StreamFacts } from "../contract/lab.ts";
import type { LearnedProvider } from "../contract/learned.ts";
import type { Observation } from "../contract/observation.ts";
import type { Recording } from "../contract/recording.ts";
import { countRun } from "../contract/run-count.ts";
import type { ConformanceSettings } from "../contract/settings.ts";
import type { Target, TargetKind } from "../contract/target.ts";
import { UnusableError } from "../contract/unusable.ts";
import { withLaterRefreshes } from "../derive/auth/token-endpoint.ts";
import { crashSweep } from "../derive/sweeps/crashes.ts";
import { faultSweep } from "../derive/sweeps/faults.ts";
import { fillPlaceholders, withCanaries } from "../fixtures/canaries.ts";
import type { Fixtures } from "../fixtures/load.ts";
import { learnProvider } from "../learn/learn.ts";
import { createStrictProvider } from "../replay/strict.ts";
import type { DatabaseServer } from "../target/database.ts";
import { databaseConfig, databaseLogin } from "../target/database-config.ts";
import { withStandIn } from "../target/stand-in.ts";
import { commandOf, readCommand } from "./commands.ts";
import { databaseRuns } from "./database-runs.ts";
import { createPace, type Pace, realTimers, type Timers } from "./pace.ts";
import { runConnector } from "./run-connector.ts";

export interface LabOptions {
  readonly target: Target;
  readonly settings: ConformanceSettings;
  readonly fixtures: Fixtures;
  readonly seed: number;
  readonly isExhaustive: boolean;
  readonly todayMs: number;
  /** The database of a connector that speaks to one. */
  readonly database?: DatabaseServer | { readonly missing: string } | undefined;
  /** Part of each sample that is taken. Default by target: {@link efforts}. */
  readonly effort?: number | undefined;
  /** Ends the run under way, and refuses further ones. */
  readonly signal?: AbortSignal | undefined;
  /** Time by which deadlines are measured. Default: real time. */
  readonly timers?: Timers | undefined;
}

/**
 * Where a database would listen, if there were one: tcpmux (RFC 1078), where nobody has listened
 * for decades.
 */
const nobody = { kind: "postgres", host: "127.0.0.1", port: 1 } as const;
/** First, last, and one between. */
const smallestSample = 3;
/**
 * Runs in this process take some 20 ms, in a sandboxed worker 60, in a container 500 and more. A
 * connector of this runtime meets the same samples in this process as in a worker.
 */
const efforts: Record<TargetKind, number> = {
  module: 0.25,
  program: 1,
  worker: 0.25,
  container: 0.1,
};

/**
 * @throws UnusableError when the connector, its settings or its recordings do not allow any rule to
 * be tried
 */
export async function openLab(options: LabOptions): Promise<OpenLab> {
  const { target, settings, seed, isExhaustive, todayMs } = options;
  let effort = options.effort ?? efforts[target.kind];
  const startMs = options.database
    ? todayMs
    : Date.parse(options.fixtures.recordings[0]?.metadata.clock_origin ?? "");
  const server = options.database && ("missing" in options.database ? nobody : options.database);
  const { timers = realTimers } = options;
  const pace = createPace(target.kind, timers);
  // There is one database, and rules change what it holds.
  const runsAtOnce = server ? 1 : (target.runsAtOnce ?? 1);
  const runner = createRunner({
    target,
    runsAtOnce,
    startMs,
    pace,
    databaseServer: server,
    signal: options.signal,
  });
  const specStartMs = timers.now();
  const firstSpec = await runner.run({ verb: "spec" });
  pace.measured(timers.now() - specStartMs);
  const spec = specOf(firstSpec);
  const manifest = (await target.manifest()) as unknown as Manifest | undefined;
  const fixtures = withStandIn(options.fixtures, manifest);
  // The configuration of the recordings holds until the author says otherwise.
  const recorded = fixtures.recordings.find(
    ({ run, outcome }) => run.verb === "check" && outcome.status === "succeeded",
  );
  const made = withCanaries(
    { ...recorded?.run.config, ...settings.config },
    spec,
    fixtures.recordings,
    seed,
  );
  const filled = fillPlaceholders(fixtures.recordings, made.config, seed);
  const learned = withLaterRefreshes(
    learnProvider(filled.recordings, settings.paging),
    filled.recordings,
  );
  const config = databaseConfig(manifest?.egress, made.config);
  const database =
    server && "open" in server
      ? await server.open(databaseLogin(manifest?.egress, config))
      : undefined;
  runner.use(learned, database);

  const discovered = filled.recordings.find(
    (one) => one.run.verb === "discover" && one.outcome.status === "succeeded",
  );
  const firstDiscover = await runner.run(
    { verb: "discover", config: { ...config, ...discovered?.run.config } },
    discovered ? { provider: createStrictProvider(discovered) } : {},
  );
  const catalog = catalogOf(firstDiscover);
  const recordings = database ? databaseRuns(catalog, target.name, todayMs) : filled.recordings;
  const streams = catalog.map((stream) => toFacts(stream, recordings, database !== undefined));
  const kept = new Map<string, Promise<unknown>>();

  const lab: OpenLab = {
    target,
    settings,
    seed,
    isExhaustive,
    todayMs,
    runsAtOnce,
    get slowness() {
      return pace.slowness;
    },
    can: (ability) => target.abilities.has(ability),
    spec,
    manifest,
    config,
    secretPaths: made.secretPaths,
    canaries: [...made.canaries, ...filled.canaries],
    streams,
    recordings,
    unfilled: fixtures.recordings,
    baseline: fixtures.baseline,
    answers: fixtures.answers,
    learned,
    egress: manifest?.egress.kind ?? "http",
    database,
    missingProvider:
      options.database && "missing" in options.database ? options.database.missing : undefined,
    first: { spec: firstSpec, discover: firstDiscover },
    get runCount() {
      return runner.runCount;
    },
    runMs: () => (timers.now() - specStartMs) / runner.runCount,
    get effort() {
      return effort;
    },
    limitEffort(most) {
      effort = Math.min(effort, most);
    },
    limitTime: runner.limitTime,
    run: runner.run,
    once<T>(name: string, work: () => Promise<T>): Promise<T> {
      const known = kept.get(name) ?? choosingFor(name, seed, work);
      kept.set(name, known);
      return known as Promise<T>;
    },
    golden: () => lab.once("golden", () => runGolden(lab)),
    everyRun: () => lab.once("every run", () => runEverything(lab)),
    undisturbed: (command) =>
      lab.once(`undisturbed ${JSON.stringify(command)}`, () => lab.run(command)),
    replay: createStrictProvider,
    commandOf: (recording) => commandOf(recording, lab),
    readCommand: (chosen, wanted) => readCommand(lab, chosen, wanted),
    sample: (items, most) =>
      isExhaustive
        ? items
        : choices(seed).sample(items, Math.max(smallestSample, Math.round(most * effort))),
  };
  return lab;
}

export interface OpenLab extends Lab {
  readonly runsAtOnce: number;
  readonly runCount: number;
  /** The average time of a run since the lab was opened; ms. */
  runMs(): number;
  /** Part of each sample that is taken. */
  readonly effort: number;
  /** Takes smaller samples from now on. */
  limitEffort(most: number): void;
  /** Begins no run, once it is spent: it throws BudgetSpentError then. */
  limitTime(budget: Budget): void;
}

interface Runner {
  readonly runCount: number;
  /** Runs from now on meet this provider unless they name another one, and this database. */
  use(learned: LearnedProvider, database: Database | undefined): void;
  limitTime(budget: Budget): void;
  readonly run: Lab["run"];
}

interface RunnerOptions extends Pick<LabOptions, "target" | "signal"> {
  readonly runsAtOnce: number;
  readonly startMs: number;
  readonly pace: Pace;
  readonly databaseServer: DatabaseAddress | undefined;
}

/** Runs the connector, as many runs at a time as the target and its provider bear. */
function createRunner(options: RunnerOptions): Runner {
  const { target, runsAtOnce, startMs, pace, databaseServer, signal } = options;
  let learned = learnProvider([], {});
  let database: Database | undefined;
  let budget: Budget | undefined;
  let runCount = 0;
  const turns = createTurns(runsAtOnce);
  return {
    get runCount() {
      return runCount;
    },
    use(provider, opened) {
      learned = provider;
      database = opened;
    },
    limitTime(most) {
      budget = most;
    },
    run(command, options = {}) {
      return turns(async () => {
        signal?.throwIfAborted();
        if (budget && budget.leftMs() <= 0) throw new BudgetSpentError(budget.ms);
        runCount++;
        countRun();
        const run = () =>
          runConnector(target, command, {
            startMs,
            databaseServer,
            ...options,
            pace,
            signal,
            provider: options.provider ?? learned.provider(),
          });
        const { password, on = database } = options.database ?? {};
        await on?.use();
        return await (password === undefined || !database
          ? run()
          : database.withPassword(password, run));
      });
    },
  };
}

/** Does work in the order in which it is asked for, so many at a time. */
function createTurns(atOnce: number) {
  let busy = 0;
  const waiting: (() => void)[] = [];
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (busy < atOnce) busy++;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      // The place is handed over.
      if (next) next();
      else busy--;
    }
  };
}

const ends: Record<Exclude<Observation["outcome"]["status"], "succeeded">, string> = {
  failed: "failed",
  crashed: "crashed",
  cancelled: "was cancelled",
  hung: "did not end",
};

function specOf({ messages, outcome, traces }: Observation): JsonObject {
  const found = messages.flatMap(({ message }) =>
    message.type === "SPEC" ? [message.spec.connectionSpecification] : [],
  )[0];
  if (isJsonObject(found)) return found;
  const said = traces.errorOutput.split("\n").find((line) => line.trim() !== "");
  const why =
    outcome.failures[0]?.message ??
    (outcome.status === "succeeded"
      ? "it wrote no SPEC message"
      : `it ${ends[outcome.status]}${said === undefined ? "" : `, and said: ${said.trim().slice(0, 300)}`}`);
  throw new UnusableError(`the connector gives no spec: ${why}`);
}

/** A connector whose discover fails still has rules to be tried on: they show what is wrong. */
function catalogOf({ messages }: Observation): readonly CatalogStream[] {
  return messages.flatMap(({ message }) =>
    message.type === "CATALOG" ? message.catalog.streams : [],
  );
}

/**
 * @param isCursorChosen a stream that leaves its cursor to the user is incremental only along one
 * that the kit chose
 */
function toFacts(
  stream: CatalogStream,
  recordings: readonly Recording[],
  isCursorChosen: boolean,
): StreamFacts {
  const label = streamLabel(stream);
  const reads = recordings.filter(
    ({ run, outcome }) =>
      run.verb === "read" &&
      run.streams?.length === 1 &&
      run.streams.some((one) => streamLabel(one) === label) &&
      outcome.status === "succeeded",
  );
  const recording =
    reads.find(
      ({ run }) => run.state === undefined && run.streams?.[0]?.sync_mode === "full_refresh",
    ) ?? reads.find(({ run }) => run.state === undefined);
  const resumed = reads.find(({ run }) => run.state !== undefined);
  const cursorField =
    stream.default_cursor_field?.[0] ??
    reads.map(({ run }) => run.streams?.[0]?.cursor_field).find((field) => field !== undefined);
  return {
    label,
    stream,
    primaryKey: (stream.source_defined_primary_key ?? []).map(([field = ""]) => field),
    isIncremental:
      Array.isArray(stream.supported_sync_modes) &&
      stream.supported_sync_modes.includes("incremental") &&
      (!isCursorChosen || cursorField !== undefined),
    cursorField,
    recording,
    resumed,
  };
}

async function runGolden(lab: Lab): Promise<readonly GoldenRun[]> {
  const runs: GoldenRun[] = [];
  for (const recording of lab.recordings) {
    const startMs = Date.parse(recording.metadata.clock_origin);
    const shift = startMs - Date.parse(lab.recordings[0]?.metadata.clock_origin ?? "");
    const observation = await lab.run(lab.commandOf(recording), {
      provider: lab.replay(recording),
      clockShiftMs: shift,
    });
    runs.push({ recording, observation });
  }
  return runs;
}

async function runEverything(lab: Lab): Promise<readonly NamedRun[]> {
  const golden = await lab.golden();
  const faults = await faultSweep(lab);
  const crashes = await crashSweep(lab);
  const runs = [
    { name: "spec", observation: lab.first.spec },
    { name: "discover", observation: lab.first.discover },
    ...golden.map(({ recording, observation }) => ({
      name: `${recording.name} (recorded)`,
      observation,
    })),
    ...faults.map(({ name, observation }) => ({ name, observation })),
    ...crashes.flatMap(({ name, first, resumed }) => [
      { name: `${name}, until the crash`, observation: first },
      { name: `${name}, resumed`, observation: resumed },
    ]),
  ];
  // Several crashes are resumed by one run.
  const observations = runs.map(({ observation }) => observation);
  return runs.filter(({ observation }, index) => observations.indexOf(observation) === index);
}
