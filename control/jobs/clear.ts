/**
 * Clearing: the tables of streams are emptied, and their states go. A table takes the place of
 * another, an empty one, as when a full refresh has read nothing: at once, fence in hand, and as
 * often as it is tried.
 */
import { ConnectorError, type DestinationStream, streamLabel } from "svc-connectors/host";
import type { AttemptResult, JobAttempt } from "../contract/job.ts";
import { lockPipeline } from "../pipelines/rows.ts";
import { identityOf, jobStreams } from "../pipelines/selection.ts";
import { loadAgreed } from "../pipelines/streams.ts";
import { namingOf } from "../pipelines/table-names.ts";
import { toAttemptResult } from "./failure.ts";
import { openDestinationPart, type SyncParts } from "./sync-parts.ts";
import { choiceOf } from "./sync-streams.ts";

/** One attempt of a job that clears and does nothing else. */
export async function runClear(attempt: JobAttempt): Promise<AttemptResult> {
  const { job, progress, services } = attempt;
  try {
    const parts = await openDestinationPart(attempt);
    const { streams: chosen } = choiceOf(job.options);
    const { streams } = await services.database.db.transaction().execute(async (tx) => {
      const pipeline = await lockPipeline(tx, job.workspace_id, parts.pipeline.id);
      const agreed = await loadAgreed(tx, pipeline.id);
      return jobStreams(namingOf(pipeline), agreed, chosen ? { streams: chosen } : {});
    });
    progress.expect(streams.map(({ configured }) => configured.stream));
    await clearStreams(attempt, parts, streams, ({ configured }) =>
      progress.status(configured.stream, "complete"),
    );
    const there = new Set(streams.map(({ configured }) => identityOf(configured.stream)));
    const gone = chosen?.find((stream) => !there.has(identityOf(stream)));
    if (gone) throw new ConnectorError("STREAM_UNKNOWN", { stream: streamLabel(gone) });
    return { status: "succeeded" };
  } catch (error) {
    return toAttemptResult(error, "destination", new Date(services.clock.now()));
  }
}

/**
 * Empties the tables of streams. People see the old rows of a table or none, never some.
 * @throws CANCELLED between two streams, and as the destination fails
 */
export async function clearStreams(
  { services, job, fence, signal, log }: JobAttempt,
  {
    pipeline,
    destination: { reference, config, options },
  }: Pick<SyncParts, "pipeline" | "destination">,
  streams: readonly DestinationStream[],
  onCleared: (stream: DestinationStream) => void = () => undefined,
): Promise<void> {
  if (streams.length === 0) return;
  const emptied = streams.map(toEmptied);
  const command = { owner: pipeline.connection_id, jobId: job.id, fence, streams: emptied };
  await using opened = await services.destinations.write(reference, config, command, options);
  const { sink } = opened;
  try {
    await sink.open(emptied.map(({ configured }) => configured));
    for (const stream of streams) {
      if (signal.aborted) throw new ConnectorError("CANCELLED");
      await sink.status(stream.configured.stream, "started");
      await sink.status(stream.configured.stream, "complete");
      onCleared(stream);
    }
  } finally {
    await sink.close();
  }
  log("info", "Tables are emptied.", { streams: streams.length });
}

/** A full refresh that takes the place of all that is there; it will bring no row. */
const toEmptied = ({ configured, ...stream }: DestinationStream): DestinationStream => ({
  ...stream,
  isRestart: true,
  configured: { ...configured, sync_mode: "full_refresh", destination_sync_mode: "overwrite" },
});
