import { batchBytes } from "../contract/batch.ts";
import { type StreamDescriptor, streamLabel } from "../contract/catalog.ts";
import type { Clock } from "../contract/clock.ts";
import type { HostEvent } from "../contract/host.ts";
import type { Sink } from "../contract/sink.ts";
import { eventLevel, eventText } from "../sinks/airbyte.ts";
import { printable } from "./usage.ts";

/** Progress is shown this often: a terminal's line is redrawn, elsewhere a new line is written. */
const showEveryMs = { terminal: 200, log: 10_000 } as const;

export interface Progress {
  /** The sink, counted. */
  watch(sink: Sink): Sink;
  event(event: HostEvent): void;
  /** Clears the terminal's line. */
  end(): void;
}

interface Surface {
  readonly clock: Clock;
  readonly isTTY: boolean;
  readonly columns?: number | undefined;
  /** Writes to stderr. */
  readonly write: (text: string) => void;
}

/**
 * Shows how a read goes on: rows, MB/s, the current stream, and what is being waited for. Nothing
 * is shown twice within its interval.
 */
export function createProgress({ clock, isTTY, columns = 80, write }: Surface): Progress {
  const startedMs = clock.now();
  let shownMs = startedMs;
  let rowCount = 0;
  let byteCount = 0;
  let shownBytes = 0;
  let bytesPerSecond = 0;
  let streamCount = 0;
  let endedCount = 0;
  let current: StreamDescriptor | undefined;
  let waiting = "";
  let isDrawn = false;

  function text(): string {
    const parts = [
      current ? printable(streamLabel(current), 40) : "starting",
      `${formatCount(rowCount)} rows`,
      `${formatBytes(bytesPerSecond)}/s`,
      `${Math.min(endedCount + 1, Math.max(streamCount, 1))} of ${streamCount || "?"} streams`,
      formatDuration(clock.now() - startedMs),
    ];
    return [...parts, ...(waiting ? [waiting] : [])].join("  ");
  }

  function show(isUrgent = false): void {
    const elapsedMs = clock.now() - shownMs;
    if (!isUrgent && elapsedMs < (isTTY ? showEveryMs.terminal : showEveryMs.log)) return;
    if (elapsedMs > 0) bytesPerSecond = ((byteCount - shownBytes) * 1000) / elapsedMs;
    shownMs = clock.now();
    shownBytes = byteCount;
    if (isTTY) write(`\r\u001b[K${printable(text(), columns - 1)}`);
    else write(`${text()}\n`);
    isDrawn = isTTY;
  }

  function end(): void {
    if (isDrawn) write("\r\u001b[K");
    isDrawn = false;
  }

  function count(rows: number, bytes: number): void {
    rowCount += rows;
    byteCount += bytes;
    waiting = "";
    show();
  }

  return {
    end,
    event(event) {
      if (event.type === "waiting") {
        waiting = event.untilMs === 0 ? "" : waitingText(event.untilMs, event.reason);
        // A short pause between requests is not worth a line of its own.
        show(event.untilMs - clock.now() > showEveryMs.log);
      } else if (eventLevel(event) === "WARN") {
        end();
        write(`${printable(eventText(event), 500)}\n`);
      }
    },
    watch: ({ writeBatch, ...sink }) => ({
      ...sink,
      ...(writeBatch && {
        async writeBatch(stream, batch) {
          await writeBatch(stream, batch);
          count(batch.rowCount, batchBytes(batch));
        },
      }),
      async open(streams) {
        streamCount = streams.length;
        await sink.open(streams);
      },
      async write(stream, lines, rows) {
        await sink.write(stream, lines, rows);
        count(rows, lines.length);
      },
      async status(stream, status) {
        current = stream;
        await sink.status(stream, status);
        if (status !== "started") endedCount += 1;
        show();
      },
    }),
  };
}

function waitingText(untilMs: number, reason: "rate_limit" | "retry"): string {
  const time = new Date(untilMs).toTimeString().slice(0, 8);
  return reason === "rate_limit"
    ? `waiting for rate limit until ${time}`
    : `trying again at ${time}`;
}

export const formatCount = (count: number) => Math.round(count).toLocaleString("en-US");

/** Megabytes as networks and disks count them: 10^6. */
export function formatBytes(bytes: number): string {
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

export function formatDuration(durationMs: number): string {
  const seconds = durationMs / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
}
