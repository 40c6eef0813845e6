import type { DuckDBConnection } from "@duckdb/node-api";
import type { JsonValue } from "svc-connectors";
import {
  type createCommitPace,
  type DestinationStream,
  destinationModeOf,
  type NulledCounts,
  streamKey,
  type TypesByName,
  type WriteCommand,
  type WritePlan,
} from "svc-connectors/destination";
import type { Column } from "../duckdb/columns.ts";
import type { Database } from "../duckdb/database.ts";
import { duckdbFailed } from "../duckdb/failures.ts";
import { type MergeColumns, mergedBy } from "../duckdb/merge.ts";
import type { Stage } from "../duckdb/stage.ts";
import type { Manifest, OpenManifest, SavedFiles, SavedTable } from "./manifest.ts";
import type { Lake } from "./store.ts";

/** An open writer, as its parts share it. */
export interface Writing {
  readonly lake: Lake;
  readonly manifest: OpenManifest;
  /** Private, for rows on their way. */
  readonly database: Database;
  readonly connection: DuckDBConnection;
  /** By stream. */
  readonly tables: Map<string, SavedTable>;
  readonly command: WriteCommand;
  readonly pace: ReturnType<typeof createCommitPace>;
  /** Values of rows that became files. */
  readonly nulled: NulledCounts;
}

/** A stream that is being written. */
export interface OpenStream {
  readonly ordered: DestinationStream;
  readonly plan: WritePlan;
  readonly columns: Column[];
  readonly merge: MergeColumns | undefined;
  readonly stage: Stage;
  /** Types of the table that people see, or of the schema; undefined before the first row. */
  seenTypes: TypesByName | undefined;
  saved: SavedTable;
  rowCount: number;
  /** The state of the last checkpoint, and the rows so far; undefined: none came. */
  covered: Coverage | undefined;
}

export interface Coverage {
  readonly rowCount: number;
  readonly state: JsonValue | undefined;
}

/** The description of a copy, without its files. */
export type Description = Omit<SavedFiles, "columns" | "files" | "tombstones">;

export function describe(
  { ordered: { configured }, merge }: OpenStream,
  { rowCount, state }: Coverage,
): Description {
  return {
    mode: configured.sync_mode,
    destinationMode: destinationModeOf(configured),
    rowCount,
    ...(state === undefined ? {} : { state }),
    ...(merge?.isKept ? { deduplicatedBy: mergedBy(merge) } : {}),
  };
}

/**
 * Where nothing goes on from what is there, rows may come in before a checkpoint covers them: the
 * stage stays small.
 */
export function isFree({ plan, covered, ordered: { configured } }: OpenStream): boolean {
  const isAside = plan.place === "next" && !plan.isResumed;
  return (
    covered === undefined &&
    (isAside || (configured.sync_mode === "full_refresh" && plan.state === undefined))
  );
}

export const nowText = ({ clock }: Pick<Lake, "clock">): string =>
  new Date(clock.now()).toISOString();

/** Commits another version of a table: files that are in it no more are removed later. */
export async function commitTable(
  { manifest, tables, lake }: Writing,
  before: SavedTable,
  after: SavedTable,
): Promise<void> {
  const kept = new Set(pathsOf(after));
  const at = nowText(lake);
  const gone = pathsOf(before)
    .filter((path) => !kept.has(path))
    .map((path) => ({ path, at }));
  const key = streamKey(after.stream);
  const isSame = (one: SavedTable) => one.schema === after.schema && one.name === after.name;
  await manifest.commit((now: Manifest) => ({
    tables: [...now.tables.filter((one) => !isSame(one)), after],
    replaced: [...now.replaced, ...gone],
  }));
  tables.set(key, after);
}

export const pathsOf = ({ current, next }: SavedTable): string[] =>
  [current, next].flatMap((copy) => [
    ...(copy?.files ?? []).map(({ path }) => path),
    ...(copy?.tombstones === undefined ? [] : [copy.tombstones]),
  ]);

/** Whatever goes wrong in a writer that was fenced off goes wrong for that reason. */
export async function working<T>(
  { manifest }: Pick<Writing, "manifest">,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await manifest.checkFence();
    throw duckdbFailed(error);
  }
}
