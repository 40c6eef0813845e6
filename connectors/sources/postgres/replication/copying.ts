/** The first copy of a table: range by range along its key, none of them from an old snapshot. */
import { checkpoint, type Output, type SelectedStream } from "svc-connectors";
import type { Session } from "../api.ts";
import { type ChangesState, type RangeOf, readTable } from "../reading.ts";
import type { PostgresContext } from "../spec.ts";
import { parseLsn } from "./lsn.ts";
import type { CurrentMoment } from "./moment.ts";
import { addedColumns } from "./settings.ts";

/** How long a range is to take, by how fast the last one was read. */
const rangeMs = 10_000;
/** A range is not read from a snapshot of this age. */
const maxSnapshotMs = 20_000;

/**
 * The rows of a table, each as it was at one of the moments. All have the place in the log where
 * their changes begin: what the log has told since then is newer, or what they have already.
 * @param base the state that is saved with the rows
 */
export async function* copyTable(
  ctx: PostgresContext,
  session: Session,
  stream: SelectedStream,
  base: ChangesState,
  current: CurrentMoment,
): AsyncGenerator<Output<ChangesState>> {
  const whole = { ...stream, syncMode: "full_refresh" as const };
  const added = addedColumns(parseLsn(base.lsn));
  const { clock, config } = ctx;
  let { rows } = base;
  let nextRows = config.page_size;
  for (let isOver = false; !isOver; ) {
    if (clock.now() - current.takenAt > maxSnapshotMs) await current.renew(session);
    const { snapshot } = current.get();
    const begun = clock.now();
    let rowCount = 0;
    /** Undefined: all that are left. */
    let maxRows: number | undefined;
    const rangeOf: RangeOf = async (select) => {
      // A table that the server would have to sort for each range is read at once.
      const isSorted = rows !== undefined && (await needsSorting(session, select));
      maxRows = isSorted ? undefined : nextRows;
      return maxRows;
    };
    for await (const output of readTable(ctx, session, whole, rows, {
      snapshot,
      addedColumns: added,
      rangeOf,
    })) {
      if (output.type === "batch") rowCount += output.batch.rowCount;
      if (output.type !== "checkpoint") yield output;
      else if (output.state.mode === "full_refresh") {
        rows = output.state;
        yield checkpoint({ ...base, rows });
      }
    }
    isOver = maxRows === undefined || rowCount < maxRows;
    const tookMs = Math.max(1, clock.now() - begun);
    nextRows = Math.max(config.page_size, Math.round((rowCount * rangeMs) / tookMs));
  }
}

interface PlanNode {
  readonly "Node Type": string;
  readonly Plans?: readonly PlanNode[];
}

/** Whether the server would sort the rows rather than go along an index. */
async function needsSorting({ client }: Session, select: string): Promise<boolean> {
  const { rows } = await client.query<{ "QUERY PLAN": readonly { readonly Plan: PlanNode }[] }>(
    `EXPLAIN (FORMAT JSON) ${select}`,
  );
  const sorts = (node: PlanNode): boolean =>
    node["Node Type"] === "Sort" || (node.Plans ?? []).some(sorts);
  return rows.some((row) => row["QUERY PLAN"].some(({ Plan }) => sorts(Plan)));
}
