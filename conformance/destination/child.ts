/**
 * A process that runs a script with a destination and reports each step, so that whoever started it
 * can kill it at any moment.
 */
import { connect } from "node:net";
import type { JsonObject } from "svc-connectors";
import type { Commit, ErrorRecord } from "svc-connectors/host";
import {
  ConnectorError,
  type ConnectorReference,
  createDestinationHost,
} from "svc-connectors/host";
import { publicAddress } from "../contract/network.ts";
import type { Script } from "./contract.ts";
import { createScriptClock, openWriter } from "./drive.ts";

/** The only message to the process. */
export interface ChildCommand {
  readonly reference: ConnectorReference;
  readonly config: JsonObject;
  readonly script: Script;
  readonly startMs: number;
  readonly folder?: string | undefined;
  /** Where every connection leads, on loopback. */
  readonly port?: number | undefined;
  /** PEM of the authority of whoever answers there. */
  readonly ca?: string | undefined;
}

/** A message from the process. Steps count from 0, the opening is -1. */
export type ChildReport =
  | { readonly type: "ready" }
  | { readonly type: "begun"; readonly step: number }
  | { readonly type: "done"; readonly step: number; readonly tookMs: number }
  | { readonly type: "committed"; readonly commit: Commit }
  | { readonly type: "failed"; readonly error: ErrorRecord }
  | { readonly type: "ended"; readonly keptBytes: number };

const emit = (report: ChildReport) =>
  new Promise<void>((resolve) => {
    process.send?.(report, () => resolve());
  });

/**
 * Heap and buffers that are in use. One collection alone leaves buffers that nobody holds any more.
 */
async function keptNow(): Promise<number> {
  for (let round = 0; round < 3; round++) {
    globalThis.gc?.(); // There with the flag --expose-gc, which the process is started with.
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

async function work({
  reference,
  config,
  script,
  startMs,
  folder,
  port,
  ca,
}: ChildCommand): Promise<void> {
  const clock = createScriptClock(startMs);
  const seams =
    port === undefined
      ? {}
      : {
          ...(ca === undefined ? {} : { ca }),
          resolve: async () => [{ address: publicAddress, family: 4 as const }],
          dial: () => connect({ port, host: "127.0.0.1", noDelay: true }),
        };
  const host = createDestinationHost({ clock, seams });
  // Loaded before it counts.
  await host.manifest(reference);
  const beforeBytes = await keptNow();
  let keptBytes = 0;
  const weigh = async () => {
    keptBytes = Math.max(keptBytes, (await keptNow()) - beforeBytes);
  };
  try {
    const timed = async <T>(step: number, run: () => Promise<T>): Promise<T> => {
      await emit({ type: "begun", step });
      const beganMs = performance.now();
      const result = await run();
      await emit({ type: "done", step, tookMs: performance.now() - beganMs });
      return result;
    };
    const writer = await timed(-1, () =>
      openWriter(host, reference, config, script.command, clock, {
        folder,
        onCommitted: (commit) => void emit({ type: "committed", commit }),
      }),
    );
    for (const [index, step] of script.steps.entries()) {
      await timed(index, () => writer.perform([step]));
      if (step.do === "many") await weigh();
    }
    await weigh();
    await writer.close();
  } catch (error) {
    const failure = error instanceof ConnectorError ? error : new ConnectorError("INTERNAL");
    await emit({ type: "failed", error: failure.toRecord() });
  }
  await emit({ type: "ended", keptBytes });
  process.disconnect?.();
}

process.once("message", (command: ChildCommand) => void work(command));
void emit({ type: "ready" });
