/**
 * The table of contents: what the host does for each verb, one call a line.
 *
 *     run.ts: take a worker → check its manifest → check the config, split off secrets → broker
 *     the verb's file: spec · check · discover · entities · read → filter → sink
 */

import { budgets } from "../contract/budgets.ts";
import { ConnectorError, toConnectorError } from "../contract/errors.ts";
import type { Host, HostOptions, WorkerLimits } from "../contract/host.ts";
import { parseManifest } from "../spec/manifest.ts";
import { check } from "./check.ts";
import { systemClock } from "./clock.ts";
import { discover } from "./discover.ts";
import { entities } from "./entities.ts";
import { createWorkerPool } from "./pool.ts";
import { read } from "./read.ts";
import { type HostParts, withRun } from "./run.ts";

const defaultLimits: WorkerLimits = {
  memoryMb: 512,
  verbTimeoutMs: 600_000,
  readTimeoutMs: 24 * 3_600_000,
  unresponsiveMs: budgets.unread.seconds * 1000,
  graceMs: 5_000,
  imageSilenceMs: 1_800_000,
};

/** @see Host */
export function createHost(options: HostOptions = {}): Host {
  const limits = { ...defaultLimits, ...options.limits };
  const clock = options.clock ?? systemClock;
  const level = options.sandbox ?? "process";
  const { keepWarm = 0, keepsWorkers = false, aroundSource, onWorkerStart } = options;
  const pool = createWorkerPool({
    level,
    memoryMb: limits.memoryMb,
    clock,
    keepWarm,
    keepsWorkers,
    graceMs: limits.graceMs,
    aroundSource,
    onWorkerStart,
  });
  const settings = { approvedHosts: [], allowNetworks: [], ...options.settings };
  const parts: HostParts = {
    pool,
    clock,
    settings,
    seams: options.seams ?? {},
    limits,
    http: options.http ?? {},
    allowLocal: options.allowLocal === true,
    tokens: options.tokens ?? (() => undefined),
  };

  return {
    async spec(connector, verb = {}) {
      const { worker, manifest } = await pool.take(connector, verb.signal);
      worker.kill(new ConnectorError("CANCELLED"));
      if (keepsWorkers) await worker.ended; // until then it serves no other run
      return parseManifest(manifest);
    },
    async check(connector, config, verb = {}) {
      try {
        return await withRun(parts, connector, config, verb, check);
      } catch (error) {
        const failure = toConnectorError(error);
        if (failure.code === "CANCELLED") throw failure;
        return { status: "failed", error: failure.toRecord() };
      }
    },
    discover: (connector, config, verb = {}) => withRun(parts, connector, config, verb, discover),
    entities: (connector, config, input, verb = {}) =>
      withRun(parts, connector, config, verb, (run) => entities(run, input)),
    read: (connector, request, sink, verb = {}) =>
      withRun(parts, connector, request.config, verb, (run) =>
        read(run, request, sink, verb.onEvent ?? (() => {})),
      ),
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}
