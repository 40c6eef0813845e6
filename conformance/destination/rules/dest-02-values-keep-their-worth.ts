import { textEvidence } from "../../contract/evidence.ts";
import type { Random } from "../../contract/random.ts";
import type { Reporter } from "../../contract/rule.ts";
import { type DestinationLab, defineDestinationRule, type RowForm } from "../contract.ts";
import { describeStream, integer, scriptOf, text } from "../streams.ts";
import { anyLiteral, columns, isSameValue } from "./dest-02.values.ts";

/** Rows of one stream: the text of a value by column, undefined where the row does not have it. */
type Literals = { readonly [column: string]: string | undefined };

export default defineDestinationRule({
  id: "DEST-02",
  title:
    "Values come back as they were: every digit, microsecond, character and depth; null, absent and empty text stay apart.",
  why: "A rounded id joins the wrong customer, a rounded amount makes a wrong invoice, and nobody is told.",
  fix: "Take the text of the row, never JSON.parse with doubles; choose a type that holds all that the schema allows, and text where none does.",
  good: "bigint → BIGINT; big_number → DECIMAL(precision, scale); date-time → TIMESTAMPTZ with microseconds",
  bad: "const row = JSON.parse(line); appender.appendDouble(row.id);",
  async run(lab, report) {
    const rows = literalRows(lab.random("DEST-02"), lab.effort(12, 200));
    for (const form of await lab.forms()) await tryValues(lab, report, form, rows);
    await tryUnstorable(lab, report);
  },
});

/** All values in one table of each mode, with the rows in one form. */
async function tryValues(
  lab: DestinationLab,
  report: Reporter,
  form: RowForm,
  rows: readonly Literals[],
): Promise<void> {
  const place = await lab.place();
  const properties = {
    id: integer,
    ...Object.fromEntries(Object.entries(columns).map(([name, { schema }]) => [name, schema])),
  };
  const { owner, name } = lab.fresh();
  const described = lab.manifest.syncModes.map((into) => ({
    into,
    stream: describeStream(properties, {
      name: `${name}_${into}`,
      into,
      key: ["id"],
      mode: into === "overwrite" ? "full_refresh" : "incremental",
    }),
  }));
  const lines = rows.map(toLine);
  const half = Math.ceil(lines.length / 2);
  const batches = [lines.slice(0, half), lines.slice(half)];
  const locations = await place.run(
    scriptOf(
      { owner, fence: 1, form },
      described.map(({ stream }) => ({ stream, batches })),
    ),
  );
  for (const [index, { into }] of described.entries()) {
    const found = new Map(
      (await place.rows(locations[index] ?? "")).map((row) => [Number(row.id), row]),
    );
    for (const [id, row] of rows.entries())
      for (const [column, { kind }] of Object.entries(columns)) {
        report.checked(`${column}, ${into}, as ${form}`);
        const literal = row[column] ?? "null";
        const actual = found.get(id)?.[column];
        if (actual === undefined)
          report.fail(
            `${into}, as ${form}: ${found.has(id) ? `there is no column ${column}` : `row ${id} does not come back`}.`,
            textEvidence("The row", lines[id] ?? ""),
          );
        else if (!isSameValue(kind, literal, actual))
          report.fail(
            `${into}, as ${form}: ${column} was written as ${cut(literal)} and comes back as ${cut(JSON.stringify(actual))}.`,
          );
      }
  }
}

/** Every value of the table, some that nobody thought of, a row of nulls and one of nothing. */
function literalRows(random: Random, extra: number): readonly Literals[] {
  const most = Math.max(...Object.values(columns).map(({ literals }) => literals.length));
  const rowOf = (literal: (column: string) => string | undefined): Literals =>
    Object.fromEntries(Object.keys(columns).map((column) => [column, literal(column)]));
  const from = (column: string, at: number) => {
    const literals = columns[column]?.literals ?? [];
    return literals[at % literals.length];
  };
  return [
    ...Array.from({ length: most }, (_, at) => rowOf((column) => from(column, at))),
    ...Array.from({ length: extra }, (_, at) =>
      rowOf((column) => anyLiteral(columns[column]?.kind ?? "text", random) ?? from(column, at)),
    ),
    rowOf(() => "null"),
    rowOf(() => undefined),
  ];
}

const toLine = (row: Literals, id: number) =>
  `{"id":${id}${Object.entries(row)
    .map(([column, literal]) => (literal === undefined ? "" : `,"${column}":${literal}`))
    .join("")}}`;

/**
 * Texts that some databases cannot hold may be replaced; the row and what stands around it must
 * come.
 */
async function tryUnstorable(lab: DestinationLab, report: Reporter): Promise<void> {
  for (const form of await lab.forms()) await tryUnstorableAs(form, lab, report);
}

async function tryUnstorableAs(
  form: RowForm,
  lab: DestinationLab,
  report: Reporter,
): Promise<void> {
  const place = await lab.place();
  const { owner, name } = lab.fresh();
  const stream = describeStream({ id: integer, text, data: { type: "object" } }, { name });
  const lines = [
    '{"id":1,"text":"a\\u0000b","data":{"k\\u0000":"\\u0000"}}',
    '{"id":2,"text":"a\\ud800b","data":{"k":"\\udfff"}}',
  ];
  const [location = ""] = await place.run(
    scriptOf({ owner, fence: 1, form }, [{ stream, batches: [lines] }]),
  );
  const found = await place.rows(location);
  for (const [index, what] of ["a NUL character", "half of a surrogate pair"].entries()) {
    report.checked(`${what}, as ${form}`);
    const row = found.find(({ id }) => id === index + 1);
    if (!/^a.?b$/su.test(String(row?.text)))
      report.fail(
        `As ${form}, a row with ${what} between a and b ${row ? `comes back as ${JSON.stringify(row.text)}` : "does not come back"}.`,
      );
  }
}

const cut = (shown: string) => (shown.length > 120 ? `${shown.slice(0, 120)}…` : shown);
