/**
 * A table whose rows come, go and change between two statements of one read: what was there all the
 * time is in it, and each row is of one moment.
 */
import type { JsonObject } from "svc-connectors";
import { isJsonObject } from "svc-connectors/host";
import { textEvidence } from "../contract/evidence.ts";
import type { Lab, StreamFacts } from "../contract/lab.ts";
import type { Observation } from "../contract/observation.ts";
import type { Reporter } from "../contract/rule.ts";
import { statementsText } from "../derive/database/faults.ts";
import { withTables } from "../derive/database/tables.ts";
import { outputRows } from "../derive/rows/rows.ts";

const sampledStatements = 4;
const tableName = "svc_changing_rows";
const ids = ["1", "2", "3", "4", "5", "6", "7"] as const;

interface TableChange {
  readonly name: string;
  readonly sql: (table: string) => string;
  readonly stillThere: readonly string[];
}

/** One statement each: nobody sees half of it. */
const changes: readonly TableChange[] = [
  {
    name: "the first row is deleted",
    sql: (table) => `DELETE FROM ${table} WHERE id = 1;`,
    stillThere: ids.slice(1),
  },
  {
    name: "a row is added in front of the first",
    sql: (table) => `INSERT INTO ${table} VALUES (0, 'old', 'old');`,
    stillThere: ids,
  },
  {
    name: "both texts of every row become others",
    sql: (table) => `UPDATE ${table} SET one = 'new', other = 'new';`,
    stillThere: ids,
  },
];

export async function tryChangingTable(lab: Lab, report: Reporter): Promise<void> {
  if (!lab.database) return;
  const { ownTable, keyType } = lab.database.sql;
  const table = ownTable(tableName);
  const rows = `INSERT INTO ${table} VALUES ${ids.map((id) => `(${id}, 'old', 'old')`).join(", ")};`;
  const { copy, streams } = await withTables(
    lab,
    "changing rows",
    `CREATE TABLE ${table} (id int PRIMARY KEY, one ${keyType}, other ${keyType});\n${rows}`,
  );
  const stream = streams.find((one) => one.stream.name === tableName);
  if (!stream)
    return report.missing(
      `discover does not list a new table, ${tableName}: the configuration has to choose all tables.`,
    );
  const command = lab.readCommand([stream], { config: withSmallPages(lab) });
  const whole = await lab.run(command, { database: { on: copy } });
  for (const at of lab.sample(betweenStatements(whole), sampledStatements))
    for (const change of changes) {
      const name = `${stream.label}: before statement ${at + 1} of ${whole.traces.queries.length} of its read, ${change.name}`;
      report.checked(name);
      await copy.execute(`DELETE FROM ${table};\n${rows}`);
      const seen = await lab.run(command, {
        database: {
          on: copy,
          onQuery: async (index) => {
            if (index === at) await copy.execute(change.sql(table));
          },
        },
      });
      const fault = faultOf(seen, stream, change);
      if (fault !== undefined)
        report.fail(`${name}; ${fault}.`, textEvidence("Statements", statementsText(seen)));
    }
}

/** The statements from the first that names the table to the last that gives rows. */
function betweenStatements({ traces: { queries } }: Observation): readonly number[] {
  const first = queries.findIndex(({ sql }) => sql.includes(tableName));
  const last = queries.findLastIndex(({ rowCount }) => rowCount > 0);
  return [...queries.keys()].slice(first < 0 ? last : first, last + 1);
}

/** A read that fails loses nothing in silence. */
function faultOf(
  { messages, outcome }: Observation,
  stream: StreamFacts,
  { stillThere }: TableChange,
): string | undefined {
  if (outcome.status !== "succeeded") return undefined;
  const rows = outputRows(messages, stream).map(({ data }) => data);
  const given = new Set(rows.map(({ id }) => String(id)));
  const lost = stillThere.filter((id) => !given.has(id));
  if (lost.length > 0)
    return `the read succeeds without ${lost.length === 1 ? "the row" : "the rows"} ${lost.join(", ")}, which ${lost.length === 1 ? "was" : "were"} there all the time`;
  const torn = rows.find(({ one, other }) => one !== other);
  return (
    torn &&
    `row ${String(torn.id)} comes with "${String(torn.one)}" from one side of the change and "${String(torn.other)}" from the other`
  );
}

/** With the fewest rows a page that the settings allow, so that a read has several statements. */
function withSmallPages({ spec, config }: Pick<Lab, "spec" | "config">): JsonObject {
  const properties = isJsonObject(spec.properties) ? spec.properties : {};
  const sizes = Object.entries(properties).flatMap(([name, schema]) =>
    /(?:page|batch|fetch|chunk)_?size$/i.test(name) &&
    isJsonObject(schema) &&
    schema.type === "integer"
      ? [[name, Math.max(2, Number(schema.minimum ?? 1))] as const]
      : [],
  );
  return { ...config, ...Object.fromEntries(sizes) };
}
