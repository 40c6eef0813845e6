import { randomBytes } from "node:crypto";
import type { BinaryField } from "./binary-columns.ts";

const threeHexDigits = Array.from({ length: 4096 }, (_, value) =>
  value.toString(16).padStart(3, "0"),
);

/** As a field: those of the next rows. */
export interface RowIds extends BinaryField {
  /** Tells the time; one that is earlier than the last is ignored. */
  at(nowMs: number): void;
  /** The next row's id as text. */
  next(): string;
}

/** Bytes of an id and its length in the binary form of COPY. */
const idBytes = 4 + 16;

/**
 * Ids for rows as UUIDs of version 7 (RFC 9562): time, a counter of 22 bits, and 52 random bits
 * that stay the same. Ordered by id, rows are in the order of their arrival. `startMs`: no id is
 * earlier, whatever the clock says.
 */
export function createRowIds(startMs: number): RowIds {
  const random = randomBytes(7).toString("hex").slice(1);
  let ms = startMs;
  let count = -1;
  let start = "";
  const setTime = () => {
    const hex = ms.toString(16).padStart(12, "0");
    start = `${hex.slice(0, 8)}-${hex.slice(8)}-7`;
  };
  setTime();
  const countOn = () => {
    count += 1;
    if (count < 1 << 22) return;
    // More rows in one batch than the counter counts.
    ms += 1;
    count = 0;
    setTime();
  };
  const randomTail = Buffer.from(`0${random}`, "hex");
  const tail4 = randomTail[0] as number;
  const tail16 = randomTail.readInt16BE(1);
  const tail32 = randomTail.readInt32BE(3);
  return {
    at(nowMs) {
      if (nowMs <= ms) return;
      ms = nowMs;
      count = -1;
      setTime();
    },
    next() {
      countOn();
      const high = threeHexDigits[count >> 10];
      const low = threeHexDigits[0x800 | (count & 0x3ff)];
      return `${start}${high}-${low}${random[0]}-${random.slice(1)}`;
    },
    measure: () => idBytes,
    fill({ view, next, rowCount }) {
      for (let row = 0; row < rowCount; row++) {
        countOn();
        const at = next[row] as number;
        view.setInt32(at, 16);
        view.setInt32(at + 4, Math.floor(ms / 2 ** 16));
        view.setInt32(at + 8, ((ms % 2 ** 16) << 16) | 0x7000 | (count >> 10));
        view.setInt16(at + 12, ((0x800 | (count & 0x3ff)) << 4) | tail4);
        view.setInt16(at + 14, tail16);
        view.setInt32(at + 16, tail32);
        next[row] = at + idBytes;
      }
    },
  };
}
