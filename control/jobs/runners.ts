import { createHost } from "svc-connectors/host";
import { runActivation } from "../reverse-etl/run.ts";
import type { Services } from "../services/services.ts";
import type { JobRunners } from "./run.ts";
import { createSyncRunner } from "./run-sync.ts";

/**
 * The runners of this process. Connectors run on a host of their own: nobody waits for the
 * answer, so a run may wait for a provider as long as the provider asks for.
 */
export function createRunners({
  settings,
  seams,
  clock,
  sandbox,
  connectors,
  telemetry,
}: Services): { readonly runners: JobRunners } & AsyncDisposable {
  const host = createHost({
    settings: settings.network,
    seams,
    clock,
    sandbox,
    onWorkerStart: (url) =>
      telemetry.count("svc_worker_starts_total", { connector: connectors.idOf(url) }),
  });
  return {
    runners: {
      sync: createSyncRunner(host),
      reverse_etl: runActivation,
    },
    [Symbol.asyncDispose]: () => host[Symbol.asyncDispose](),
  };
}
