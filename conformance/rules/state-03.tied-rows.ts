/** Reads of tables in which many rows have one cursor value, cut off at every state. */
import type { Lab, StreamFacts } from "../contract/lab.ts";
import type { Observation } from "../contract/observation.ts";
import { copyOnce, tableStreams } from "../derive/database/copies.ts";
import { compareRows, type Difference, outputRows, statesOf } from "../derive/rows/rows.ts";
import { incrementalStreams, readFrom } from "../derive/sweeps/reads.ts";

export interface TiedRead {
  readonly stream: StreamFacts;
  /** "all rows at one changed_at, resumed after message 5". */
  readonly name: string;
  readonly resumed: Observation;
  readonly difference: Difference;
}

/** Cursors that are no part of the key: those that count up have no ties. */
export async function streamsWithTies(lab: Lab): Promise<readonly StreamFacts[]> {
  const tables = new Set(await tableStreams(lab));
  return incrementalStreams(lab).filter(
    (stream) =>
      tables.has(stream) &&
      stream.cursorField !== undefined &&
      !stream.primaryKey.includes(stream.cursorField),
  );
}

export async function tiedReads(lab: Lab, stream: StreamFacts): Promise<readonly TiedRead[]> {
  const { database } = lab;
  if (!database) return [];
  const { sql } = database;
  const [table, column] = [sql.tableName(stream.stream), sql.identifier(stream.cursorField ?? "")];
  const tie = `${sql.statements.unchecked} UPDATE ${table} SET ${column} = (SELECT latest FROM (SELECT max(${column}) AS latest FROM ${table}) AS found);`;
  const on = await copyOnce(lab, `with ties in ${stream.label}`, tie);
  const whole = await readFrom(lab, stream, undefined, { database: { on } });
  const expected = outputRows(whole.messages, stream);
  const reads: TiedRead[] = [];
  for (const { index, state } of statesOf(whole, stream.label)) {
    const resumed = await readFrom(lab, stream, state, { database: { on } });
    const covered = outputRows(whole.messages.slice(0, index), stream);
    const difference = compareRows(expected, [...covered, ...outputRows(resumed.messages, stream)]);
    reads.push({
      stream,
      name: `all rows at one ${stream.cursorField}, resumed from the state of message ${index + 1}`,
      resumed,
      difference,
    });
  }
  return reads;
}
