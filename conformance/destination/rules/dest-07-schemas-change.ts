import type { DestinationSyncMode } from "svc-connectors/host";
import type { Reporter } from "../../contract/rule.ts";
import {
  type DestinationLab,
  defineDestinationRule,
  type Line,
  type RowForm,
} from "../contract.ts";
import { describeStream, integer, type Properties, scriptOf, text } from "../streams.ts";

export default defineDestinationRule({
  id: "DEST-07",
  title:
    "When a schema changes, nothing is lost: new columns are added, those that went stay, and a value that does not fit widens its column.",
  why: "Sources change without notice. A value that is nulled because it does not fit its column is gone for ever: the source says that it was delivered.",
  fix: "Compare the columns of the table with the stream's at the start; widen a column for a value that does not fit (integer, then text), in the transaction that brings it.",
  good: "ALTER TABLE t ALTER COLUMN amount TYPE text",
  bad: "TRY_CAST(amount AS BIGINT)",
  async run(lab, report) {
    for (const form of await lab.forms()) {
      for (const into of lab.manifest.syncModes) {
        await tryColumns(lab, report, into, form);
        await tryWidening(lab, report, into, form);
      }
      await tryTypes(lab, report, form);
    }
  },
});

async function tryColumns(
  lab: DestinationLab,
  report: Reporter,
  into: DestinationSyncMode,
  form: RowForm,
): Promise<void> {
  if (into === "overwrite") return;
  report.checked(`${into}, as ${form}: columns come and go`);
  const expected = [
    { id: 1, old: "x", more: null },
    { id: 2, old: null, more: true },
    { id: 3, old: "y", more: null },
  ];
  const found = await runEach(
    lab,
    { into, form },
    ["id", "old", "more"],
    [
      [{ id: integer, old: text }, [{ id: 1, old: "x" }]],
      [{ id: integer, more: { type: "boolean" } }, [{ id: 2, more: true }]],
      [{ id: integer, old: text }, [{ id: 3, old: "y" }]],
    ],
  );
  compare(
    report,
    `${into}, as ${form}: after a property came and another went and came back`,
    found,
    expected,
  );
}

async function tryWidening(
  lab: DestinationLab,
  report: Reporter,
  into: DestinationSyncMode,
  form: RowForm,
): Promise<void> {
  report.checked(`${into}, as ${form}: values that do not fit`);
  const properties = {
    id: integer,
    big: integer,
    at: { type: "string", format: "date-time" },
    day: { type: "string", format: "date" },
  };
  const fine = { id: 1, big: 1, at: "2024-01-01T00:00:00Z", day: "2024-01-01" };
  const wide = '{"id":2,"big":9223372036854775808,"at":"soon","day":"2024-02-30"}';
  const found = await runEach(
    lab,
    { into, form },
    ["id", "big", "at", "day"],
    [[properties, [fine, wide], [{ ...fine, id: 3 }]]],
  );
  const row = found.find(({ id }) => Number(id) === 2);
  const wanted = { big: "9223372036854775808", at: "soon", day: "2024-02-30" };
  for (const [column, value] of Object.entries(wanted))
    if (String(row?.[column]) !== value)
      report.fail(
        `${into}, as ${form}: ${value} does not fit the type of the column "${column}" and comes back as ${JSON.stringify(row?.[column])}; it has to widen it.`,
      );
  const others = found
    .filter(({ id }) => Number(id) !== 2)
    .map(({ id, big }) => `${id}/${big}`)
    .sort();
  if (others.join() !== "1/1,3/1")
    report.fail(
      `${into}, as ${form}: the rows around a value that does not fit come back as ${others.join(", ") || "nothing"} where 1/1, 3/1 are expected.`,
    );
}

async function tryTypes(lab: DestinationLab, report: Reporter, form: RowForm): Promise<void> {
  report.checked(`append, as ${form}: a property whose type changes`);
  const wide = { type: "integer", airbyte_type: "big_integer" };
  const found = await runEach(
    lab,
    { into: "append", form },
    ["id", "v"],
    [
      [{ id: integer, v: integer }, [{ id: 1, v: 7 }]],
      [{ id: integer, v: wide }, ['{"id":2,"v":123456789012345678901234567890}']],
      [{ id: integer, v: text }, [{ id: 3, v: "seven" }]],
      [{ id: integer, v: integer }, [{ id: 4, v: 8 }]],
      [{ id: integer, v: { type: "object" } }, [{ id: 5, v: { a: 1 } }]],
    ],
  );
  const shown = found.map(({ id, v }) => ({
    id,
    v: typeof v === "object" ? JSON.stringify(v) : String(v).replaceAll(" ", ""),
  }));
  const values = ["7", "123456789012345678901234567890", "seven", "8", '{"a":1}'];
  compare(
    report,
    `append, as ${form}: after the type of a property changed in each run`,
    shown,
    values.map((v, index) => ({ id: index + 1, v })),
  );
}

type SchemaRun = readonly [Properties, ...(readonly Line[])[]];

/** One run after the other, each with its own schema; gives the rows by id. */
async function runEach(
  lab: DestinationLab,
  { into, form }: { readonly into: DestinationSyncMode; readonly form: RowForm },
  columns: readonly string[],
  runs: readonly SchemaRun[],
) {
  const place = await lab.place();
  const { owner, name } = lab.fresh();
  const mode = into === "overwrite" ? "full_refresh" : "incremental";
  let location = "";
  for (const [index, [properties, ...batches]] of runs.entries()) {
    const stream = describeStream(properties, { name, into, mode, key: ["id"] });
    location =
      (await place.run(scriptOf({ owner, fence: index + 1, form }, [{ stream, batches }])))[0] ??
      "";
  }
  const rows = await place.rows(location);
  return rows
    .map((row) => Object.fromEntries(columns.map((column) => [column, row[column]])))
    .sort((a, b) => Number(a.id) - Number(b.id));
}

function compare(
  report: Reporter,
  when: string,
  found: readonly object[],
  expected: readonly object[],
): void {
  const [given, wanted] = [JSON.stringify(found), JSON.stringify(expected)];
  if (given !== wanted)
    report.fail(`${when}, the table holds ${given} where ${wanted} is expected.`);
}
