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
  /** How much CPU time a job takes, and how long it lasts. */
  readonly busyMs: number;
  readonly lastsMs: number;
}

/** Uses so much of a processor: the clock is asked without the kernel, which is asked seldom. */
function spin(busyMs: number): void {
  const before = process.cpuUsage();
  for (let used = 0; used < busyMs; ) {
    const nextLook = performance.now() + Math.min(busyMs - used, 2);
    while (performance.now() < nextLook);
    const { user, system } = process.cpuUsage(before);
    used = (user + system) / 1_000;
  }
}

const options = JSON.parse(process.argv[2] ?? "{}") as BenchWorkerOptions;
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
        spin(options.busyMs);
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
