/**
 * The runs that the search for leaks looks at beside those of the other sweeps: answers that hold
 * secrets, errors that say too much, runs that end badly.
 */

import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "svc-connectors";
import { withSetting } from "../../contract/config-setting.ts";
import { databaseEgress } from "../../contract/database-kind.ts";
import type { Canary, Lab, RunOptions } from "../../contract/lab.ts";
import type { Answer, Provider } from "../../contract/network.ts";
import type { Command, Observation } from "../../contract/observation.ts";
import type { Recording } from "../../contract/recording.ts";
import { ownStatements, talkativeDatabaseErrors } from "../database/faults.ts";
import { errorMembers } from "../sweeps/error-members.ts";
import {
  awkwardSecrets,
  type SecretVariant,
  setSecrets,
  withSecrets,
} from "../sweeps/secret-variants.ts";
import { errorAnswerKinds, talkativeError, withIssuedSecrets } from "./plants.ts";
import { runIds } from "./run-ids.ts";
import type { SinkText } from "./sinks.ts";

/**
 * plain: goes its way · error: the provider answers with an error that says too much · config: the
 * settings are wrong · disturbed: crash, cancel, timeout.
 */
export type LeakRunKind = "plain" | "error" | "config" | "disturbed";

export interface LeakRun {
  readonly name: string;
  readonly kind: LeakRunKind;
  readonly observation: Observation;
  /** Secrets that only this run has. */
  readonly canaries: readonly Canary[];
  /** Traces of the run outside its output: temporary files, the title of the process. */
  readonly left: readonly SinkText[];
}

interface Planned {
  readonly name: string;
  readonly kind: LeakRunKind;
  readonly command: Command;
  readonly runOptions: RunOptions;
  readonly canaries?: readonly Canary[] | undefined;
}

/** Errors that a default certification samples; fewer where a process is started for each run. */
const sampledErrors = 120;
const sampledErrorsOfWorkers = 40;
const sampledRecordings = 6;
const sampledPlain = 30;
const maxConfigRuns = 12;
/** Statements of a session in turn that a database's errors begin at. */
const readyStatements = 4;
/** Timeouts in real time, for answers that never come. */
const shortTimeouts = { connectMs: 250, headersMs: 250, idleMs: 250, totalMs: 400 };
const hangDeadlineMs = 8_000;

/** Done once for all rules. */
export function leakRuns(lab: Lab): Promise<readonly LeakRun[]> {
  return lab.once("leak runs", async () => {
    const runs: LeakRun[] = [];
    const chosen = lab.sample(lab.recordings, sampledPlain);
    for (const planned of [
      ...plainRuns(lab, chosen),
      ...errorRuns(lab),
      ...(await checkErrorRuns(lab)),
      ...configRuns(lab),
      ...disturbedRuns(lab, chosen),
    ])
      runs.push(await runOne(lab, planned));
    return runs;
  });
}

const succeeding = (lab: Lab) =>
  lab.recordings.filter(({ outcome }) => outcome.status === "succeeded");

/**
 * A recording that fails is replayed as it is: the learned provider knows the good answers only.
 */
const providerOf = (lab: Lab, recording: Recording): Provider =>
  recording.outcome.status === "succeeded" ? lab.learned.provider() : lab.replay(recording);

function plainRuns(lab: Lab, chosen: readonly Recording[]): Planned[] {
  const issued = chosen.map(
    (recording): Planned => ({
      name: `${recording.name}, with secrets in the answers`,
      kind: "plain",
      command: lab.commandOf(recording),
      runOptions: { provider: withIssuedSecrets(lab, providerOf(lab, recording)) },
    }),
  );
  const awkward = awkwardSecrets(lab);
  const commands = lab
    .sample(succeeding(lab), sampledRecordings)
    .map((recording) => ({ recording, command: lab.commandOf(recording) }));
  const others = commands.map(
    ({ recording, command }): Planned => ({
      name: `${recording.name}, with other secrets`,
      kind: "plain",
      command: withSecrets(command, awkward),
      runOptions: { ...runOptionsOf(lab, recording), ...knownPassword(lab, awkward) },
      canaries: awkward.canaries,
    }),
  );
  return [...issued, ...(awkward.canaries.length > 0 ? others : [])];
}

const runOptionsOf = (lab: Lab, recording: Recording): RunOptions => ({
  provider: withIssuedSecrets(lab, providerOf(lab, recording)),
});

