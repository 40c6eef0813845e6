/**
 * What the sinks that keep data for people have in common: which copy of a stream a run writes to, when it commits,
 * and how a failure to write is told.
 */
import type { ConfiguredStream, StreamDescriptor, StreamState } from "../contract/catalog.ts";
import type { Clock } from "../contract/clock.ts";
import type { JsonValue } from "../contract/json.ts";
import type { Sink } from "../contract/sink.ts";
import type { SyncMode } from "../contract/stream.ts";
import { ConnectorError } from "../errors.ts";

/** A sink that remembers how far each stream has come. It is locked for other runs until `close`. */
export interface OutputSink extends Sink {
  /** The states from which a run of this selection goes on; give them to the read. Streams without one start from the beginning. */
  savedState(streams: readonly ConfiguredStream[]): StreamState[];
  /** Where people find the rows of a stream: a file name in the folder, or the quoted name of a table. Empty while there are none to see. */
  location(stream: StreamDescriptor): string;
}

export interface OutputOptions {
  /** Output of one connector is never mixed with another's. */
  readonly connectorId: string;
  readonly clock: Clock;
  /** About how many streams there will be. A new DuckDB file is laid out for it. */
  readonly streamCount?: number;
}

/** The stream that a selection is about, without what the user chose. */
export function descriptorOf({ stream }: ConfiguredStream): StreamDescriptor {
  return stream.namespace === undefined ? { name: stream.name } : { name: stream.name, namespace: stream.namespace };
}

/** Equal for the same stream only. */
export const streamKey = ({ namespace, name }: StreamDescriptor) => JSON.stringify([namespace ?? "", name]);

/** One copy of a stream's rows and what is known of it. */
export interface Generation {
  readonly mode: SyncMode;
  readonly rowCount: number;
  /** The last checkpoint that the rows go with. */
  readonly state?: JsonValue;
}

/** `current` is what people see; `next` is built aside until it is complete. */
export interface Generations {
  readonly current?: Generation;
  readonly next?: Generation;
}

/** `append`: add to what people see · `resume`: go on with the copy aside · `restart`: begin a new copy aside. */
export type WritePlan = "append" | "resume" | "restart";

/**
 * Decides where a run writes. A full refresh, and an incremental read that starts over, are built aside so that people see
 * either the old rows or the new ones; an incremental read with a saved state adds to the rows that the state goes with.
 */
export function planWrite({ stream, sync_mode }: ConfiguredStream, { current, next }: Generations): WritePlan {
  const canResume = next !== undefined && next.mode === sync_mode && isPosition(next.state);
  if (sync_mode === "full_refresh") return canResume && stream.is_resumable ? "resume" : "restart";
  if (canResume) return "resume";
  const isFirst = current === undefined || current.rowCount === 0;
  return isFirst || (current.mode === "incremental" && isPosition(current.state)) ? "append" : "restart";
}

/** The state to resume from, if this plan has one. */
export function plannedState(plan: WritePlan, { current, next }: Generations): JsonValue | undefined {
  const generation = plan === "append" ? current : plan === "resume" ? next : undefined;
  if (plan === "append" && generation?.mode !== "incremental") return undefined;
  return isPosition(generation?.state) ? generation?.state : undefined;
}

/** False for the states that mean "from the beginning". */
function isPosition(state: JsonValue | undefined): boolean {
  if (state === undefined || state === null) return false;
  return typeof state !== "object" || Array.isArray(state) || Object.keys(state).length > 0;
}

/** A commit costs a disk flush, so checkpoints are gathered: a killed run repeats at most this much. */
const commitEvery = { rows: 100_000, checkpointMs: 5_000, streamEndMs: 250 } as const;

/** Says when the next commit is due. */
export function createCommitPace(clock: Clock) {
  let rowCount = 0;
  let committedMs = Number.NEGATIVE_INFINITY;
  return {
    add(rows: number): void {
      rowCount += rows;
    },
    isDue(moment: "checkpoint" | "streamEnd"): boolean {
      const waitMs = moment === "checkpoint" ? commitEvery.checkpointMs : commitEvery.streamEndMs;
      return rowCount >= commitEvery.rows || clock.now() - committedMs >= waitMs;
    },
    committed(): void {
      rowCount = 0;
      committedMs = clock.now();
    },
    get isLarge(): boolean {
      return rowCount >= commitEvery.rows;
    },
  };
}

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EROFS: "the file system is read-only",
  EACCES: "no permission",
  EPERM: "no permission",
  EISDIR: "it is a folder, not a file",
  ENOTDIR: "a part of its path is not a folder",
  EEXIST: "a file is in the place of the folder",
  ENOENT: "its folder does not exist",
  ENAMETOOLONG: "its name is too long",
  EMFILE: "too many open files",
  ENFILE: "too many open files",
  EFBIG: "the file would be too large",
  EIO: "the disk failed",
  ELOOP: "its path goes round in circles",
  EBUSY: "it is in use",
};

/** Told when another run holds the output. */
export const lockedReason = "another run is writing to it";

/** OUTPUT_FAILED for any failure to write, with a reason from a closed list. */
export function outputFailed(error: unknown): ConnectorError {
  if (error instanceof ConnectorError) return error;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return new ConnectorError("OUTPUT_FAILED", { reason: reasons[code] ?? "the operating system refused it" });
}

/** Runs `write` and turns whatever it throws into OUTPUT_FAILED. */
export async function writing<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw outputFailed(error);
  }
}

/** Refuses to mix the rows of two connectors. @throws OUTPUT_FAILED */
export function requireSameConnector(saved: string | undefined, connectorId: string): void {
  if (saved === undefined || saved === connectorId) return;
  throw new ConnectorError("OUTPUT_FAILED", { reason: `it holds the output of ${saved}; choose another place` });
}
