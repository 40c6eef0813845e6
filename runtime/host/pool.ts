/**
 * Workers with their connector already loaded. Each serves one run and is gone; where a run of the
 * same connector is likely to follow, the next worker is started while the first one works, so that
 * a run begins without a start-up.
 */

import type { Clock } from "../contract/clock.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { ConnectorReference, SandboxLevel } from "../contract/host.ts";
import type { JsonValue } from "../contract/json.ts";
import type { Source } from "../contract/source.ts";
import { readablePaths } from "./code-access.ts";
import { manifestCode } from "./code-digest.ts";
import { createKeptWorkers } from "./kept-workers.ts";
import { pinnedPaths, requireManifest } from "./pins.ts";
import { type ProcessOptions, startProcess, type WorkerProcess } from "./process.ts";
import { createSession, type Session } from "./session.ts";

export interface LoadedWorker {
  readonly worker: WorkerProcess;
  readonly session: Session;
  /** As the worker gave it, unchecked. */
  readonly manifest: JsonValue;
}

export interface WorkerPool extends AsyncDisposable {
  /**
   * A worker that has imported the connector's module, for one run.
   * @throws ConnectorError
   */
  take(connector: ConnectorReference, signal?: AbortSignal): Promise<LoadedWorker>;
}

export interface PoolOptions {
  readonly level: SandboxLevel;
  readonly memoryMb: number;
  readonly clock: Clock;
  /** Loaded workers that are kept ready for each connector that was used. */
  readonly keepWarm: number;
  /** @see HostOptions */
  readonly keepsWorkers?: boolean | undefined;
  /** @see WorkerLimits */
  readonly graceMs: number;
  /** @see HostOptions */
  readonly aroundSource?: ((source: Source) => Source) | undefined;
  readonly onWorkerStart?: ((connectorUrl: string) => void) | undefined;
}

export function createWorkerPool(options: PoolOptions): WorkerPool {
  const warm = new Map<string, Promise<LoadedWorker>[]>();
  const { keepsWorkers = false } = options;
  const keptWorkers = createKeptWorkers(options.graceMs);
  const openProcess = (process: ProcessOptions): WorkerProcess =>
    keepsWorkers
      ? keptWorkers.open(JSON.stringify(process), () => startProcess(process))
      : startProcess(process);

  const start = async (
    connector: ConnectorReference,
    signal?: AbortSignal,
  ): Promise<LoadedWorker> => {
    const { url, document, pin } = connector;
    const { memoryMb, clock } = options;
    const level = levelOf(connector, options.level);
    const isInline = level === "inline";
    // A pin is looked at behind any wall.
    const paths = isInline && !pin ? [] : await pathsOf(connector);
    options.onWorkerStart?.(url);
    const worker = isInline
      ? (await import("./inline.ts")).startInline(options.aroundSource)
      : openProcess({ paths, level, memoryMb, isKept: keepsWorkers });
    const session = createSession(worker, clock);
    try {
      const manifest = await session.load(
        document === undefined ? { url } : { url, document },
        signal,
      );
      if (pin) {
        requireManifest(manifest, pin);
        // It is what was loaded, too: nothing changed under the worker's hands.
        await pinnedPaths(connector, pin);
      }
      return { worker, session, manifest };
    } catch (error) {
      worker.kill(new ConnectorError("CANCELLED"));
      await worker.ended;
      throw error;
    }
  };

  const keep = (connector: ConnectorReference) => {
    if (options.level === "inline") return;
    const key = keyOf(connector);
    const kept = warm.get(key) ?? [];
    warm.set(key, kept);
    while (kept.length < options.keepWarm) {
      const starting = start(connector);
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
    async take(connector, signal) {
      const { pin } = connector;
      // A worker that was kept may have loaded the connector before a change.
      if (pin) await pinnedPaths(connector, pin);
      const ready = warm.get(keyOf(connector))?.shift();
      const loaded = (await ready?.catch(() => undefined)) ?? (await start(connector, signal));
      loaded.worker.hold(true);
      keep(connector);
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
      await keptWorkers[Symbol.asyncDispose]();
    },
  };
}

/** The paths that its worker may read. @throws as {@link pinnedPaths} */
async function pathsOf(connector: ConnectorReference): Promise<readonly string[]> {
  const { url, document, pin } = connector;
  if (pin) return await pinnedPaths(connector, pin);
  return document === undefined ? readablePaths(url) : (await manifestCode(document)).paths;
}

/** The wall around it. A manifest brings no code: it needs no other than what comes with svc. */
function levelOf({ document, pin }: ConnectorReference, level: SandboxLevel): SandboxLevel {
  if (pin === undefined || level === "bubblewrap") return level;
  return document !== undefined && pin.sandbox === "process" ? level : pin.sandbox;
}

/** Workers are the same for those who ask for the same code behind the same wall. */
const keyOf = ({ url, document, pin }: ConnectorReference) =>
  JSON.stringify([url, pin, pin ? undefined : document]);