/** A database that knows the other password. */
function knownPassword({ database, manifest }: Lab, { secrets }: SecretVariant): RunOptions {
  const field = databaseEgress(manifest?.egress)?.password;
  const password = secrets.find(({ path }) => path.join(".") === field)?.value;
  return database && password !== undefined ? { database: { password } } : {};
}

/**
 * The server's errors name the password, as it is and as connection strings have it; the run's own
 * and one that has to be escaped.
 */
function databaseErrorRuns(lab: Lab): readonly Planned[] {
  const awkward = awkwardSecrets(lab);
  const field = databaseEgress(lab.manifest?.egress)?.password ?? "";
  const own = lab.canaries.find(({ name }) => name === `config ${field}`)?.value ?? "";
  const commands = lab
    .sample(succeeding(lab), sampledRecordings)
    .map((recording) => ({ name: recording.name, command: lab.commandOf(recording) }));
  const planned = (variant: SecretVariant | undefined, how: string, password: string) =>
    commands.flatMap(({ name, command }) =>
      talkativeDatabaseErrors(lab, password).map((type, index): Planned => {
        // While the session is made ready, and when it is at work.
        const at = ownStatements + (Math.floor(index / 2) % readyStatements);
        return {
          name: `${name}${how}, statement ${at + 1} and all after it answered ${type.sqlState}`,
          kind: "error",
          command: variant ? withSecrets(command, variant) : command,
          runOptions: {
            database: {
              ...(variant ? { password } : {}),
              fault: { at, isLasting: true, type },
            },
          },
          ...(variant ? { canaries: variant.canaries } : {}),
        };
      }),
    );
  const [escaped] = awkward.secrets.filter(({ path }) => path.join(".") === field);
  return lab.sample(
    [
      ...planned(undefined, "", own),
      ...(escaped ? planned(awkward, ", with another password", escaped.value) : []),
    ],
    lab.target.kind === "worker" ? sampledErrorsOfWorkers : sampledErrors,
  );
}

/** Each endpoint fails in each way, from its first request on. */
function errorRuns(lab: Lab): readonly Planned[] {
  if (lab.database) return databaseErrorRuns(lab);
  const endpoints = new Map<string, { readonly recording: Recording; readonly at: number }>();
  for (const recording of succeeding(lab)) {
    for (const [at, { request }] of recording.interactions.entries()) {
      const endpoint = `${recording.run.verb} ${request.method} ${new URL(request.url).pathname}`;
      if (!endpoints.has(endpoint)) endpoints.set(endpoint, { recording, at });
    }
  }
  const cases = [...endpoints.values()].flatMap((endpoint) =>
    errorAnswerKinds.map((kind) => ({ ...endpoint, kind })),
  );
  const talkative = lab
    .sample(cases, lab.target.kind === "worker" ? sampledErrorsOfWorkers : sampledErrors)
    .map(
      ({ recording, at, kind }): Planned => ({
        name: `${recording.name}, request ${at + 1} and all after it ${kind.name}`,
        kind: "error",
        command: lab.commandOf(recording),
        runOptions: { provider: failingFrom(lab, at, () => talkativeError(lab, kind)) },
      }),
    );
  const cut = lab.sample([...endpoints.values()], sampledRecordings).map(
    ({ recording, at }): Planned => ({
      name: `${recording.name}, request ${at + 1} and all after it broken by a reset`,
      kind: "plain",
      command: lab.commandOf(recording),
      runOptions: {
        provider: failingFrom(lab, at, () => ({
          status: 500,
          headers: {},
          body: Buffer.alloc(0),
          fault: { type: "reset" },
        })),
      },
    }),
  );
  return [...talkative, ...cut];
}

/** check is told of an error in the midst of a good answer. */
const checkErrorRuns = async (lab: Lab): Promise<readonly Planned[]> =>
  (await errorMembers(lab)).map(({ name, command, provider }) => ({
    name,
    kind: "error",
    command,
    runOptions: { provider },
  }));

function failingFrom(lab: Lab, at: number, answer: () => Answer): Provider {
  const truth = lab.learned.provider();
  return {
    answer: (request) => (request.index >= at ? answer() : truth.answer(request)),
    unused: () => [],
  };
}

/**
 * The secret is where it does not belong: a user pasted it into the wrong field, or with a line's
 * end.
 */
