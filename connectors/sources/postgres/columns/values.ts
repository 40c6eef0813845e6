/**
 * The values of one column of the batch that is being filled; the memory is used again for the next
 * one.
 */
import type { ColumnValues } from "svc-connectors";

/** Fields of some rows as the server sent them. */
export interface Block {
  readonly bytes: Buffer;
  readonly view: DataView;
  /**
   * Where values begin, field by field; 0 = null. The length of each stands in the four bytes
   * before.
   */
  readonly starts: Int32Array;
}

export interface Values {
  /** Bytes that every value has on the wire; 0: they differ. */
  readonly wireBytes: number;
  /** Bytes that every row takes here, at least. */
  readonly rowBytes: number;
  /** How many bytes more than on the wire a value may take, where that is no small number. */
  readonly growth?: ((view: DataView, at: number) => number) | undefined;
  /**
   * Adds `count` values, whose places are in the block from `from` on, as the rows from `row` on.
   * @returns how many it took: fewer where the encoding cannot hold the next one
   */
  add(block: Block, from: number, count: number, row: number): number;
  /** Takes another encoding for the next batch, which holds every value. */
  widen(): void;
  /** Forgets all rows, and that it was widened. */
  clear(): void;
  /** The added values, up to a row. */
  get(rowCount: number): ColumnValues & { readonly validity?: Uint8Array | undefined };
  /** Rows whose value it could not hold: they are null. */
  readonly lost: readonly number[];
}

/** Which rows have a value. */
export class Validity {
  #hasNull = false;
  readonly #bits: Uint8Array;

  constructor(capacity: number) {
    this.#bits = new Uint8Array((capacity + 7) >> 3).fill(0xff);
  }

  drop(row: number): void {
    this.#hasNull = true;
    this.#bits[row >> 3] = (this.#bits[row >> 3] as number) & ~(1 << (row & 7));
  }

  clear(): void {
    if (this.#hasNull) this.#bits.fill(0xff);
    this.#hasNull = false;
  }

  /** Undefined when no row was dropped. */
  upTo(rowCount: number): Uint8Array | undefined {
    return this.#hasNull ? this.#bits.subarray(0, (rowCount + 7) >> 3) : undefined;
  }
}

export const nothingLost: readonly number[] = [];

/**
 * Changes from the usual values to wider ones, where a batch has one that the usual ones cannot
 * hold.
 */
export function widening(usual: Values, wider: Values): Values {
  let current = usual;
  return {
    wireBytes: usual.wireBytes,
    rowBytes: Math.max(usual.rowBytes, wider.rowBytes),
    add: (block, from, count, row) => current.add(block, from, count, row),
    widen() {
      current = wider;
    },
    clear() {
      current.clear();
      current = usual;
    },
    get: (rowCount) => current.get(rowCount),
    get lost() {
      return current.lost;
    },
  };
}
