import { streamLabel } from "../contract/catalog.ts";
import type { ConnectorError } from "../contract/errors.ts";
import type { ReadSummary, StreamSummary } from "../contract/host.ts";
import type { ReadOutput, StreamProgress } from "./read-output.ts";
import type { Run } from "./run.ts";

/** The summary of a read. @param failure that of the run as a whole */
export function summarize(
  run: Run,
  { streams, byteCount }: ReadOutput,
  failure: ConnectorError | undefined,
): ReadSummary {
  const error = failure ?? streams.find((stream) => stream.error)?.error;
  const sum = (pick: (stream: StreamProgress) => number) =>
    streams.reduce((total, stream) => total + pick(stream), 0);
  return {
    status: error?.code === "CANCELLED" ? "cancelled" : error ? "failed" : "succeeded",
    recordCount: sum(({ recordCount }) => recordCount),
    byteCount,
    requestCount: run.broker.requestCount,
    nulledCount: sum(({ nulledCount, unsaidCount }) => nulledCount + unsaidCount),
    redactedCount: run.secrets.hitCount,
    streams: streams.map(toStreamSummary),
    ...(error ? { error: error.toRecord() } : {}),
  };
}

function toStreamSummary({
  request,
  status,
  recordCount,
  nulledCount,
  unsaidCount,
  error,
}: StreamProgress): StreamSummary {
  const stream = streamLabel(request.stream);
  return {
    stream,
    status,
    recordCount,
    nulledCount: nulledCount + unsaidCount,
    ...(error ? { error: error.toRecord(stream) } : {}),
  };
}
