/**
 * The identity of tables by the server's catalog. Some of what happens to a table is not in the
 * log: another one takes its name, a partition comes with its rows, a column is rewritten. A state
 * has what the table was, and the next run sees the difference.
 */
import { createHash } from "node:crypto";
import { escapeIdentifier, escapeLiteral } from "pg";
import { type Stream, type StreamBeginning, streamFields } from "svc-connectors";
import { labelOf } from "svc-connectors/database";
import type { Session } from "../api.ts";
import type { State, TableState } from "../reading.ts";
import { formatLsn, parseLsn } from "./lsn.ts";
import { heirsProblem, tableKey } from "./server.ts";
import { deletedAtField, lsnField, type Replication } from "./settings.ts";

/** A table, one of its partitions, or one of its columns: what it is, and how it is written. */
interface Part {
  readonly is: string;
  readonly form: string;
}

interface Partition extends Part {
  readonly oid: number;
  readonly schema: string;
  readonly name: string;
  readonly isLeaf: boolean;
  /** It was made as a partition of this table: all its rows came by the log. */
  readonly isBorn: boolean;
}

export interface SeenTable {
  readonly oid: number;
  /** Why the log does not have its changes as the publication is; undefined: it has them. */
  readonly problem: string | undefined;
  readonly published: string;
  /** The table and its partitions; undefined: there are too many to keep. */
  readonly partitions: readonly Partition[] | undefined;
  /** By name. */
  readonly columns: ReadonlyMap<string, { readonly is: string; readonly form: string }>;
}

export interface SeenTables {
  /** All that is seen was committed before this place. */
  readonly written: bigint;
  readonly tables: ReadonlyMap<string, SeenTable>;
}

/** Of a state of a table with so many partitions there is not more than 40 kB. */
const maxPartitions = 2_000;
/** Characters of what a part is, and of its form behind it. */
const isLength = 8;
const formLength = 4;

const digest = (values: readonly unknown[], length: number) =>
  createHash("sha256").update(JSON.stringify(values)).digest("base64url").slice(0, length);

const partOf = (is: readonly unknown[], form: readonly unknown[]): Part => ({
  is: digest(is, isLength),
  form: digest(form, formLength),
});

interface Row {
  readonly written: string;
  readonly schema: string;
  readonly name: string;
  readonly oid: string;
  readonly kind: string;
  readonly isLogged: boolean;
  readonly hasHeirs: boolean;
  readonly isRoot: boolean;
  readonly published: string | null;
  readonly isFiltered: boolean;
  readonly listed: number | null;
  readonly partitions: readonly (readonly [
    oid: number,
    since: string,
    file: number,
    schema: string,
    name: string,
    isLeaf: boolean,
    isBorn: boolean,
  ])[];
  readonly columns: readonly (readonly [
    name: string,
    number: number,
    type: number,
    modifier: number,
    since: string,
    isGenerated: boolean,
  ])[];
}

/**
 * Looks at tables, all at one moment. The numbers of transactions (xmin) say that a row of the
 * catalog is another one. Who makes a partition writes all rows about its columns in one command;
 * who attaches a table writes those of its own columns once more.
 */
