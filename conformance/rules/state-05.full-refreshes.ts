/** Full refreshes with a row that has no cursor value: no saved time makes one known there. */
import type { Lab } from "../contract/lab.ts";
import type { ProviderChanges } from "../contract/learned.ts";
import type { Observation } from "../contract/observation.ts";
import type { CursorColumn } from "../derive/rows/cursors.ts";
import { reportsSkip } from "../derive/rows/losses.ts";
import { outputRows } from "../derive/rows/rows.ts";
import { schemaAt, typesOf } from "../derive/spec/stream-schema.ts";
import { isBeyondRecordings } from "../derive/sweeps/reads.ts";
import { type Oddity, withOddRows, withOrdinary } from "./state-05.odd-rows.ts";

export interface FullRefresh {
  readonly name: string;
  readonly observation: Observation;
  /** Keys of the rows that a row with a cursor value becomes, and this one does not. */
  readonly missing: readonly string[];
}

const undated: readonly (readonly [string, Oddity])[] = [
  ["a row without a cursor value", { cursor: null }],
  ["a row without the cursor field", "without its cursor field"],
];

/**
 * Of streams whose schema lets the cursor be null. A text says why nothing could be seen: a typed
 * refusal hides nothing.
 */
export async function undatedInFull(
  lab: Lab,
  column: CursorColumn,
): Promise<readonly (FullRefresh | string)[]> {
  const { stream } = column;
  if (!canBeNull(column) || !stream.stream.supported_sync_modes.includes("full_refresh")) return [];
  const command = lab.readCommand([stream], { syncMode: "full_refresh" });
  const readWith = (changes: ProviderChanges) =>
    lab.run(command, { provider: lab.learned.provider(changes) });
  const whole = await lab.undisturbed(command);
  const known = new Set(outputRows(whole.messages, stream).map(({ key }) => key));
  const besides = ({ messages }: Observation) =>
    outputRows(messages, stream).flatMap(({ key }) => (known.has(key) ? [] : [key]));
  const ordinary = await readWith(withOrdinary(column));
  const expected = besides(ordinary);
  if ([whole, ordinary].some(isUnread) || expected.length === 0)
    return [
      "rows without a cursor value, in a full refresh: it does not give a row with one either",
    ];
  const reads: (FullRefresh | string)[] = [];
  for (const [row, oddity] of undated) {
    const name = `${row} comes last, in a full refresh`;
    const odd = withOddRows(column, oddity, "last");
    const observation = await readWith(odd.changes);
    const given = new Set(besides(observation));
    const missing = reportsSkip(observation, whole)
      ? []
      : expected.filter((key) => !given.has(key));
    if (isUnread(observation)) reads.push(`${name}: that read is refused`);
    else if (!odd.isGiven()) reads.push(`${name}: it is not given the row`);
    else reads.push({ name, observation, missing });
  }
  return reads;
}

const isUnread = (read: Observation) =>
  read.outcome.status !== "succeeded" || isBeyondRecordings(read);

/** A cursor that is a part of the key is none to be without. */
function canBeNull({ cursorField, stream }: CursorColumn): boolean {
  const schema = schemaAt(stream.stream.json_schema, [cursorField]);
  return (
    schema !== undefined &&
    typesOf(schema).includes("null") &&
    !stream.primaryKey.includes(cursorField)
  );
}
