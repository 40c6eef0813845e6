/**
 * Rows that the source has no more: after the rows of a job, the keys of its streams are read and
 * compared with what the destination has. A stream of which anything was missed deletes nothing.
 */
import {
  type ComparedKeys,
  ConnectorError,
  type DestinationStream,
  type ErrorRecord,
  type Host,
  keysOnly,
  type ReadRequest,
  type ReadSummary,
  reportsDeletes,
  type StreamDescriptor,
  streamLabel,
  type VerbOptions,
  withHashedFields,
} from "svc-connectors/host";
import type { JobAttempt } from "../contract/job.ts";
import { descriptorOf } from "../pipelines/selection.ts";
import type { SyncParts } from "./sync-parts.ts";

/** The result of comparing keys. */
export interface Comparison {
  readonly isCancelled: boolean;
  /** Streams of which nothing was deleted. */
  readonly failures: readonly ComparisonFailure[];
}

export interface ComparisonFailure {
  readonly stream: StreamDescriptor;
  readonly origin: "source" | "destination";
  readonly error: ErrorRecord;
}

interface ComparisonOptions {
  readonly streams: readonly DestinationStream[];
  /** Of the rows. Undefined: nothing was read. */
  readonly summary: ReadSummary | undefined;
  readonly hashKey: ReadRequest["hashKey"];
  readonly verb: VerbOptions;
}

/** Whether its keys are compared: nobody looks for what the source tells itself. */
export const isFollowed = ({ detectDeletes, configured }: DestinationStream) =>
  detectDeletes !== undefined && !reportsDeletes(configured);

const nothing: Comparison = { isCancelled: false, failures: [] };

/** How the source or the destination fails is a result. */
export async function compareKeys(
  host: Host,
  attempt: JobAttempt,
  parts: SyncParts,
  { streams, summary, hashKey, verb }: ComparisonOptions,
): Promise<Comparison> {
  const complete = new Set(
    summary?.streams.filter(({ status }) => status === "complete").map(({ stream }) => stream),
  );
  // A row that an interrupted read did not see is not gone.
  const followed = streams.filter(
    (one) => isFollowed(one) && complete.has(streamLabel(one.configured.stream)),
  );
  const isCut = attempt.signal.aborted || summary?.status === "cancelled";
  if (followed.length === 0 || isCut) return nothing;
  attempt.log("info", "Keys are compared, to find deleted rows.", { streams: followed.length });
  const compared = new Map<string, ComparedKeys>();
  const failing: Failing = { origin: "destination" };
  let read: ReadSummary | undefined;
  let thrown: ConnectorError | undefined;
  try {
    read = await readKeys(host, attempt, parts, followed, { hashKey, verb, compared, failing });
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error;
    thrown = error;
  }
  const failures = followed.flatMap(({ configured }): ComparisonFailure[] => {
    const stream = descriptorOf(configured.stream);
    const label = streamLabel(stream);
    const refusal = refusalOf(label, compared.get(label));
    if (refusal) return [{ stream, origin: "destination", error: refusal.toRecord(label) }];
    if (compared.has(label)) {
      attempt.progress.status(stream, "complete");
      return [];
    }
    const own = read?.streams.find((one) => one.stream === label)?.error;
    const error = own ?? read?.error ?? (thrown ?? new ConnectorError("INTERNAL")).toRecord(label);
    return [{ stream, origin: failing.origin, error }];
  });
  return { isCancelled: read?.status === "cancelled" || thrown?.code === "CANCELLED", failures };
}

const refusalOf = (label: string, compared: ComparedKeys | undefined) =>
  compared?.refusal === undefined
    ? undefined
    : new ConnectorError("DELETES_REFUSED", { stream: label, reason: compared.refusal });

interface Failing {
  origin: ComparisonFailure["origin"];
}

interface KeyOptions extends Pick<ComparisonOptions, "hashKey" | "verb"> {
  readonly compared: Map<string, ComparedKeys>;
  readonly failing: Failing;
}

async function readKeys(
  host: Host,
  attempt: JobAttempt,
  { source, destination, pipeline }: SyncParts,
  followed: readonly DestinationStream[],
  { hashKey, verb, compared, failing }: KeyOptions,
): Promise<ReadSummary> {
  const { services, job, fence } = attempt;
  const { reference, config, options } = destination;
  await using opened = await services.destinations.compareKeys(
    reference,
    config,
    {
      owner: pipeline.connection_id,
      jobId: job.id,
      fence,
      streams: followed.map((one) => ({ ...one, configured: withHashedFields(one.configured) })),
      isConfirmed: (job.options as { confirm_deletes?: boolean }).confirm_deletes === true,
      onCompared(one) {
        compared.set(streamLabel(one.stream), one);
        reportCompared(attempt, one);
      },
    },
    { ...options, onEvent: verb.onEvent },
  );
  failing.origin = "source";
  const { sink } = opened;
  const ofDestination = async (work: Promise<void>): Promise<void> => {
    try {
      await work;
    } catch (error) {
      failing.origin = "destination";
      throw error;
    }
  };
  const { writeBatch, write } = sink;
  try {
    const catalog = { streams: followed.map(({ configured }) => keysOnly(configured)) };
    const request = { config: source.config, catalog, state: [], hashKey };
    return await host.read(
      source.reference,
      request,
      {
        ...sink,
        ...(write && {
          write: (stream, lines, rowCount) =>
            ofDestination(write.call(sink, stream, lines, rowCount)),
        }),
        ...(writeBatch && {
          writeBatch: (stream, batch) => ofDestination(writeBatch.call(sink, stream, batch)),
        }),
        status: (stream, status) => ofDestination(sink.status(stream, status)),
      },
      verb,
    );
  } finally {
    await sink.close().catch(() => undefined);
  }
}

function reportCompared(
  attempt: JobAttempt,
  { stream, deletedCount, returnedCount }: ComparedKeys,
): void {
  attempt.progress.add(stream, { deleted: deletedCount });
  const of = { stream: streamLabel(stream) };
  if (deletedCount > 0)
    attempt.log("info", "Rows that the source has no more were marked or removed.", {
      ...of,
      rows: deletedCount,
    });
  if (returnedCount > 0)
    attempt.log("info", "Rows that the source has again are not marked any more.", {
      ...of,
      rows: returnedCount,
    });
}
