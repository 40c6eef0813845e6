/**
 * The parts that the tests of kills share: a source, a warehouse and a pipeline between them, and
 * workers that die to order.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import type { PostgresDatabase, PostgresServer } from "../simulators/postgres-server.ts";
import { choose } from "./effort.ts";
import type { KillsCommand, KillsReport, KillsWorkerOptions } from "./sync-kills-worker.ts";
import { createTruth, type Truth, truthStreams } from "./sync-truth.ts";

/** How many in all, and where; `KILLS=1000 SEED=7` is run by hand. */
export const killCount = Number(process.env.KILLS ?? choose({ quick: 1, whole: 6 }));
export const seed = Number(process.env.SEED ?? 20_261_121);
/** By hand they may take hours. */
export const forever = 6 * 3_600_000;

/** Kills by victim. */
export function createCounts() {
  const counts: Record<string, number> = {};
  return {
    add: (victim: string) => {
      counts[victim] = (counts[victim] ?? 0) + 1;
    },
    of: (victim: string) => counts[victim] ?? 0,
    print: () => console.log(`seed ${seed}, kills so far:`, counts),
  };
}

/** Asks the Control API. Gives `data`. @throws Error with its answer when it refuses */
// biome-ignore lint/suspicious/noExplicitAny: tests read what they expect
export type Ask = (method: "GET" | "POST", path: string, body?: object) => Promise<any>;

export interface Place {
  readonly pipelineId: string;
  readonly destinationId: string;
  readonly source: PostgresDatabase;
  /** Undefined: DuckDB. */
  readonly target: PostgresDatabase | undefined;
  readonly truth: Truth;
  /** Of all syncs so far. */
  attemptCount: number;
}

export interface PlaceOptions {
  readonly rowCount: number;
  readonly random: () => number;
  /** "duckdb", or the database that rows go into. */
  readonly into: "duckdb" | PostgresDatabase;
}

/** A source with tables of its own and a pipeline with all of them. */
export async function createPlace(
  ask: Ask,
  postgres: PostgresServer,
  { rowCount, random, into }: PlaceOptions,
): Promise<Place> {
  const source = await postgres.createDatabase();
  const truth = await createTruth(source, rowCount, random);
  const connect = async (
    path: "/sources" | "/destinations",
    connector_id: string,
    { name }: PostgresDatabase,
    more: object,
  ) => {
    const secrets = { password: postgres.password };
    const { credential_handle } = await ask("POST", "/credentials", {
      connector_id,
      name: "login",
      secrets,
    });
    const configuration = {
      host: "127.0.0.1",
      port: postgres.port,
      database: name,
      username: "postgres",
      ssl_mode: "disable",
      ...more,
    };
    return await ask("POST", path, { name, connector_id, credential_handle, configuration });
  };
  const { source_id } = await connect("/sources", "conn_postgres", source, {
    page_size: Math.ceil(rowCount / 4),
  });
  const { destination_id } =
    into === "duckdb"
      ? await ask("POST", "/destinations", {
          name: source.name,
          connector_id: "conn_duckdb",
          configuration: { file: source.name },
        })
      : await connect("/destinations", "conn_postgres_destination", into, {});
  const pipeline = { name: source.name, source_id, destination_id, streams: truthStreams };
  const { pipeline_id: pipelineId } = await ask("POST", "/pipelines", pipeline);
  const target = into === "duckdb" ? undefined : into;
  return { pipelineId, destinationId: destination_id, source, target, truth, attemptCount: 0 };
}

export interface KillsWorker {
  /** Gives how many moments there were since the last order; undefined: it is dead. */
  order(order: KillsCommand): Promise<number | undefined>;
  /** Resolves when it is gone. */
  readonly ended: Promise<unknown>;
  /** Resolves when the ordered moment comes, for those who were told to tell. */
  moment(): Promise<void>;
  kill(): Promise<void>;
}

/** Loads in the background; works from its first order on. */
export function startKillsWorker(options: KillsWorkerOptions): KillsWorker {
  const child: ChildProcess = fork(
    new URL("sync-kills-worker.ts", import.meta.url),
    [JSON.stringify(options)],
    { execArgv: ["--conditions=svc-source"] },
  );
  const ended = once(child, "exit");
  const loaded = Promise.race([once(child, "message"), ended]);
  const next = <T extends KillsReport>(isIt: (report: KillsReport) => report is T) =>
    new Promise<T>((resolve) => {
      const look = (report: KillsReport) => {
        if (!isIt(report)) return;
        child.off("message", look);
        resolve(report);
      };
      child.on("message", look);
    });
  return {
    async order(order) {
      await loaded;
      const answer = next(
        (report): report is Exclude<KillsReport, string> => typeof report === "object",
      );
      // It may have died a moment ago.
      child.send(order, () => undefined);
      const report = await Promise.race([answer, ended.then(() => undefined)]);
      return report?.momentCount;
    },
    ended,
    moment: async () => void (await next((report): report is "moment" => report === "moment")),
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** A job that was to succeed. */
export class JobFailed extends Error {}

/**
 * Looks again and again, also when it fails: the database may be gone for a moment.
 * @throws Error naming `what` when it did not come
 */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined>,
  timeoutMs = 600_000,
): Promise<T> {
  const endMs = performance.now() + timeoutMs;
  for (;;) {
    const found = await look().catch((error: unknown) => {
      if (error instanceof JobFailed) throw error;
      return undefined;
    });
    if (found !== undefined) return found;
    if (performance.now() > endMs)
      throw new Error(`${what} did not come within ${timeoutMs / 1_000} s`);
    await pause(20);
  }
}