function configRuns(lab: Lab): Planned[] {
  const [first] = setSecrets(lab);
  const secret = first?.reduce<unknown>(
    (part, step) => (part as JsonObject | undefined)?.[step],
    lab.config,
  );
  if (first === undefined || typeof secret !== "string") return [];
  const properties = Object.entries(
    (lab.spec.properties ?? {}) as { readonly [name: string]: JsonObject },
  );
  const wrong = properties
    .filter(([name]) => name !== first[0])
    .flatMap(([name, { type }]) => {
      const pasted =
        type === "string"
          ? [secret, `https://user:${secret}@example.com/?token=${secret}`]
          : [secret];
      return pasted.map((value): [string, JsonObject] => [
        `the secret in ${name}`,
        { ...lab.config, [name]: value },
      ]);
    });
  const broken: [string, JsonObject][] = ["\n", "\r\nx-injected: 1", "\u0000", "é"].map((end) => [
    `${first.join(".")} ends with ${JSON.stringify(end)}`,
    withSetting(lab.config, first, `${secret}${end}`) as JsonObject,
  ]);
  return [...wrong, ...broken].slice(0, maxConfigRuns).map(([name, config]) => ({
    name: `check, ${name}`,
    kind: "config",
    command: { verb: "check", config },
    runOptions: {},
  }));
}

/**
 * Of recordings that run undisturbed too: what these show as well is no matter of the disturbance.
 */
function disturbedRuns(lab: Lab, chosen: readonly Recording[]): Planned[] {
  const reads = lab.sample(
    chosen.filter(({ run, outcome }) => run.verb === "read" && outcome.status === "succeeded"),
    3,
  );
  const cuts = reads.flatMap((recording): Planned[] => {
    const command = lab.commandOf(recording);
    const provider = () => withIssuedSecrets(lab, lab.learned.provider());
    const planned = (name: string, runOptions: RunOptions): Planned => ({
      name: `${recording.name}, ${name}`,
      kind: "disturbed",
      command,
      runOptions: { provider: provider(), ...runOptions },
    });
    const cancels = [
      planned("cancelled after message 2", { cancel: { at: "message", count: 2 } }),
      planned(`cancelled during request ${recording.interactions.length}`, {
        cancel: { at: "request", index: recording.interactions.length - 1 },
      }),
      planned("cancelled while it waits", {
        cancel: { at: "wait" },
        provider: failingFrom(lab, 0, () =>
          talkativeError(lab, { name: "", status: 429, form: "json" }),
        ),
      }),
    ];
    return [
      planned("the consumer gone after message 2", { stopAfter: 2 }),
      planned("the consumer gone after message 4", { stopAfter: 4 }),
      ...(lab.can("cancel") ? cancels : []),
    ];
  });
  const [first] = reads;
  if (!first || lab.target.kind === "container") return cuts;
  const truth = withIssuedSecrets(lab, lab.learned.provider());
  const hanging: Provider = {
    answer(request) {
      const answer = truth.answer(request);
      return request.index === 0 && !("unmatched" in answer)
        ? { ...answer, fault: { type: "hang" } }
        : answer;
    },
    unused: () => [],
  };
  return [
    ...cuts,
    {
      name: `${first.name}, request 1 never answered`,
      kind: "disturbed",
      command: lab.commandOf(first),
      runOptions: { provider: hanging, timeouts: shortTimeouts, deadlineMs: hangDeadlineMs },
    },
  ];
}

/** With ids of its own, and a temporary folder of its own where the target can be given one. */
async function runOne(
  lab: Lab,
  { name, kind, command, runOptions, canaries = [] }: Planned,
): Promise<LeakRun> {
  const options: RunOptions = { ...runOptions, keepsGiven: lab.can("inside") };
  if (!lab.can("environment"))
    return { name, kind, observation: await lab.run(command, options), canaries, left: [] };
  const folder = await mkdtemp(join(tmpdir(), "svc-conformance-"));
  const { title } = process;
  try {
    const observation = await lab.run(command, {
      ...options,
      environment: { ...runIds, TMPDIR: folder },
    });
    const files = await filesIn(folder);
    const renamed: SinkText[] =
      process.title === title
        ? []
        : [{ kind: "process", name: "the title of the process", text: process.title }];
    return { name, kind, observation, canaries, left: [...files, ...renamed] };
  } finally {
    if (process.title !== title) process.title = title;
    await rm(folder, { recursive: true, force: true });
  }
}

async function filesIn(folder: string): Promise<SinkText[]> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  return await Promise.all(
    names
      .filter((entry) => entry.isFile())
      .map(async (entry) => {
        const content = await readFile(join(entry.parentPath, entry.name), "latin1");
        return {
          kind: "artefact" as const,
          name: `the temporary file ${entry.name}`,
          text: `${entry.name}\n${content}`,
        };
      }),
  );
}
