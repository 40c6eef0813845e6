/**
 * A worker whose jobs do nothing but use the processor for a while. Arguments: URL of the database,
 * key file, milliseconds, jobs at once.
 */
import { createControl } from "../control/create-control.ts";
import { silentLog } from "../control/log.ts";
import { defaultJobLimits } from "../control/settings.ts";
import { openKeyring } from "../control/vault/keyring.ts";

/** Of the loop below, on a usual core. */
const stepsPerMs = 1_000_000;

const [url = "", keyFile = "", busyMs = "0", concurrency = "4"] = process.argv.slice(2);
const steps = Number(busyMs) * stepsPerMs;
const control = await createControl({
  database: { url, maxConnections: 8 },
  keyring: await openKeyring(keyFile, { create: true }),
  settings: {
    jobs: { ...defaultJobLimits, concurrency: Number(concurrency), perWorkspace: 1_000 },
  },
  jobs: "run",
  runners: {
    async sync() {
      let sum = 0;
      for (let step = 0; step < steps; step++) sum = (sum * 31 + step) | 0;
      if (sum === 1) throw new Error("never");
      return { status: "succeeded" };
    },
  },
  log: silentLog,
});
console.log(JSON.stringify({ isReady: true }));
process.stdin.resume().once("close", async () => {
  await control[Symbol.asyncDispose]();
  process.exit(0);
});
