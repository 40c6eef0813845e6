import { type LineFormat, type Sink, type StreamStatus, streamLabel } from "svc-connectors/host";

export interface MemorySink extends Omit<Sink, "write">, Required<Pick<Sink, "write">> {
  /** Everything that arrived, in order. */
  readonly events: (
    | {
        readonly type: "records";
        readonly stream: string;
        readonly text: string;
        readonly rowCount: number;
      }
    | {
        readonly type: "checkpoint";
        readonly stream: string;
        readonly state: unknown;
        readonly rowCount: number;
      }
    | { readonly type: "status"; readonly stream: string; readonly status: StreamStatus }
  )[];
  /** The rows of a stream, parsed; of every stream when none is named. */
  rows(stream?: string): Record<string, unknown>[];
  /** The last state of a stream. */
  state(stream: string): unknown;
  /** All text that left. */
  text(): string;
}

/** A sink that keeps what it gets. */
export function createMemorySink(lineFormat: LineFormat = "rows"): MemorySink {
  const events: MemorySink["events"] = [];
  return {
    lineFormat,
    events,
    async open() {},
    async write(stream, lines, rowCount) {
      events.push({
        type: "records",
        stream: streamLabel(stream),
        text: lines.toString(),
        rowCount,
      });
    },
    async checkpoint(stream, state, rowCount) {
      events.push({ type: "checkpoint", stream: streamLabel(stream), state, rowCount });
    },
    async status(stream, status) {
      events.push({ type: "status", stream: streamLabel(stream), status });
    },
    async close() {},
    rows: (stream) =>
      events.flatMap((event) =>
        event.type === "records" && (stream === undefined || event.stream === stream)
          ? event.text
              .split("\n")
              .slice(0, -1)
              .map((line) => JSON.parse(line) as Record<string, unknown>)
          : [],
      ),
    state: (stream) =>
      events.findLast(
        (event) => event.type === "checkpoint" && event.stream === stream && "state" in event,
      )?.["state" as never],
    text: () => JSON.stringify(events),
  };
}
