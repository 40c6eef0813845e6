/** How a stream ends: its rows get to the table that people see, or it is abandoned. */
import type { JsonValue } from "svc-connectors";
import { destinationModeOf, ownColumns, quoteName } from "svc-connectors/destination";
import { commit, dropNext, isIdle, load, reportCommitted, saveChanged } from "./commit.ts";
import { isTaken } from "./failures.ts";
import { addRows } from "./load.ts";
import { generationOf, type OpenStream } from "./open-stream.ts";
import { noteTypes } from "./seen-types.ts";
import type { SavedGeneration } from "./state.ts";
import { alignTable, readColumns, tableConflict, tableName, widenToTable } from "./tables.ts";
import { moveTombstones } from "./tombstones.ts";
import { saveGenerations, type Writing } from "./writing.ts";

/** Ends a stream that was read to its end. */
export async function complete(writing: Writing, stream: OpenStream): Promise<void> {
  const { saved, ordered, plan } = stream;
  const state = stream.covered?.state ?? saved.generations[plan.place]?.state;
  const kept = ordered.configured.sync_mode === "incremental" ? state : undefined;
  const current = await completions[plan.completion](writing, stream, kept);
  delete saved.generations.next;
  saved.generations.current = current;
  await reportCommitted(writing, stream, kept);
}

type Completion = (
  writing: Writing,
  stream: OpenStream,
  kept: JsonValue | undefined,
) => Promise<SavedGeneration>;

/** Completions by the plan of the stream. */
const completions: Readonly<Record<OpenStream["plan"]["completion"], Completion>> = {
  none: completeInPlace,
  add: completeByAdding,
  swap: completeBySwapping,
};

/** The rows are in the table that people see. */
async function completeInPlace(
  writing: Writing,
  stream: OpenStream,
  kept: JsonValue | undefined,
): Promise<SavedGeneration> {
  const current = generationOf(stream, kept);
  if (await isIdle(writing, stream, { current })) return current;
  await noteTypes(writing, stream);
  await load(writing, stream, stream.target, {
    after: (isChanged) => saveChanged(writing, stream, { current }, isChanged),
  });
  return current;
}

/** The rows are added to those that people see. */
async function completeByAdding(
  writing: Writing,
  stream: OpenStream,
  kept: JsonValue | undefined,
): Promise<SavedGeneration> {
  const { connection, command } = writing;
  const { saved, target, columns } = stream;
  await noteTypes(writing, stream);
  const before = saved.generations.current?.rowCount ?? 0;
  let current = generationOf(stream, kept, before);
  /** The job did this before, and was killed before anybody knew. */
  const dropRepeated = async () => {
    const dropped = await connection.run(`DELETE FROM ${tableName(saved.table)} WHERE ${isOfJob}`, [
      command.jobId,
    ]);
    current = generationOf(stream, kept, before - dropped.rowsChanged);
  };
  if (stream.hasTable)
    await load(writing, stream, target, {
      async after() {
        await dropRepeated();
        await takeOver(writing, stream);
        const tableColumns = await readColumns(connection, saved.table);
        widenToTable(columns, tableColumns);
        await alignTable(connection, saved.table, columns, tableColumns);
        await addRows(connection, target, saved.table, columns);
        await connection.run(`DROP TABLE ${tableName(target)}`);
        await saveCurrent(writing, stream, current);
      },
    });
  // All rows are still staged: no copy aside is needed.
  else
    await load(writing, { ...stream, hasTable: true, tableColumns: undefined }, saved.table, {
      before: dropRepeated,
      after: () => saveCurrent(writing, stream, current),
    });
  return current;
}

/** The rows take the place of those that people see. */
async function completeBySwapping(
  writing: Writing,
  stream: OpenStream,
  kept: JsonValue | undefined,
): Promise<SavedGeneration> {
  const { connection } = writing;
  const { saved, target } = stream;
  await noteTypes(writing, stream);
  const current = generationOf(stream, kept);
  const dropOld = async () => {
    if (saved.generations.current) await connection.run(`DROP TABLE ${tableName(saved.table)}`);
  };
  // All rows are still staged, as of most tables of a large database: no copy aside is needed.
  if (!stream.hasTable)
    await load(writing, stream, saved.table, {
      before: dropOld,
      after: () => saveCurrent(writing, stream, current),
    });
  else
    await load(writing, stream, target, {
      async after() {
        await takeOver(writing, stream);
        await dropOld();
        await connection
          .run(`ALTER TABLE ${tableName(target)} RENAME TO ${quoteName(saved.table.name)}`)
          .catch((error) => {
            throw isTaken(error) ? tableConflict(saved.table) : error;
          });
        await moveTombstones(connection, target, saved.table);
        await saveCurrent(writing, stream, current);
      },
    });
  return current;
}

const isOfJob = `${ownColumns.jobId} = $1`;

/**
 * Gives rows that an earlier job has begun with to this one: a later attempt of it must find all of
 * its rows.
 */
async function takeOver(
  { connection, command: { jobId } }: Writing,
  { plan, ordered, target }: OpenStream,
): Promise<void> {
  if (plan.isResumed && destinationModeOf(ordered.configured) === "append")
    await connection.run(`UPDATE ${tableName(target)} SET ${isOfJob} WHERE NOT ${isOfJob}`, [
      jobId,
    ]);
}

const saveCurrent = (writing: Writing, { saved }: OpenStream, current: SavedGeneration) =>
  saveGenerations(writing, saved, { current });

/** Keeps what the last checkpoint covers; a copy that nothing can resume is removed. */
export async function abandon(writing: Writing, stream: OpenStream): Promise<void> {
  await stream.stage.cutToCovered();
  if (stream.covered) await commit(writing, stream, stream.covered);
  else if (stream.plan.place === "next" && !stream.plan.isResumed && stream.hasTable)
    await dropNext(writing, stream.saved);
}
