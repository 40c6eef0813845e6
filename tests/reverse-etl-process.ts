/**
 * A worker that runs one job of reverse ETL, until its parent kills it. Forked by
 * reverse-etl-kills.long.test.ts.
 */
import { createControl } from "../control/create-control.ts";
import { claimJob } from "../control/jobs/claim.ts";
import { runJob } from "../control/jobs/run.ts";
import { runActivation } from "../control/reverse-etl/run.ts";
import { silentLog } from "../control/services/log.ts";
import { openKeyring } from "../control/vault/keyring.ts";

/** The argument that the process is started with, as JSON. */
export interface WorkerSettings {
  readonly databaseUrl: string;
  readonly keyFile: string;
}

async function run({ databaseUrl, keyFile }: WorkerSettings): Promise<void> {
  const control = await createControl({
    database: { url: databaseUrl, maxConnections: 4 },
    keyring: await openKeyring(keyFile, { create: false }),
    log: silentLog,
    settings: { network: { approvedHosts: [], allowNetworks: ["127.0.0.1/32"] } },
  });
  const { services } = control;
  process.on("message", async () => {
    const claim = {
      worker: "killed",
      limits: services.settings.jobs,
      exclusiveConnectors: [],
      now: new Date(),
    };
    const claimed = await claimJob(services.database.db, claim);
    if (claimed)
      await runJob(
        services,
        claimed,
        { sync: runActivation, reverse_etl: runActivation },
        new AbortController().signal,
      );
    process.send?.(claimed ? "done" : "idle");
  });
  process.on("disconnect", () => process.exit());
}

const [, file, settings] = process.argv;
if (file === import.meta.filename && settings !== undefined) {
  await run(JSON.parse(settings) as WorkerSettings);
  process.send?.("ready");
}
