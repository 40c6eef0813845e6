/** Streams and scripts as the control layer and a read make them. */
import type { JsonValue } from "svc-connectors";
import type { DestinationStream, DestinationSyncMode, StreamDescriptor } from "svc-connectors/host";
import type { Line, RowForm, Script, Step } from "./contract.ts";

export interface Described {
  readonly name: string;
  readonly table?: string | undefined;
  readonly schema?: string | undefined;
  readonly mode?: "full_refresh" | "incremental" | undefined;
  readonly into?: DestinationSyncMode | undefined;
  readonly key?: readonly string[] | undefined;
  readonly cursor?: string | undefined;
  readonly isResumable?: boolean | undefined;
  readonly isRestart?: boolean | undefined;
}

export type Properties = { readonly [property: string]: object };

export const integer = { type: "integer" } as const;
export const text = { type: "string" } as const;

/** Incremental and appended where nothing else is said. */
export function describeStream(properties: Properties, described: Described): DestinationStream {
  const {
    name,
    table = `_svc_${name}`,
    schema,
    mode = "incremental",
    into = "append",
    key = [],
    cursor,
  } = described;
  return {
    configured: {
      stream: {
        name,
        json_schema: { type: "object", properties: properties as never },
        supported_sync_modes: ["full_refresh", "incremental"],
        source_defined_cursor: false,
        default_cursor_field: [],
        source_defined_primary_key: key.map((property) => [property]),
        is_resumable: described.isResumable ?? false,
      },
      sync_mode: mode,
      destination_sync_mode: into,
      ...(cursor === undefined ? {} : { cursor_field: [cursor] }),
    },
    table,
    schema,
    isRestart: described.isRestart,
  };
}

export const descriptorOf = ({ configured: { stream } }: DestinationStream): StreamDescriptor =>
  stream.namespace === undefined
    ? { name: stream.name }
    : { name: stream.name, namespace: stream.namespace };

export const rowsOf = (stream: number, lines: readonly Line[]): Step => ({
  do: "rows",
  stream,
  lines: lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))),
});

/** One batch and the checkpoint that covers it. */
export interface Batch {
  readonly lines: readonly Line[];
  readonly state: JsonValue;
}

/** A stream from its start to its end, a checkpoint after each batch. */
export function wholeStream(stream: number, batches: readonly Batch[]): readonly Step[] {
  return [
    { do: "start", stream },
    ...batches.flatMap(({ lines, state }): readonly Step[] => [
      rowsOf(stream, lines),
      { do: "checkpoint", stream, state },
    ]),
    { do: "complete", stream },
  ];
}

/** One run over these streams, each with its batches of rows; states are made up. */
export function scriptOf(
  command: {
    readonly owner: string;
    readonly fence: number;
    readonly form?: RowForm | undefined;
  },
  streams: readonly {
    readonly stream: DestinationStream;
    readonly batches: readonly (readonly Line[])[];
  }[],
): Script {
  const { owner, fence, form } = command;
  const state = (batch: number) => ({ position: fence * 1_000 + batch });
  return {
    command: {
      ...{ owner, fence, form },
      jobId: `job_${fence}`,
      streams: streams.map(({ stream }) => stream),
    },
    steps: streams.flatMap(({ batches }, index) =>
      wholeStream(
        index,
        batches.map((lines, batch) => ({ lines, state: state(batch) })),
      ),
    ),
  };
}
