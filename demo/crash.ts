/** Kills the service with kill -9 in the middle of a sync, and shows that nothing is lost. */
import { formatCount } from "svc-connectors/host";
import { mailerAccount } from "./accounts.ts";
import { type Ask, type Data, until } from "./client.ts";
import { type Sync, startSync, watchJob } from "./pipelines.ts";
import type { Printer } from "./printer.ts";
import type { DemoService } from "./service.ts";
import type { Simulators } from "./simulators.ts";

/** Records after which the progress of the first streams has been reported. */
const someRows = 1_000;
/**
 * The provider does not answer the request after this many of the sync, which makes more: the sync
 * is in the middle when it is killed.
 */
const lastRequest = 260;

export async function surviveKill(
  print: Printer,
  ask: Ask,
  service: DemoService,
  simulators: Simulators,
  destinationId: string,
  signal: AbortSignal,
): Promise<Sync> {
  const { mailer } = simulators;
  const account = mailerAccount(simulators);
  const sync = await startSync(print, ask, account, destinationId);
  mailer.faults.inject({ type: "hang" }, { after: lastRequest, times: 1 });
  const { records_synced: rowCount } = await until(
    "the first half of the sync",
    signal,
    async () => {
      const job = await ask(200, "GET", `/jobs/${sync.jobId}`);
      const isStuck = mailer.requests.at(-1)?.status === 0;
      return (isStuck && job.records_synced >= someRows) || job.ended_at !== null ? job : undefined;
    },
  );
  service.kill();
  await print.line(
    `kill -9 of the service, with ${formatCount(rowCount)} rows in the warehouse; and a new start`,
  );
  await service.restart();
  const job = await watchJob(print, ask, sync, signal);
  const attempts = (job.attempts as Data[]).map(
    ({ status, records_committed }, index) =>
      `attempt ${index + 1} ${status}: ${formatCount(records_committed)} rows`,
  );
  await print.fact(attempts.join("; "));
  return sync;
}
