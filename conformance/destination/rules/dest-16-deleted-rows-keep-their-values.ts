import type { Random } from "../../contract/random.ts";
import { defineDestinationRule } from "../contract.ts";
import { describeStream, integer, scriptOf } from "../streams.ts";

const properties = {
  id: integer,
  at: { type: ["integer", "null"] },
  n: { type: ["integer", "null"] },
  _ab_cdc_deleted_at: { type: ["string", "null"] },
};

/** One row that arrives. `n` counts arrivals; a deletion has its key and nothing else. */
interface ArrivingRow {
  readonly id: number;
  readonly at: number | null;
  readonly n: number | null;
  readonly _ab_cdc_deleted_at: string | null;
}

interface KeptRow {
  readonly at: number;
  /** Undefined: its deletion is all that is known of it. */
  readonly n?: number | null | undefined;
  readonly isDeleted: boolean;
}

export default defineDestinationRule({
  id: "DEST-16",
  title:
    "append_dedup with detect_deletes soft: a deleted row stays, says when, and has the values of its last change before, however much of that came in one batch.",
  why: "Marked rows are kept for what they were. One that shows the values of an earlier sync, or is missing since it came and went between two, is a history that never was, and depends on when syncs ran.",
  fix: "Merge the newest row that is there before a deletion marks it, also where both come in the same batch.",
  good: "MERGE … of rows that are there; UPDATE … SET deleted_at, cursor FROM deletions",
  bad: "the newest row of each key and batch alone: a deletion has no values",
  async run(lab, report) {
    if (!lab.manifest.syncModes.includes("append_dedup"))
      return report.checked("no append_dedup is promised");
    const place = await lab.place();
    const random = lab.random("DEST-16");
    const { owner, name } = lab.fresh();
    const cases = Array.from({ length: lab.effort(10, 40) }, (_, index) => {
      const hasCursor = index % 4 !== 3;
      const label = `case ${index + 1} (${hasCursor ? "cursor" : "no cursor"})`;
      const described = { name: `${name}_${index}`, into: "append_dedup", key: ["id"] } as const;
      const [stream, again] = [false, true].map((isRestart) => ({
        ...describeStream(properties, {
          ...described,
          ...(hasCursor ? { cursor: "at" } : {}),
          isRestart,
        }),
        detectDeletes: "soft" as const,
      }));
      const isBuiltAnew = index % 8 > 3;
      return {
        label,
        stream,
        again,
        isBuiltAnew,
        hasCursor,
        arrived: [] as ArrivingRow[],
        location: "",
      };
    });
    for (let run = 1; run <= 3; run++) {
      const written = cases.map(({ stream, again, isBuiltAnew, arrived }) => {
        // The rows of the last run are a table of their own, which takes the place of the other.
        const isAnew = isBuiltAnew && run === 3;
        if (isAnew) arrived.length = 0;
        return { stream: isAnew ? again : stream, batches: someBatches(random, arrived) };
      });
      const locations = await place.run(scriptOf({ owner, fence: run }, written as never));
      for (const [index, one] of cases.entries()) one.location = locations[index] ?? "";
    }
    for (const { label, location, arrived, hasCursor } of cases) {
      report.checked(label);
      const expected = modelOf(arrived, hasCursor);
      const found = (await place.rows(location))
        .map(({ id, n, _ab_cdc_deleted_at: at }) => keptText(Number(id), n, at !== null))
        .sort();
      const wrong = [
        ...found.filter((row) => !expected.includes(row)).map((row) => `has ${row}`),
        ...expected.filter((row) => !found.includes(row)).map((row) => `lacks ${row}`),
      ];
      if (wrong.length === 0) continue;
      const key = /key (\d+)/.exec(wrong[0] ?? "")?.[1];
      report.fail(`${label}: the table ${wrong.slice(0, 3).join(", ")}.`, {
        kind: "text",
        title: "What arrived of that key, in order",
        text: arrived
          .filter(({ id }) => String(id) === key)
          .map(
            ({ at, n, _ab_cdc_deleted_at: deleted }) =>
              `${deleted === null ? `row ${n}` : "deleted"}, cursor ${at}`,
          )
          .join("\n"),
      });
    }
  },
});

const keptText = (id: number, n: unknown, isDeleted: boolean) =>
  `key ${id} with row ${n}${isDeleted ? ", deleted" : ""}`;

/** Few keys and few cursors, so that all of them meet; mostly in the order of the cursor. */
function someBatches(random: Random, arrived: ArrivingRow[]): ArrivingRow[][] {
  return Array.from({ length: 1 + random.below(3) }, () =>
    Array.from({ length: 2 + random.below(7) }, () => {
      const isDeleted = random.below(3) === 0;
      const row: ArrivingRow = {
        id: 1 + random.below(3),
        at:
          random.below(10) === 0
            ? null
            : Math.floor(arrived.length / 3) + (random.below(4) === 0 ? random.below(9) - 4 : 0),
        n: isDeleted ? null : arrived.length + 1,
        _ab_cdc_deleted_at: isDeleted ? "2024-01-01T00:00:00Z" : null,
      };
      arrived.push(row);
      return row;
    }),
  );
}

/**
 * The rows that the table has to hold: as if each row had come alone. A cursor of null is the
 * oldest.
 */
function modelOf(arrived: readonly ArrivingRow[], hasCursor: boolean): string[] {
  const kept = new Map<number, KeptRow>();
  for (const { id, at, n, _ab_cdc_deleted_at: deleted } of arrived) {
    const own = hasCursor ? (at ?? Number.NEGATIVE_INFINITY) : 0;
    const known = kept.get(id);
    if (known && known.at > own) continue;
    const isDeleted = deleted !== null;
    kept.set(id, { at: own, n: isDeleted ? known?.n : n, isDeleted });
  }
  return [...kept]
    .flatMap(([id, { n, isDeleted }]) => (n === undefined ? [] : keptText(id, n, isDeleted)))
    .sort();
}
