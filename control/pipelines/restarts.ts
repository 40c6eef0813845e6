import { isSame } from "./modes.ts";
import { type AgreedStream, identityOf } from "./selection.ts";
import { type TableNaming, tableOf } from "./table-names.ts";

/** Streams and how their tables are called. */
export interface PlacedStreams {
  readonly agreed: readonly AgreedStream[];
  readonly naming: TableNaming;
}

/**
 * The streams of `after`, those marked that are to be read from the beginning: a state that was
 * saved under another cursor, mode, key or filter says nothing about this one, and another table
 * begins empty.
 */
export function withRestarts(before: PlacedStreams, after: PlacedStreams): readonly AgreedStream[] {
  const earlier = new Map(before.agreed.map((one) => [identityOf(one.stream), one]));
  const placeOf = ({ naming }: PlacedStreams, one: AgreedStream) => [
    tableOf(naming, one.stream),
    one.syncMode,
    one.destinationSyncMode,
    one.cursorField,
    one.primaryKey,
    // Rows in plain never stand beside rows with hashes.
    one.hashedFields?.toSorted() ?? [],
    // Rows that only another filter takes are missing, or are there for good. What is added by each
    // full refresh is a history, which a filter does not rewrite.
    one.syncMode === "full_refresh" && one.destinationSyncMode === "append"
      ? null
      : (one.rowFilter ?? []),
  ];
  return after.agreed.map((one) => {
    const old = earlier.get(identityOf(one.stream));
    const isRestart =
      old !== undefined && (old.isRestart || !isSame(placeOf(before, old), placeOf(after, one)));
    return { ...one, isRestart };
  });
}
