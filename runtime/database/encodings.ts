import type { ColumnKind } from "../contract/batch.ts";

/** How values of each kind lie in a batch that has them as texts. */
export const textEncodings = {
  boolean: "utf8",
  integer: "number",
  number: "number",
  text: "utf8",
  date: "utf8",
  time: "utf8",
  timestamp: "utf8",
  timestamptz: "utf8",
  uuid: "utf8",
  binary: "binary",
  json: "json",
} as const satisfies Record<ColumnKind, string>;
