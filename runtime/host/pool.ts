/**
 * Workers with their connector already loaded. Each serves one run and is gone; where a run of the
 * same connector is likely to follow, the next worker is started while the first one works, so that
 * a run begins without a start-up.
 */

import type { Clock } from "../contract/clock.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { SandboxLevel } from "../contract/host.ts";
import type { JsonValue } from "../contract/json.ts";
import type { Source } from "../contract/source.ts";
import { startInline } from "./inline.ts";
import { startProcess, type WorkerProcess } from "./process.ts";
import { createSession, type Session } from "./session.ts";

export interface LoadedWorker {
  readonly worker: WorkerProcess;
  readonly session: Session;
  /** Unchecked. */
  readonly manifest: JsonValue;
}

export interface WorkerPool extends AsyncDisposable {
  /**
   * A worker that has imported the module at `connectorUrl`, for one run.
   * @throws ConnectorError
   */
  take(connectorUrl: string, signal?: AbortSignal): Promise<LoadedWorker>;
}

export interface PoolOptions {
  readonly level: SandboxLevel;
  readonly memoryMb: number;
  readonly clock: Clock;
  /** Loaded workers that are kept ready for each connector that was used. */
  readonly keepWarm: number;
  /** @see HostOptions */
  readonly aroundSource?: ((source: Source) => Source) | undefined;
  readonly onWorkerStart?: ((connectorUrl: string) => void) | undefined;
}

export function createWorkerPool(options: PoolOptions): WorkerPool {
  const warm = new Map<string, Promise<LoadedWorker>[]>();

  const start = async (connectorUrl: string, signal?: AbortSignal): Promise<LoadedWorker> => {
    const { level, memoryMb, clock } = options;
    options.onWorkerStart?.(connectorUrl);
    const worker =
      level === "inline"
        ? startInline(options.aroundSource)
        : startProcess({ connectorUrl, level, memoryMb });
    const session = createSession(worker, clock);
    try {
      return { worker, session, manifest: await session.load(connectorUrl, signal) };
    } catch (error) {
      worker.kill(new ConnectorError("CANCELLED"));
      await worker.ended;
      throw error;
    }
  };

  const keep = (connectorUrl: string) => {
    if (options.level === "inline") return;
    const kept = warm.get(connectorUrl) ?? [];
    warm.set(connectorUrl, kept);
    while (kept.length < options.keepWarm) {
      const starting = start(connectorUrl);
      kept.push(starting);
      const drop = () => void (kept.includes(starting) && kept.splice(kept.indexOf(starting), 1));
      starting.then(
        ({ worker }) => {
          worker.hold(false);
          worker.ended.then(drop);
        },
        drop, // the next take meets the same failure and throws it
      );
    }
  };

  return {
    async take(connectorUrl, signal) {
      const ready = warm.get(connectorUrl)?.shift();
      const loaded = (await ready?.catch(() => undefined)) ?? (await start(connectorUrl, signal));
      loaded.worker.hold(true);
      keep(connectorUrl);
      return loaded;
    },
    async [Symbol.asyncDispose]() {
      const workers = await Promise.allSettled([...warm.values()].flat());
      warm.clear();
      for (const one of workers) {
        if (one.status !== "fulfilled") continue;
        one.value.worker.hold(true); // its end is waited for
        one.value.worker.kill(new ConnectorError("CANCELLED"));
        await one.value.worker.ended;
      }
    },
  };
}
