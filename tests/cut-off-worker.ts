/**
 * A worker of its own host: `node tests/cut-off-worker.ts '<options as JSON>'` prints "working",
 * and a JSON line at the end of each attempt: what its runner said, or that it was stopped because
 * the job is another's by now.
 */
import { createHost, createScaledClock } from "svc-connectors/host";
import type { JobRunner } from "../control/contract/job.ts";
import { createControl } from "../control/create-control.ts";
import { createSyncRunner } from "../control/jobs/run-sync.ts";
import { silentLog } from "../control/services/log.ts";
import { openKeyring } from "../control/vault/keyring.ts";

export interface CutOffOptions {
  readonly databaseUrl: string;
  readonly keyFile: string;
  /** CIDR of the network that it is in. */
  readonly range: string;
  /** How much faster than the machine's its clock runs: leases end sooner. */
  readonly factor: number;
  readonly originMs: number;
}

export interface AttemptReport {
  readonly attempt: number;
  readonly status: string;
  readonly code: string | undefined;
}

const [, , text] = process.argv;
if (text !== undefined) {
  const options = JSON.parse(text) as CutOffOptions;
  const clock = createScaledClock(
    options.factor,
    options.originMs + (Date.now() - options.originMs) * options.factor,
  );
  const network = { approvedHosts: [], allowNetworks: [options.range] };
  const run = createSyncRunner(createHost({ settings: network, clock }));
  const sync: JobRunner = async (attempt) => {
    const result = await run(attempt);
    const code = result.status === "failed" ? result.failure.code : undefined;
    console.log(
      JSON.stringify({
        attempt: attempt.attempt,
        status: result.status,
        code,
      } satisfies AttemptReport),
    );
    return result;
  };
  const control = await createControl({
    database: { url: options.databaseUrl, maxConnections: 4 },
    keyring: await openKeyring(options.keyFile, { create: false }),
    settings: { network },
    clock,
    runners: { sync },
    jobs: "run",
    log: silentLog,
  });
  console.log("working");
  process.once("SIGTERM", async () => {
    await control[Symbol.asyncDispose]();
    process.exit(0);
  });
}
