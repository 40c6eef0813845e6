/**
 * Workers whose jobs do nothing but use the processor for a while, or wait: `node jobs-worker.ts
 * '<options as JSON>'`.
 */
import { createControl } from "../control/create-control.ts";
import { silentLog } from "../control/services/log.ts";
import { defaultJobLimits } from "../control/services/settings.ts";
import { openKeyring } from "../control/vault/keyring.ts";

export interface BenchWorkerOptions {
  /** Of the database. */
  readonly url: string;
  readonly keyFile: string;
  /** Jobs at once, of each host. */
  readonly slots: number;
  /** Hosts that this process plays. */
  readonly hostsEach: number;
  /** What a job does. */
  readonly busyMs: number;
  readonly lastsMs: number;
}

/** Of the loop below, on a usual core. */
const stepsPerMs = 1_000_000;

const options = JSON.parse(process.argv[2] ?? "{}") as BenchWorkerOptions;
const steps = options.busyMs * stepsPerMs;
const keyring = await openKeyring(options.keyFile, { create: true });
const open = () =>
  createControl({
    database: { url: options.url, maxConnections: 8 },
    keyring,
    settings: {
      jobs: { ...defaultJobLimits, concurrency: options.slots, perWorkspace: 1_000 },
    },
    jobs: "run",
    runners: {
      async sync() {
        let sum = 0;
        for (let step = 0; step < steps; step++) sum = (sum * 31 + step) | 0;
        if (sum === 1) throw new Error("never");
        if (options.lastsMs > 0)
          await new Promise((resolve) => setTimeout(resolve, options.lastsMs));
        return { status: "succeeded" };
      },
    },
    log: silentLog,
  });
const hosts: Awaited<ReturnType<typeof open>>[] = [];
for (let count = 0; count < options.hostsEach; count++) hosts.push(await open());
console.log(JSON.stringify({ isReady: true }));
process.stdin.resume().once("close", async () => {
  await Promise.all(hosts.map((host) => host[Symbol.asyncDispose]()));
  process.exit(0);
});
