import { batchBytes } from "../contract/batch.ts";
import { type StreamDescriptor, streamKey, streamLabel } from "../contract/catalog.ts";
import type { Clock } from "../contract/clock.ts";
import type { HostEvent } from "../contract/host.ts";
import type { Sink } from "../contract/sink.ts";
import { eventLevel } from "../sinks/airbyte.ts";
import { createForecast, type ExpectedRows } from "./forecast.ts";
import { printable } from "./usage.ts";
import { describeWarning } from "./warnings.ts";

/** Progress is shown this often: a terminal's line is redrawn, elsewhere a new line is written. */
const showEveryMs = { terminal: 200, log: 10_000 } as const;

/** Different warnings that are shown; a connector may write them without end. */
const maxWarnings = 1_000;

export interface Progress {
  /** The sink, counted. @param expected how many rows streams have, where that is known */
  watch(sink: Sink, expected?: ExpectedRows): Sink;
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
 * Shows how a read goes on: rows, MB/s, the current stream, about how much is left, and what is
 * being waited for. Nothing is shown twice within its interval.
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
  /** Those that are read, the one that began last at the end. */
  let current: StreamDescriptor[] = [];
  /** The one that came to its end last. */
  let ended: StreamDescriptor | undefined;
  let waiting = "";
  let isDrawn = false;
  let forecast = createForecast([]);
  const reported = new Set<string>();

  function text(): string {
    const latest = current.at(-1) ?? ended;
    const { percent, total, restMs } = forecast.look(latest, clock.now() - startedMs);
    const others = current.length > 1 ? ` and ${current.length - 1} more` : "";
    const name = latest ? `${printable(streamLabel(latest), 40)}${others}` : "starting";
    const of = total === undefined ? "" : ` of about ${formatCount(total)}`;
    const parts = [
      percent === undefined ? name : `${name} ${percent} %`,
      `${formatCount(rowCount)}${of} rows`,
      `${formatBytes(bytesPerSecond)}/s`,
      `${Math.min(endedCount + 1, Math.max(streamCount, 1))} of ${streamCount || "?"} streams`,
      formatDuration(clock.now() - startedMs),
      ...(restMs === undefined ? [] : [`about ${formatDuration(restMs)} left`]),
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

  function count(stream: StreamDescriptor, rows: number, bytes: number): void {
    forecast.count(stream, rows);
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
        const line = describeWarning(event);
        if (reported.has(line) || reported.size >= maxWarnings) return;
        reported.add(line);
        end();
        write(`${line}\n`);
      }
    },
    watch({ writeBatch, write: writeLines, ...sink }, expected = []) {
      forecast = createForecast(expected);
      return {
        ...sink,
        ...(writeBatch && {
          async writeBatch(stream, batch) {
            await writeBatch(stream, batch);
            count(stream, batch.rowCount, batchBytes(batch));
          },
        }),
        async open(streams) {
          streamCount = streams.length;
          await sink.open(streams);
        },
        ...(writeLines && {
          async write(stream, lines, rows) {
            await writeLines(stream, lines, rows);
            count(stream, rows, lines.length);
          },
        }),
        async status(stream, status) {
          if (status === "started") current.push(stream);
          await sink.status(stream, status);
          if (status !== "started") {
            const key = streamKey(stream);
            current = current.filter((one) => streamKey(one) !== key);
            ended = stream;
            endedCount += 1;
            forecast.end(stream);
          }
          show();
        },
      };
    },
  };
}

function waitingText(untilMs: number, reason: "rate_limit" | "retry"): string {
  const time = new Date(untilMs).toTimeString().slice(0, 8);
  return reason === "rate_limit"
    ? `waiting for rate limit until ${time}`
    : `trying again at ${time}`;
}

/**
 * With commas; the tables of languages that would write them take longer to load than a read of
 * some rows.
 */
export const formatCount = (count: number): string =>
  String(Math.round(count)).replace(/\B(?=(?:\d{3})+$)/g, ",");

/** Megabytes as networks and disks count them: 10^6. */
export function formatBytes(bytes: number): string {
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

export function formatDuration(durationMs: number): string {
  const seconds = durationMs / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
}