export async function seeTables(
  { client }: Session,
  { publication }: Replication,
  version: number,
  streams: readonly Stream[],
): Promise<SeenTables> {
  const names = streams.map(
    ({ namespace = "public", name }) => `(${escapeLiteral(namespace)}, ${escapeLiteral(name)})`,
  );
  const ofSchema =
    version < 150_000
      ? "NULL"
      : "(SELECT s.oid FROM pg_catalog.pg_publication_namespace s WHERE s.pnpubid = p.oid AND s.pnnspid = n.oid)";
  const { rows } = await client.query<Row>(`
    SELECT pg_catalog.pg_current_wal_insert_lsn()::text AS written, n.nspname AS schema, c.relname AS name, c.oid::text AS oid,
      c.relkind::text AS kind, c.relpersistence = 'p' AS "isLogged",
      c.relkind = 'r' AND EXISTS (SELECT FROM pg_catalog.pg_inherits h WHERE h.inhparent = c.oid) AS "hasHeirs",
      COALESCE((pg_catalog.to_jsonb(p)->>'pubviaroot')::boolean, false) AS "isRoot",
      CASE WHEN p.puballtables THEN pg_catalog.concat(p.oid, '/', p.xmin)
        ELSE pg_catalog.concat(p.oid, '/', p.xmin, '/') || COALESCE(r.oid, ${ofSchema})::text END AS published,
      pg_catalog.to_jsonb(r)->>'prqual' IS NOT NULL AS "isFiltered",
      pg_catalog.array_length(pg_catalog.string_to_array(pg_catalog.to_jsonb(r)->>'prattrs', ' '), 1) AS listed,
      partitions.list AS partitions, columns.list AS columns
    FROM (VALUES ${names}) v (schema, name)
    JOIN pg_catalog.pg_namespace n ON n.nspname = v.schema
    JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = v.name
    LEFT JOIN pg_catalog.pg_publication p ON p.pubname = ${escapeLiteral(publication)}
    LEFT JOIN pg_catalog.pg_publication_rel r ON r.prpubid = p.oid AND r.prrelid = c.oid
    CROSS JOIN LATERAL (
      SELECT pg_catalog.json_agg(pg_catalog.json_build_array(l.oid::pg_catalog.int8, COALESCE(i.xmin::text, ''), l.relfilenode::pg_catalog.int8,
        ln.nspname, l.relname, l.relkind <> 'p', i.xmin::text = made.xmin::text AND EXISTS (
          SELECT FROM pg_catalog.pg_attribute own WHERE own.attrelid = l.oid AND own.attnum > 0 AND NOT own.attisdropped
            AND own.xmin = made.xmin AND own.cmin = made.cmin))) AS list
      FROM (
        SELECT c.oid AS relid, NULL::pg_catalog.oid AS parent
        UNION ALL SELECT t.relid, t.parentrelid FROM pg_catalog.pg_partition_tree(c.oid) t WHERE c.relkind = 'p' AND t.level > 0
        LIMIT ${maxPartitions + 1}
      ) tree
      JOIN pg_catalog.pg_class l ON l.oid = tree.relid
      JOIN pg_catalog.pg_namespace ln ON ln.oid = l.relnamespace
      LEFT JOIN pg_catalog.pg_inherits i ON i.inhrelid = tree.relid AND i.inhparent = tree.parent
      LEFT JOIN pg_catalog.pg_attribute made ON made.attrelid = l.oid AND made.attname = 'tableoid'
    ) partitions
    CROSS JOIN LATERAL (
      SELECT pg_catalog.json_agg(pg_catalog.json_build_array(attname, attnum, atttypid::pg_catalog.int8, atttypmod, a.xmin::text, attgenerated <> '')) AS list
      FROM pg_catalog.pg_attribute a WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped
    ) columns`);
  const tables = rows.map((row): [string, SeenTable] => {
    const { schema, name, oid, published, partitions, columns } = row;
    return [
      tableKey(schema, name),
      {
        oid: Number(oid),
        problem: problemOf(row, publication),
        published: published ?? "",
        partitions:
          partitions.length > maxPartitions
            ? undefined
            : partitions.map(([part, since, file, space, partName, isLeaf, isBorn]) => ({
                ...partOf([part, since], [file]),
                oid: part,
                schema: space,
                name: partName,
                isLeaf,
                isBorn: isBorn === true,
              })),
        columns: new Map(
          columns.map(([column, number, type, modifier, since]) => [
            column,
            partOf([column, number, type], [modifier, since]),
          ]),
        ),
      },
    ];
  });
  return { written: parseLsn(rows[0]?.written ?? "0/0"), tables: new Map(tables) };
}

function problemOf(row: Row, publication: string): string | undefined {
  const { schema, name, kind, isLogged, hasHeirs, isRoot } = row;
  const { published, isFiltered, listed, columns } = row;
  const table = `${escapeIdentifier(schema)}.${escapeIdentifier(name)}`;
  if (!isLogged) return `${table} is not logged; its owner runs ALTER TABLE ${table} SET LOGGED`;
  if (published === null)
    return `the publication ${publication} has no ${table}; its owner runs ALTER PUBLICATION ${publication} ADD TABLE ${table}`;
  if (hasHeirs) return `${table} ${heirsProblem}`;
  if (kind === "p" && !isRoot)
    return `the publication ${publication} tells of partitions by their own names; its owner runs ALTER PUBLICATION ${publication} SET (publish_via_partition_root = true)`;
  const logged = columns.filter(([, , , , , isGenerated]) => !isGenerated);
  if (isFiltered || (listed !== null && listed < logged.length))
    return `the publication ${publication} leaves rows or columns of ${table} out`;
  return undefined;
}

