/** Waiting for a slot to have something to say. */
import type { PostgresContext } from "../spec.ts";
import { createChangeDecoder, tags } from "./pgoutput.ts";
import type { SlotPiece } from "./session.ts";

const changeTags: ReadonlySet<number | undefined> = new Set([
  tags.insert,
  tags.update,
  tags.delete,
  tags.truncate,
  tags.oversized,
]);

/** The messages of a slot from a transaction on. */
export interface BegunPieces {
  readonly pieces: AsyncGenerator<SlotPiece>;
  /** The transaction. Undefined: none has come. */
  readonly xid?: number | undefined;
}

/**
 * Waits until a slot gives the first change of a row, or the time is over. Transactions without one
 * are forgotten. Gives the messages from that change's transaction on.
 */
export async function untilChange(
  { clock }: PostgresContext,
  pieces: AsyncGenerator<SlotPiece>,
  waitMs: number,
): Promise<BegunPieces> {
  const waiting = new AbortController();
  const over = clock.sleep(waitMs, waiting.signal).then(
    () => undefined,
    () => undefined,
  );
  let begun: Buffer[] = [];
  let hasChange = false;
  let next: Promise<IteratorResult<SlotPiece>> | undefined;
  while (!hasChange) {
    next = ask(pieces);
    const step = await Promise.race([next, over]);
    if (!step || step.done) break;
    next = undefined;
    const { bytes, places } = step.value;
    for (let index = 0; index < places.length; index += 2) {
      const message = bytes.subarray(places[index], places[index + 1]);
      if (changeTags.has(message[0])) hasChange = true;
      if (message[0] === tags.commit && !hasChange) begun = [];
      else begun.push(Buffer.from(message));
    }
  }
  waiting.abort();
  const [first] = begun;
  const change = hasChange && first ? createChangeDecoder()(first) : undefined;
  return {
    pieces: goOn(pieces, toPiece(begun), next),
    xid: change?.kind === "begin" ? change.xid : undefined,
  };
}

/** Whoever gives up waiting leaves an answer behind that may be a failure. */
function ask(pieces: AsyncGenerator<SlotPiece>): Promise<IteratorResult<SlotPiece>> {
  const next = pieces.next();
  next.catch(() => undefined);
  return next;
}

function toPiece(messages: readonly Buffer[]): SlotPiece {
  const places: number[] = [];
  let at = 0;
  for (const { length } of messages) {
    places.push(at, at + length);
    at += length;
  }
  return { bytes: Buffer.concat(messages), places };
}

async function* goOn(
  pieces: AsyncGenerator<SlotPiece>,
  begun: SlotPiece,
  asked: Promise<IteratorResult<SlotPiece>> | undefined,
): AsyncGenerator<SlotPiece> {
  if (begun.places.length > 0) yield begun;
  const step = await asked;
  if (step?.done) return;
  if (step) yield step.value;
  yield* pieces;
}
