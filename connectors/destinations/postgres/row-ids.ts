import { randomBytes } from "node:crypto";
import type { BinaryRows } from "./binary-rows.ts";

const threeHexDigits = Array.from({ length: 4096 }, (_, value) =>
  value.toString(16).padStart(3, "0"),
);

export interface RowIds {
  /** Tells the time; one that is earlier than the last is ignored. */
  at(nowMs: number): void;
  /** The next row's id as text. */
  next(): string;
  /** Writes the next row's id: 16 bytes. */
  put(out: BinaryRows): void;
}

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
    put(out) {
      countOn();
      out.int16(Math.floor(ms / 2 ** 32));
      out.int32(ms | 0);
      out.int16(0x7000 | (count >> 10));
      out.int16(((0x800 | (count & 0x3ff)) << 4) | (randomTail[0] as number));
      out.copy(randomTail, 1, 7);
    },
  };
}
