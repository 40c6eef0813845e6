/** Sweeps what is old now and then, for as long as the process lives. */
import type { Services } from "../services/services.ts";
import { sweepOld } from "./sweep.ts";

const sweepEveryMs = 3_600_000;
/** A process that starts has other things to do first. */
const firstAfterMs = 60_000;

export function startRetention({
  database,
  clock,
  settings,
  log,
}: Pick<Services, "database" | "clock" | "settings" | "log">): AsyncDisposable {
  const stopping = new AbortController();
  let running: Promise<void> | undefined;
  let timer = setTimeout(sweep, firstAfterMs).unref();

  function sweep() {
    timer = setTimeout(sweep, sweepEveryMs).unref();
    running ??= sweepOld(database.db, {
      retention: settings.retention,
      auditArchive: settings.auditArchive,
      now: new Date(clock.now()),
      signal: stopping.signal,
      onFailure: (kind) => log.error("old rows could not be deleted", { kind }),
    })
      .then((gone) => {
        const rows = Object.values(gone).reduce((sum, count) => sum + count, 0);
        if (rows > 0) log.info("old rows were deleted", gone);
      })
      .finally(() => {
        running = undefined;
      });
  }

  return {
    async [Symbol.asyncDispose]() {
      clearTimeout(timer);
      stopping.abort();
      await running;
    },
  };
}