/** The meaning of a saved state for its table as it is now. */
export interface Verdict {
  /** For the states of this run. */
  readonly table: TableState;
  /** Why the saved rows are of no use. */
  readonly loss?: string | undefined;
  /** Why all rows are copied once more, beside their changes. */
  readonly copy?: string | undefined;
  /** Something may have happened besides, and nobody can tell. */
  readonly warning?: string | undefined;
}

/** States of before say nothing of the table: it is what it is. */
export async function judgeTable(
  session: Session,
  { stream, state }: StreamBeginning<Stream, State>,
  seen: SeenTable,
  written: bigint,
): Promise<Verdict> {
  const saved = state?.mode === "changes" ? state.table : undefined;
  const columns = declaredColumns(stream, seen);
  const table: TableState = {
    oid: seen.oid,
    published: seen.published,
    ...(seen.partitions && { parts: seen.partitions.map(({ is, form }) => `${is}${form}`) }),
    columns: columns.map(({ is, form }) => `${is}${form}`),
  };
  const isTooMany = seen.partitions === undefined && (saved === undefined || saved.parts);
  const tooMany = isTooMany
    ? `It has more than ${maxPartitions} partitions: one that is attached, detached or truncated is not noticed.`
    : undefined;
  if (saved === undefined) return { table, warning: tooMany };
  if (saved.oid !== seen.oid) return { table, loss: "it is another table of the same name" };
  if (saved.published !== seen.published)
    return {
      table,
      loss: "the publication was changed or made anew, or the table was not in it for a while",
    };
  const partitions = saved.parts && seen.partitions ? seen.partitions : undefined;
  const parts = formsOf(saved.parts ?? []);
  if (partitions) {
    const now = new Set(partitions.map(({ is }) => is));
    if ([...parts.keys()].some((is) => !now.has(is)))
      return { table, loss: "a partition was detached or dropped" };
    for (const one of partitions)
      if (!parts.has(one.is) && !one.isBorn && !(await isEmpty(session, one)))
        return { table, loss: `a partition was attached with its rows: ${labelOf(one)}` };
  }
  const rewritten = partitions?.filter(
    ({ is, form, isLeaf }) => isLeaf && (parts.get(is) ?? form) !== form,
  );
  const isRewritten = rewritten === undefined || rewritten.length > 0;
  const known = formsOf(saved.columns);
  const fresh = columns.filter(
    ({ is, form }) => !known.has(is) || (isRewritten && known.get(is) !== form),
  );
  const key = fresh.find(({ name }) => stream.primaryKey?.includes(name));
  if (key) return { table, loss: `a column of its key is another one: ${key.name}` };
  if (fresh.length > 0) {
    const changedAt = formatLsn(written);
    const copy = `columns came, or were changed: ${fresh.map(({ name }) => name).join(", ")}`;
    return { table: { ...table, changedAt }, copy };
  }
  const [truncated] = partitions && partitions.length > 1 ? (rewritten ?? []) : [];
  const warning =
    truncated &&
    `The partition ${labelOf(truncated)} has new files. If it was truncated, its rows stay: read the stream anew (reset).`;
  const { changedAt } = saved;
  return {
    table: { ...table, ...(changedAt !== undefined && { changedAt }) },
    warning: warning ?? tooMany,
  };
}

/** Columns whose values a stream has; another kind of the field reads them in another way. */
const declaredColumns = (stream: Stream, { columns }: SeenTable) =>
  streamFields({ ...stream, syncMode: "incremental" }).flatMap(({ name, kind, isKey }) => {
    const found = columns.get(name);
    if (!found || name === lsnField || name === deletedAtField) return [];
    return [{ name, is: digest([found.is, kind, isKey], isLength), form: found.form }];
  });

const formsOf = (parts: readonly string[]): ReadonlyMap<string, string> =>
  new Map(parts.map((part) => [part.slice(0, isLength), part.slice(isLength)]));

/** Its files have no bytes, or it has no rows. One that the role cannot look into is not empty. */
async function isEmpty({ client }: Session, one: Partition): Promise<boolean> {
  const isTrue = (select: string) =>
    client.query<{ found: boolean }>(`SELECT ${select} AS found`).then(
      ({ rows }) => rows[0]?.found === true,
      () => false,
    );
  const from = `${escapeIdentifier(one.schema)}.${escapeIdentifier(one.name)}`;
  return (
    (one.isLeaf && (await isTrue(`pg_catalog.pg_relation_size(${one.oid}) = 0`))) ||
    (await isTrue(`NOT EXISTS (SELECT FROM ${from})`))
  );
}
