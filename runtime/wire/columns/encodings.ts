import type { ColumnKind, Encoding } from "../../contract/batch.ts";

/** The number of an encoding on the wire, and the bytes of a value; 0: it has offsets. */
export const encodings: Readonly<
  Record<Encoding, { readonly id: number; readonly width: number }>
> = {
  bool: { id: 1, width: 1 },
  int32: { id: 2, width: 4 },
  int64: { id: 3, width: 8 },
  float64: { id: 4, width: 8 },
  decimal64: { id: 5, width: 8 },
  decimal128: { id: 6, width: 16 },
  date32: { id: 7, width: 4 },
  time64: { id: 8, width: 8 },
  timestamp64: { id: 9, width: 8 },
  uuid128: { id: 10, width: 16 },
  utf8: { id: 11, width: 0 },
  binary: { id: 12, width: 0 },
  json: { id: 13, width: 0 },
  number: { id: 14, width: 0 },
};

const exact = ["int32", "int64", "decimal64", "decimal128", "number"] as const;

/**
 * The encodings that columns of a kind may have; a batch chooses. The first is the usual one, the
 * last holds every value that the kind can have.
 */
export const encodingsOf: Readonly<Record<ColumnKind, readonly Encoding[]>> = {
  boolean: ["bool"],
  integer: exact,
  number: ["float64", ...exact],
  text: ["utf8"],
  date: ["date32", "utf8"],
  time: ["time64", "utf8"],
  timestamp: ["timestamp64", "utf8"],
  timestamptz: ["timestamp64", "utf8"],
  uuid: ["uuid128", "utf8"],
  binary: ["binary", "utf8"],
  json: ["json"],
};

const byId: readonly (Encoding | undefined)[] = Object.entries(encodings).reduce<
  (Encoding | undefined)[]
>((list, [name, { id }]) => {
  list[id] = name as Encoding;
  return list;
}, []);

export const encodingById = (id: number): Encoding | undefined => byId[id];

/** The largest scale that a decimal of this encoding has. */
export const maxScale = (encoding: Encoding) =>
  encoding === "decimal64" ? 18 : encoding === "decimal128" ? 38 : 0;

/** Every section of a batch begins at a multiple of 8. */
export const align8 = (bytes: number) => (bytes + 7) & ~7;

/** The head before the columns: rows, columns, bytes of the notes, 0; each u32. */
export const headBytes = 16;
/** Of a column: encoding u8, whether it has validity u8, scale u8, 0, bytes of its texts u32. */
export const columnHeadBytes = 8;
