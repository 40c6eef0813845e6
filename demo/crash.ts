/** kill -9 in the middle of a sync, and what it costs: nothing. */
import { formatCount } from "svc-connectors/host";
import { mailerAccount } from "./accounts.ts";
import type { Ask, Data } from "./client.ts";
import { startSync, type Sync, watchJob } from "./pipelines.ts";
import type { Printer } from "./printer.ts";
import type { DemoService } from "./service.ts";
import type { Simulators } from "./simulators.ts";

/** The provider's answer to this request of the sync finds nobody. A whole sync has about 450. */
const lastRequest = 250;

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
  const sync = await startSync(ask, account, destinationId);
  const { length: requestsBefore } = mailer.requests;
  await new Promise<void>((resolve) => {
    mailer.observe(() => {
      if (mailer.requests.length - requestsBefore !== lastRequest) return;
      service.kill();
      resolve();
    });
  });
  await print.line(`${account.title.padEnd(20)} kill -9 of the service, at request ${lastRequest} to the provider`);
  await service.restart();
  await print.line(`${"".padEnd(20)} started again`);
  const job = await watchJob(print, ask, sync, signal);
  for (const { attempt, status, records_committed, failure } of job.attempts as Data[]) {
    const reason = failure ? `: ${failure.message}` : "";
    await print.fact(`attempt ${attempt} ${status}, ${formatCount(records_committed)} rows${reason}`);
  }
  const requests = mailer.requests.length - requestsBefore;
  await print.fact(`requests of both: ${requests}`);
  return sync;
}
