import type { ConfiguredStream } from "../contract/catalog.ts";
import { ConnectorError } from "../contract/errors.ts";
import {
  type HostEvent,
  maxParallelStreams,
  type ReadRequest,
  type ReadSummary,
} from "../contract/host.ts";
import type { Sink } from "../contract/sink.ts";
import { configValue } from "../egress/config-field.ts";
import { sanitizeText } from "../filter/text.ts";
import { withHashedFields } from "../spec/hashed-fields.ts";
import { parseSelection } from "../spec/selection.ts";
import type { StreamRequest } from "../wire/verb-request.ts";
import { withSchemas } from "./catalog-schemas.ts";
import { shareOut } from "./lanes.ts";
import { createReadOutput, type ReadOutput } from "./read-output.ts";
import { summarize } from "./read-summary.ts";
import type { Run } from "./run.ts";

/**
 * Reads the selected streams into the sink: every frame of rows passes the secret filter, every
 * state too, in the worker's order. Several workers share the streams when that was asked for.
 * @throws CATALOG_INVALID, STREAM_UNKNOWN, SYNC_MODE_UNSUPPORTED, STATE_INVALID, TOO_MANY_TABLES
 * before anything is read
 */
export async function read(
  run: Run,
  request: ReadRequest,
  sink: Sink,
  emit: (event: HostEvent) => void,
): Promise<ReadSummary> {
  const requests = parseSelection(
    run.manifest,
    await withSchemas(run, request.catalog),
    request.state ?? [],
    request.isIncrementalOptional
      ? (stream, reason) =>
          emit({
            type: "log",
            level: "warn",
            message: "The stream cannot be read incrementally and is read whole.",
            fields: { stream: sanitizeText(stream, run.secrets), reason },
          })
      : undefined,
  );
  const output = createReadOutput(run, requests, request.hashKey, sink, emit);
  let failure: ConnectorError | undefined;
  try {
    await sink.open(requests.map(toConfiguredStream));
    failure = await readStreams(run, output, {
      parallelStreams: hasOneReader(run) ? 1 : (request.parallelStreams ?? 1),
      isPart: request.isPart,
      waitMs: request.waitMs,
    });
  } catch (error) {
    failure = run.sanitizeError(error);
  } finally {
    await sink.close().catch((error: unknown) => {
      failure ??= run.sanitizeError(error);
    });
  }
  for (const progress of output.streams)
    progress.unsaidCount += sink.nulledCount?.(progress.request.stream) ?? 0;
  return summarize(run, output, failure);
}

/** A slot of a database gives its log of changes to one reader, for all streams together. */
const hasOneReader = ({ manifest: { egress }, config }: Run) =>
  egress.kind === "postgres" &&
  egress.replicationSlot !== undefined &&
  configValue(config.whole, egress.replicationSlot) !== undefined;

/**
 * Reads with so many workers at a time. One that fails ends its streams; the others come to the end
 * of theirs, and none begins with more. Gives the first failure.
 */
async function readStreams(
  run: Run,
  { streams, receive }: ReadOutput,
  {
    parallelStreams,
    isPart,
    waitMs,
  }: { readonly parallelStreams: number } & Pick<ReadRequest, "isPart" | "waitMs">,
): Promise<ConnectorError | undefined> {
  const laneCount = Math.max(1, Math.min(parallelStreams, maxParallelStreams, streams.length));
  const nextShare = shareOut(streams, laneCount);
  let failure: ConnectorError | undefined;
  // Of several workers none sees all streams of the run.
  const isShared = isPart === true || laneCount > 1;
  const readLane = async () => {
    for (let share = nextShare(); share && !failure; share = nextShare()) {
      try {
        const selection = share.map(({ request }) => request);
        await run.execute({ verb: "read", selection, isPart: isShared, waitMs }, receive(share));
        if (share.some(({ status, error }) => status === "incomplete" && !error))
          throw new ConnectorError("CONNECTOR_PROTOCOL", {
            problem: "it ended before its streams did",
          });
      } catch (error) {
        const own = run.sanitizeError(error);
        failure ??= own;
        const open = share.find(({ status, error }) => status === "incomplete" && !error);
        if (open) open.error = own;
      }
    }
  };
  await Promise.all(Array.from({ length: laneCount }, readLane));
  return failure;
}

function toConfiguredStream({
  stream,
  syncMode,
  cursorField,
  selectedFields,
  hashedFields,
  rowFilter,
}: StreamRequest): ConfiguredStream {
  return withHashedFields({
    stream,
    sync_mode: syncMode,
    ...(cursorField === undefined ? {} : { cursor_field: [cursorField] }),
    ...(selectedFields === undefined ? {} : { selected_fields: selectedFields }),
    ...(hashedFields === undefined ? {} : { hashed_fields: hashedFields }),
    ...(rowFilter === undefined ? {} : { row_filter: rowFilter }),
  });
}
