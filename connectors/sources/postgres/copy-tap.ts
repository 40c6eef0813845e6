/**
 * The messages of COPY, taken out of the server's stream before `pg` sees them: it would make an
 * object of every row.
 * @see https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-COPY (read 2026-11)
 */
import type { Duplex } from "node:stream";
import { ConnectorError } from "svc-connectors";

/** Who takes the rows of a COPY. */
export interface RowTaker {
  /** Bytes that one row may have. */
  readonly maxRowBytes: number;
  /**
   * Takes whole messages of rows, from `at` on.
   * @returns the place behind the last one that it took. When that is a message of a row, nothing
   * more is given to it until it asks.
   */
  take(bytes: Buffer, at: number, end: number): number;
  fail(error: unknown): void;
}

export interface CopyTap {
  /** Bytes that came so far. */
  readonly receivedBytes: number;
  /** From now on rows go to the taker. */
  open(taker: RowTaker): void;
  /** Goes on after the taker did not take a row. */
  resume(): void;
  close(): void;
}

/** The kinds of messages that matter here, and the bytes before their body. */
const kinds = { copyOut: 0x48, row: 0x64, copyDone: 0x63 };
export const headBytes = 5;

/** A type that is not the one that was asked for, or a server that speaks another protocol. */
export const malformed = () =>
  new ConnectorError("DATABASE_UNUSABLE", {
    reason: "its answer to COPY has not the form of PostgreSQL's",
  });

/** Must be called when `pg` listens to the stream already. */
export function createCopyTap(stream: Duplex): CopyTap {
  const listeners = stream.listeners("data") as ((chunk: Buffer) => void)[];
  stream.removeAllListeners("data");
  const pass = (chunk: Buffer) => {
    for (const listener of listeners) listener.call(stream, chunk);
  };

  let taker: RowTaker | undefined;
  let receivedBytes = 0;
  /** The beginning of a message that goes on in the next chunk. */
  let held = Buffer.allocUnsafeSlow(16 * 1024);
  let heldBytes = 0;
  /** Bytes of a message for `pg` that are still to come. */
  let passing = 0;
  /** The chunk that waits until the taker goes on. */
  let waiting: Buffer | undefined;

  const work = (chunk: Buffer) => {
    let at = 0;
    while (at < chunk.length) {
      if (passing > 0) {
        const end = Math.min(chunk.length, at + passing);
        passing -= end - at;
        pass(chunk.subarray(at, end));
        at = end;
      } else if (heldBytes > 0) {
        at = hold(chunk, at, headBytes);
        if (heldBytes < headBytes) return;
        const bytes = messageBytes(held, 0);
        if (!isOfCopy(held[0] as number)) {
          passing = bytes - headBytes;
          heldBytes = 0;
          pass(Buffer.from(held.subarray(0, headBytes)));
          continue;
        }
        at = hold(chunk, at, bytes);
        if (heldBytes < bytes) return;
        heldBytes = 0;
        const message = held.subarray(0, bytes);
        if (take(message, 0) === 0) return wait(Buffer.concat([message, chunk.subarray(at)]));
      } else if (chunk.length - at < headBytes) at = hold(chunk, at, headBytes);
      else if (!isOfCopy(chunk[at] as number)) passing = messageBytes(chunk, at);
      else {
        const end = take(chunk, at);
        if (end > at) at = end;
        else if (chunk.length - at >= messageBytes(chunk, at)) return wait(chunk.subarray(at));
        else at = hold(chunk, at, messageBytes(chunk, at));
      }
    }
  };

  const isOfCopy = (kind: number) =>
    taker !== undefined &&
    (kind === kinds.row || kind === kinds.copyOut || kind === kinds.copyDone);

  const messageBytes = (bytes: Buffer, at: number) => {
    const length = bytes.readInt32BE(at + 1) + 1;
    if (length < headBytes) throw malformed();
    return length;
  };

  /** Takes messages of COPY that are there as a whole, and gives the place behind them. */
  const take = (bytes: Buffer, at: number): number => {
    if (bytes[at] === kinds.row) return (taker as RowTaker).take(bytes, at, bytes.length);
    // They say that it begins and ends, which is seen by what comes next.
    const end = at + messageBytes(bytes, at);
    return end <= bytes.length ? end : at;
  };

  /** Adds to the held bytes until there are so many; gives the place behind what it took. */
  const hold = (chunk: Buffer, at: number, wanted: number): number => {
    const most = taker?.maxRowBytes ?? headBytes;
    if (wanted > most) throw new ConnectorError("RECORD_TOO_LARGE", { limit: most });
    if (held.length < wanted) {
      const larger = Buffer.allocUnsafeSlow(wanted);
      held.copy(larger, 0, 0, heldBytes);
      held = larger;
    }
    const end = Math.min(chunk.length, at + Math.max(0, wanted - heldBytes));
    chunk.copy(held, heldBytes, at, end);
    heldBytes += end - at;
    return end;
  };

  const wait = (chunk: Buffer) => {
    waiting = chunk;
    stream.pause();
  };

  const guarded = (chunk: Buffer) => {
    try {
      work(chunk);
    } catch (error) {
      // Thrown on, it would end the process. Others than ours may quote what was sent.
      taker?.fail(error instanceof ConnectorError ? error : malformed());
      stream.destroy();
    }
  };

  stream.on("data", (chunk: Buffer) => {
    receivedBytes += chunk.length;
    guarded(chunk);
  });

  return {
    get receivedBytes() {
      return receivedBytes;
    },
    open(next) {
      taker = next;
    },
    resume() {
      const chunk = waiting;
      waiting = undefined;
      if (chunk) guarded(chunk);
      if (!waiting) stream.resume();
    },
    close() {
      taker = undefined;
    },
  };
}
