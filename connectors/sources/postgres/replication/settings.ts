/** The settings of change data capture, and the columns that it adds to a stream. */
import { exclusive, type Static, Type } from "svc-connectors";
import type { Column } from "../catalog.ts";
import { typeOf } from "../type-names.ts";

/** A name that is a part of statements too: nothing in it needs quotes. */
const Name = (title: string, description: string) =>
  Type.String({ title, description, pattern: "^[a-z_][a-z0-9_]*$", maxLength: 50 });

export const replication = Type.Object(
  {
    publication: Name(
      "Publication",
      "Of the tables whose changes are read, made by an administrator: CREATE PUBLICATION … FOR TABLE ….",
    ),
    slot: exclusive(
      Name(
        "Slot",
        "Name of the logical replication slot. It is made by the first read, and belongs to one pipeline alone.",
      ),
      "SELECT pg_drop_replication_slot('{}')",
    ),
    max_lag_mb: Type.Optional(
      Type.Integer({
        title: "Largest lag",
        description:
          "Megabytes of log that may wait for the slot, unread or not saved. A run that finds more drops the slot, and the tables are read anew; not while they are copied for the first time.",
        minimum: 64,
      }),
    ),
  },
  {
    title: "Replication",
    description:
      "Reads changes from the server's log (logical replication): also deleted rows, and no cursor is needed. Without it, tables are queried.",
    additionalProperties: false,
  },
);
export type Replication = Static<typeof replication>;

/** Where the row's transaction was committed: the newest state of a row has the greatest. */
export const lsnField = "_ab_cdc_lsn";
/** When the row was deleted; of such a row there is nothing but the key. */
export const deletedAtField = "_ab_cdc_deleted_at";

/** Properties of a stream of changes besides the table's columns, in the field's usual names. */
export const addedProperties = {
  [lsnField]: { type: ["integer", "null"], format: "int64" },
  [deletedAtField]: { type: ["string", "null"], format: "date-time" },
} as const;

const int8 = 20;
const timestamptz = 1184;

/** The added columns, as they are selected in a snapshot of that place of the log. */
export const addedColumns = (lsn: bigint): readonly Column[] => [
  added(lsnField, int8, `${lsn}::pg_catalog.int8`),
  added(deletedAtField, timestamptz, "NULL::pg_catalog.timestamptz"),
];

function added(name: string, oid: number, expression: string): Column {
  const { type } = typeOf(new Map(), oid, -1);
  return {
    name,
    type: { ...type, select: () => expression },
    schema: type.nullableSchema,
    typeName: oid === int8 ? "bigint" : "timestamp with time zone",
    typeSchema: "pg_catalog",
    isNullable: true,
    isIndexed: false,
    isNumbered: false,
  };
}
