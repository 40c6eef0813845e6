import { textEvidence } from "../../contract/evidence.ts";
import type { Reporter } from "../../contract/rule.ts";
import { type DestinationLab, defineDestinationRule } from "../contract.ts";
import { describeStream, integer, scriptOf, text } from "../streams.ts";

const hostileProperties = [
  "ID",
  "id",
  "",
  "select",
  "user",
  "_svc_id",
  "_svc_meta",
  "_SVC_JOB_ID",
  "quote\"'d",
  "a/b~c",
  "a.b",
  "ünï",
  "😀",
  "a\u0000b",
  "\ud800",
  "a b\n;--",
  "x".repeat(5_000),
  `${"x".repeat(4_999)}y`,
  "ctid",
  "rowid",
  "tableoid",
  "__proto__",
  "constructor",
  "id_c4ca4238",
  "$1",
  "%s",
  "\\",
  "{}",
  "N\u00c9",
  "n\u00e9",
];

const hostileStreams = [
  "Users",
  "users",
  "USERS",
  'a"; DROP TABLE canary; --',
  "sel ect",
  "ünï😀",
  "../../etc/x",
  "t".repeat(5_000),
  `${"t".repeat(4_999)}u`,
  "new_users",
  "a\u0000b",
  "'",
  "a.b",
  "",
];

const hostileSchemas = [
  'sales "north"',
  "a.b",
  "x; DROP SCHEMA main; --",
  "s".repeat(3_000),
  "Ünï",
];

export default defineDestinationRule({
  id: "DEST-06",
  title:
    "Streams, schemas and properties of any name get tables and columns of their own, the same ones each time.",
  why: "Providers and customers choose the names. Two that differ in case or in their hundredth character share a column, and one value overwrites the other; a quote in one is a way into the database.",
  fix: "Make names with toSqlName, keep which property got which column, quote every name with quoteName.",
  good: "['INSERT INTO', quoteName(table), '(', columns.map(({ name }) => quoteName(name)).join(), ')'].join(' ')",
  bad: "'INSERT INTO ' + stream.name + ' (' + Object.keys(row).join() + ')'",
  async run(lab, report) {
    await tryProperties(lab, report);
    await tryTables(lab, report);
  },
});

async function tryProperties(lab: DestinationLab, report: Reporter): Promise<void> {
  const place = await lab.place();
  for (const into of lab.manifest.syncModes) {
    const { owner, name } = lab.fresh();
    const mode = into === "overwrite" ? "full_refresh" : "incremental";
    const run = async (fence: number, names: readonly string[]) => {
      const properties = Object.fromEntries([
        ["key", integer],
        ...names.map((property) => [property, text]),
      ]);
      const values = names.map(
        (property) =>
          `${JSON.stringify(property)}:"${fence}:${hostileProperties.indexOf(property)}"`,
      );
      const stream = describeStream(properties, { name, into, mode, key: ["key"] });
      const [location = ""] = await place.run(
        scriptOf({ owner, fence }, [
          { stream, batches: [[`{"key":${fence},${values.join(",")}}`]] },
        ]),
      );
      return location;
    };
    await run(1, hostileProperties);
    // In another order, which must not move a value to another column.
    const location = await run(2, hostileProperties.toReversed());
    const { columns, rows } = await place.query(`SELECT * FROM ${location}`);
    const holderOf = new Map<number, string>();
    for (const fence of into === "overwrite" ? [2] : [1, 2]) {
      const row =
        rows.find((one) => one.some((value) => String(value).startsWith(`${fence}:`))) ?? [];
      for (const [index, property] of hostileProperties.entries()) {
        const shown = JSON.stringify(
          property.length > 40
            ? `${property.slice(0, 30)}… (${property.length} characters)`
            : property,
        );
        report.checked(`property ${shown}, ${into}`);
        const at = row.indexOf(`${fence}:${index}`);
        const column = columns[at]?.name;
        if (column === undefined)
          report.fail(
            `${into}: the value of the property ${shown} is in no column of run ${fence}.`,
          );
        else if (holderOf.has(index) && holderOf.get(index) !== column)
          report.fail(
            `${into}: the property ${shown} moved from the column ${holderOf.get(index)} to ${column}.`,
          );
        if (column !== undefined) holderOf.set(index, column);
      }
    }
    const names = columns.map((column) => column.name.toLowerCase());
    const twice = names.find((one, index) => names.indexOf(one) !== index);
    if (twice !== undefined)
      report.fail(`${into}: two columns are called ${twice} when case is ignored.`);
  }
}

async function tryTables(lab: DestinationLab, report: Reporter): Promise<void> {
  const place = await lab.place();
  const { owner, name } = lab.fresh();
  const streams = [
    ...hostileStreams.map((one) =>
      describeStream({ id: integer }, { name: `${name}_${one}`, table: `_svc_${name}_${one}` }),
    ),
    ...hostileSchemas.map((schema) =>
      describeStream(
        { id: integer },
        { name: `${name} in ${schema}`, table: "_svc_same", schema: `${name} ${schema}` },
      ),
    ),
  ];
  const script = (fence: number) =>
    scriptOf(
      { owner, fence },
      streams.map((stream, id) => ({ stream, batches: [[{ id }]] })),
    );
  const locations = await place.run(script(1));
  for (const [index, location] of locations.entries()) {
    const { table, schema } = streams[index] ?? {};
    report.checked(`table ${JSON.stringify([schema, table]).slice(0, 60)}`);
    const found = await place.rows(location).catch(() => undefined);
    if (!found)
      report.fail(
        `The table cannot be queried by the name that the writer gives for it.`,
        textEvidence("location", location),
      );
    else if (found.length !== 1 || found[0]?.id !== index)
      report.fail(
        `The table of stream ${index} holds ${JSON.stringify(found.map(({ id }) => id))} where [${index}] is expected.`,
        textEvidence("location", location),
      );
  }
  const distinct = new Set(locations.map((location) => location.toLowerCase()));
  if (distinct.size < locations.length)
    report.fail(`${locations.length} streams share ${distinct.size} tables when case is ignored.`);
  // In another order: names that were given stay.
  const again = await place.open({ ...script(2).command, streams: streams.toReversed() });
  const kept = streams.map((_, index) => again.location(streams.length - 1 - index));
  await again.close();
  const moved = kept.findIndex((location, index) => location !== locations[index]);
  if (moved !== -1)
    report.fail(
      `A stream's table was ${locations[moved]} and is ${kept[moved] || "nowhere"} in the next run.`,
    );
}
