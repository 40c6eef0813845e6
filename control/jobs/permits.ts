/**
 * Messages between servers and workers, by pg-boss in the same database. A message is a permit to
 * run one job, whichever is next then: the `jobs` table alone says what there is to do
 * (docs/decisions/0019). A message that is lost costs seconds.
 */
import { PgBoss } from "pg-boss";
import type { Log } from "../log.ts";
import type { Database } from "../store/database.ts";

export interface Permits extends AsyncDisposable {
  /**
   * One more permit, unless one waits already. Resolves also when it could not be sent: the sweep
   * finds what there is to do.
   */
  send(): Promise<void>;
  /** A permit for later: a job may be tried again then. */
  sendLater(jobId: string, delayMs: number): Promise<void>;
  /** From now on this process uses permits too, up to so many at once. */
  take(concurrency: number, use: () => Promise<void>): Promise<void>;
}

const queue = "svc-jobs";
/**
 * The longest that the library knows. Nothing depends on it: who uses a permit counts its own jobs.
 */
const expireInSeconds = 24 * 3_600;

/** @param isWorker it looks after the queue's own tables, and is told of permits at once */
export async function openPermits(
  { queueAccess }: Database,
  { isWorker, log }: { readonly isWorker: boolean; readonly log: Log },
): Promise<Permits> {
  const boss = new PgBoss({
    ...("url" in queueAccess
      ? {
          connectionString: queueAccess.url,
          max: isWorker ? 3 : 1,
          connectionTimeoutMillis: 10_000,
          useListenNotify: isWorker,
        }
      : { db: queueAccess, backend: "pglite" as const }),
    application_name: "svc jobs",
    schedule: false,
    supervise: isWorker,
    reindex: false,
    monitorVacuum: false,
  });
  // Its own words may quote a connection.
  boss.on("error", () => log.warn("the queue of jobs could not be reached"));
  await boss.start();
  await boss.createQueue(queue, {
    // At most one permit waits; whoever takes it leaves another one when it has found a job.
    policy: "short",
    notify: true,
    retryLimit: 0,
    expireInSeconds,
    retentionSeconds: 24 * 3_600,
    deleteAfterSeconds: 60,
  });
  let worker: string | undefined;

  const send = async (options: { singletonKey?: string; startAfter?: number }) => {
    try {
      await boss.send(queue, {}, options);
    } catch {
      log.warn("a message about a job could not be sent");
    }
  };
  return {
    async send() {
      await send({});
      // In this process nobody has to wait for the next look.
      if (worker !== undefined && !("url" in queueAccess)) boss.notifyWorker(worker);
    },
    sendLater: (jobId, delayMs) =>
      send({ singletonKey: jobId, startAfter: Math.max(1, Math.ceil(delayMs / 1_000)) }),
    async take(concurrency, use) {
      const often = { pollingIntervalSeconds: 1, notifyPollingIntervalSeconds: 2 };
      worker = await boss.work(queue, { localConcurrency: concurrency, ...often }, async () => {
        try {
          await use();
        } catch {
          // What is thrown to the library stands in its tables.
          log.error("a job could not be taken");
        }
      });
    },
    async [Symbol.asyncDispose]() {
      // A database that is gone takes what was in hand with it: the sweep of whoever comes next
      // finds it.
      await boss.stop({ graceful: true, close: true, timeout: 30_000 }).catch(() => undefined);
    },
  };
}
