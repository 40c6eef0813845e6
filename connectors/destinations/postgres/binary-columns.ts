/** Columns of values in their binary form, and how rows are filled with them. */
import { isValid } from "svc-connectors/destination";
import { type BinaryRows, type CopySource, copyPart, copySource } from "./binary-rows.ts";

/** A field of every row, at one place. */
export interface BinaryField {
  /** Bytes that every row needs for it, the length included; adds what single rows need besides. */
  measure(sizes: Uint32Array): number;
  /** Writes it into each row, once all before it are written. */
  fill(rows: BinaryRows): void;
}

export interface BinaryColumn extends BinaryField {
  /** Rows whose value is not what it was. */
  readonly changed: ReadonlyMap<number, Changed>;
}

/** "NULLED": the type has no such value. "REPLACED": no type of PostgreSQL keeps some character. */
export type Changed = "NULLED" | "REPLACED";

/** A bit for each row, as in a batch. */
type Validity = Uint8Array | undefined;

const unchanged: ReadonlyMap<number, Changed> = new Map();
const lengthBytes = 4;

export const nullColumn: BinaryColumn = {
  measure: () => lengthBytes,
  fill({ view, next, rowCount }) {
    for (let row = 0; row < rowCount; row++) {
      const at = next[row] as number;
      view.setInt32(at, -1);
      next[row] = at + lengthBytes;
    }
  },
  changed: unchanged,
};

/** Fields that are the same in every row, their lengths included. */
export function constantFields(fields: Uint8Array): BinaryField {
  const source = copySource(fields);
  const { length } = fields;
  return {
    measure: () => length,
    fill(rows) {
      const { next, rowCount } = rows;
      for (let row = 0; row < rowCount; row++) {
        const at = next[row] as number;
        copyPart(rows, at, source, 0, length);
        next[row] = at + length;
      }
    },
  };
}

/**
 * Values of one length, up to 16 bytes.
 * @param put writes the value of every row behind the place of its length. What it writes under a
 * null is overwritten by what follows in the row, where 16 bytes always do.
 */
export function fixedColumn(
  validity: Validity,
  width: number,
  put: (rows: BinaryRows) => void,
): BinaryColumn {
  const whole = lengthBytes + width;
  return {
    measure(sizes) {
      if (validity === undefined) return lengthBytes + width;
      for (let row = 0; row < sizes.length; row++)
        if (isValid({ validity }, row)) sizes[row] = (sizes[row] as number) + width;
      return lengthBytes;
    },
    fill(rows) {
      put(rows);
      const { view, next, rowCount } = rows;
      for (let row = 0; row < rowCount; row++) {
        const at = next[row] as number;
        const isThere = validity === undefined || isValid({ validity }, row);
        view.setInt32(at, isThere ? width : -1);
        next[row] = at + (isThere ? whole : lengthBytes);
      }
    },
    changed: unchanged,
  };
}

export interface Parts {
  readonly validity?: Validity;
  /** One more than there are rows. Under a null lies nothing. */
  readonly offsets: Uint32Array;
  readonly bytes: Uint8Array;
  /** The version of jsonb's form, before each value. */
  readonly version?: number | undefined;
  readonly changed?: ReadonlyMap<number, Changed>;
}

/** Values that lie one behind the other. */
export function partsColumn(parts: Parts): BinaryColumn {
  const { validity, offsets, bytes, version, changed = unchanged } = parts;
  const source = copySource(bytes);
  const versionBytes = version === undefined ? 0 : 1;
  return {
    measure(sizes) {
      for (let row = 0; row < sizes.length; row++) {
        const length = (offsets[row + 1] as number) - (offsets[row] as number);
        const isThere = validity === undefined || isValid({ validity }, row);
        if (isThere) sizes[row] = (sizes[row] as number) + versionBytes + length;
      }
      return lengthBytes;
    },
    fill: (rows) => fillParts(rows, parts, source),
    changed,
  };
}

function fillParts(
  rows: BinaryRows,
  { validity, offsets, version }: Parts,
  source: CopySource,
): void {
  const { bytes, view, next, rowCount } = rows;
  const versionBytes = version === undefined ? 0 : 1;
  for (let row = 0; row < rowCount; row++) {
    const at = next[row] as number;
    if (validity !== undefined && !isValid({ validity }, row)) {
      view.setInt32(at, -1);
      next[row] = at + lengthBytes;
      continue;
    }
    const start = offsets[row] as number;
    const end = offsets[row + 1] as number;
    view.setInt32(at, versionBytes + end - start);
    if (version !== undefined) bytes[at + lengthBytes] = version;
    const to = at + lengthBytes + versionBytes;
    copyPart(rows, to, source, start, end);
    next[row] = to + end - start;
  }
}
