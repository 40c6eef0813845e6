/** The states of a table's read: how far along its key, or along its cursor field, it has come. */
import { type Static, Type } from "typebox";
import { ConnectorError } from "../contract/errors.ts";
import { Nullable } from "../contract/spec.ts";
import { type DatabaseTable, labelOf } from "./tables.ts";

/** Values are texts that the server reads back as the same value. */
export const alongKeyState = Type.Object(
  {
    mode: Type.Literal("full_refresh"),
    key: Type.Array(Type.String()),
    after: Type.Array(Type.String()),
  },
  { additionalProperties: false },
);

export const alongCursorState = Type.Object(
  // The greatest value so far; null = no row had one, and those without have been read. `without`
  // is how many of those there were; absent: none.
  {
    mode: Type.Literal("incremental"),
    cursor_field: Type.String(),
    cursor: Nullable(Type.String()),
    without: Type.Optional(Type.Integer({ minimum: 0 })),
  },
  { additionalProperties: false },
);

/** The state of a table's read. */
export type RowState = Static<typeof alongKeyState> | Static<typeof alongCursorState>;

export const stateInvalid = (
  table: Pick<DatabaseTable, "schema" | "name">,
  problem: string,
): ConnectorError =>
  new ConnectorError("STATE_INVALID", { stream: labelOf(table), path: "state", problem });
