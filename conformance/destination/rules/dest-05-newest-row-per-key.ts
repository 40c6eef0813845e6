import type { Random } from "../../contract/random.ts";
import { defineDestinationRule } from "../contract.ts";
import { describeStream, integer, scriptOf, text } from "../streams.ts";

const properties = {
  org: text,
  id: integer,
  at: { type: ["integer", "null"] },
  n: integer,
  _ab_cdc_deleted_at: { type: ["string", "null"] },
};

/** One row that arrives. `n` counts arrivals. */
interface ArrivingRow {
  readonly org: string;
  readonly id: number;
  readonly at: number | null;
  readonly n: number;
  readonly _ab_cdc_deleted_at: string | null;
}

export default defineDestinationRule({
  id: "DEST-05",
  title:
    "append_dedup: one row per key, the one with the newest cursor, of equal ones the later; what is deleted is gone, and an older row does not bring it back.",
  why: "Sources deliver late, twice and out of order. A merge that takes the last arrival shows an order as open that was paid, and a deleted customer as there.",
  fix: "Order the rows of a key by cursor and then by arrival, before the merge and against what is there; remember the cursor of deleted keys.",
  good: "MERGE … WHEN MATCHED AND NOT (target.at > source.at) THEN UPDATE …",
  bad: "DELETE FROM t WHERE id IN (batch); INSERT INTO t SELECT DISTINCT ON (id) * FROM batch",
  async run(lab, report) {
    if (!lab.manifest.syncModes.includes("append_dedup"))
      return report.checked("no append_dedup is promised");
    const place = await lab.place();
    const random = lab.random("DEST-05");
    const { owner, name } = lab.fresh();
    const caseCount = lab.effort(8, 60);
    const cases = Array.from({ length: caseCount }, (_, index) => {
      const hasCursor = index % 4 !== 3;
      const mode = index % 3 === 2 ? "full_refresh" : "incremental";
      const label = `case ${index + 1} (${mode}, ${hasCursor ? "cursor" : "no cursor"})`;
      const described = {
        name: `${name}_${index}`,
        into: "append_dedup",
        key: ["org", "id"],
        mode,
      } as const;
      const stream = describeStream(
        properties,
        hasCursor ? { ...described, cursor: "at" } : described,
      );
      return { label, stream, hasCursor, arrived: [] as ArrivingRow[], location: "" };
    });
    for (let run = 1; run <= 3; run++) {
      const written = cases.map(({ stream, arrived }) => ({
        stream,
        batches: someBatches(random, arrived),
      }));
      const locations = await place.run(scriptOf({ owner, fence: run }, written as never));
      for (const [index, one] of cases.entries()) one.location = locations[index] ?? "";
    }
    for (const { label, location, arrived, hasCursor } of cases) {
      report.checked(label);
      const expected = modelOf(arrived, hasCursor);
      const found = (await place.rows(location))
        .map(({ org, id, n }) => `${org}/${id}: row ${n}`)
        .sort();
      const wrong = [
        ...found.filter((row) => !expected.includes(row)).map((row) => `has ${row}`),
        ...expected.filter((row) => !found.includes(row)).map((row) => `lacks ${row}`),
      ];
      if (found.length !== new Set(found).size) wrong.push("has a row twice");
      if (wrong.length === 0) continue;
      const key = /(\w+)\/(\d+): /.exec(wrong[0] ?? "");
      const story = arrived
        .filter(({ org, id }) => org === key?.[1] && String(id) === key?.[2])
        .map(rowText);
      report.fail(`${label}: the table ${wrong.slice(0, 3).join(", ")}.`, {
        kind: "text",
        title: "What arrived of that key, in order",
        text: story.join("\n"),
      });
    }
  },
});

const rowText = ({ n, at, _ab_cdc_deleted_at: deleted }: ArrivingRow) =>
  `row ${n}, cursor ${at}${deleted === null ? "" : ", deleted"}`;

/** Few keys and few cursors, so that all of them meet. */
function someBatches(random: Random, arrived: ArrivingRow[]): ArrivingRow[][] {
  return Array.from({ length: 1 + random.below(3) }, () =>
    Array.from({ length: random.below(7) }, () => {
      const row: ArrivingRow = {
        org: random.below(4) === 0 ? "b" : "a",
        id: 1 + random.below(3),
        at: random.below(7) === 0 ? null : random.below(5),
        n: arrived.length + 1,
        _ab_cdc_deleted_at: random.below(4) === 0 ? "2024-01-01T00:00:00Z" : null,
      };
      arrived.push(row);
      return row;
    }),
  );
}

/** The rows that the table has to hold. A cursor of null is the oldest. */
function modelOf(arrived: readonly ArrivingRow[], hasCursor: boolean): string[] {
  const newest = new Map<string, ArrivingRow>();
  const order = ({ at }: ArrivingRow) => (hasCursor ? (at ?? -1) : 0);
  for (const row of arrived) {
    const known = newest.get(`${row.org}/${row.id}`);
    if (!known || order(row) >= order(known)) newest.set(`${row.org}/${row.id}`, row);
  }
  return [...newest.values()]
    .filter(({ _ab_cdc_deleted_at: deleted }) => deleted === null)
    .map(({ org, id, n }) => `${org}/${id}: row ${n}`)
    .sort();
}
