/** Drives an open sink by steps, in this process or in one of its own. */

import { randomBytes } from "node:crypto";
import type { JsonObject } from "svc-connectors";
import type {
  Clock,
  Commit,
  ConnectorReference,
  DestinationHost,
  DestinationOptions,
  DestinationSink,
  DestinationStream,
} from "svc-connectors/host";
import { batchOfLines } from "./batches.ts";
import type { RowForm, Script, Step, Writer } from "./contract.ts";
import { descriptorOf } from "./streams.ts";

/** Longer than any destination puts a commit off; ms of virtual time. */
const untilDueMs = 60_000;

export interface ScriptClock extends Clock {
  pass(durationMs: number): void;
}

export function createScriptClock(startMs: number): ScriptClock {
  let nowMs = startMs;
  const pass = (durationMs: number) => {
    nowMs += durationMs;
  };
  return { now: () => nowMs, sleep: async () => {}, pass };
}

/** @throws ConnectorError */
export async function openWriter(
  host: DestinationHost,
  reference: ConnectorReference,
  config: JsonObject,
  command: Script["command"],
  clock: ScriptClock,
  options: DestinationOptions & {
    readonly onCommitted?: ((commit: Commit) => void) | undefined;
    readonly onClosed?: (() => Promise<void>) | undefined;
  } = {},
): Promise<Writer> {
  const { form: chosen, ...given } = command;
  const { streams } = given;
  const { onCommitted, onClosed, ...verb } = options;
  const commits: Commit[] = [];
  const noted = (commit: Commit) => {
    commits.push(commit);
    onCommitted?.(commit);
  };
  const opened = await host.write(reference, config, { ...given, onCommitted: noted }, verb);
  const { sink } = opened;
  const forms = formsOf(sink);
  // Each run of an owner in another form, so that rules try all of them at no cost.
  const form = chosen ?? forms[(given.fence - 1) % forms.length] ?? "columns";
  const saved = sink.savedState();
  const at = (index: number) => {
    const found = streams[index];
    if (!found) throw new Error(`the script names stream ${index} of ${streams.length}`);
    return descriptorOf(found);
  };
  const waiting = streams.map(() => 0);
  const step = async (one: Step): Promise<void> => {
    const stream = at(one.stream);
    const write = async (lines: readonly string[]) => {
      waiting[one.stream] = (waiting[one.stream] ?? 0) + lines.length;
      if (form !== "lines") {
        const { configured } = streams[one.stream] as DestinationStream;
        return await sink.writeBatch?.(stream, batchOfLines(configured, lines, form));
      }
      await sink.write?.(
        stream,
        Buffer.from(lines.map((line) => `${line}\n`).join("")),
        lines.length,
      );
    };
    if (one.do === "rows") await write(one.lines);
    else if (one.do === "many") for (const page of pagesOf(one)) await write(page);
    else if (one.do === "checkpoint") {
      if (one.isDue !== false) clock.pass(untilDueMs);
      const rowCount = waiting[one.stream] ?? 0;
      waiting[one.stream] = 0;
      await sink.checkpoint(stream, one.state, rowCount);
    } else await sink.status(stream, statuses[one.do]);
  };
  let isOpen = true;
  const close = async () => {
    if (!isOpen) return;
    isOpen = false;
    try {
      await sink.close();
    } finally {
      await opened[Symbol.asyncDispose]();
      await onClosed?.();
    }
  };
  try {
    await sink.open(streams.map(({ configured }) => configured));
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
  return {
    commits,
    streams,
    forms,
    async perform(steps) {
      for (const one of steps) await step(one);
    },
    state: (index = 0) => {
      const { name, namespace } = at(index);
      return saved.find(({ stream }) => stream.name === name && stream.namespace === namespace)
        ?.state;
    },
    location: (index = 0) => sink.location(at(index)),
    close,
  };
}

/** The forms in which a read could bring rows: lines only to a sink that takes them. */
const formsOf = (sink: DestinationSink): readonly RowForm[] => [
  ...(sink.writeBatch ? (["columns", "texts"] as const) : []),
  ...(sink.write ? (["lines"] as const) : []),
];

const pageBytes = 1024 * 1024;

function* pagesOf({
  from,
  count,
  rowBytes,
}: Extract<Step, { do: "many" }>): Generator<readonly string[]> {
  const pageRows = Math.max(1, Math.floor(pageBytes / rowBytes));
  for (let at = from; at < from + count; at += pageRows) {
    const rows = Math.min(pageRows, from + count - at);
    // Of no two rows the same, so that no compression makes them small.
    yield Array.from({ length: rows }, (_, index) =>
      JSON.stringify({ id: at + index, text: fillText(at + index, rowBytes) }),
    );
  }
}

/** Text that no compression makes small; rows take different parts of it. */
let noise = "";
const noiseLength = 4 * pageBytes;

function fillText(seed: number, length: number): string {
  if (noise === "") noise = randomBytes((noiseLength / 4) * 3).toString("base64");
  const from = (seed * 7_919) % (noiseLength - length);
  return noise.slice(from, from + length);
}

const statuses = { start: "started", complete: "complete", incomplete: "incomplete" } as const;
