/** Waiting for a slot to have something to say. */
import type { PostgresContext } from "../spec.ts";
import { decodeChange } from "./pgoutput.ts";
import type { SlotMessage } from "./session.ts";

const commitTag = 0x43;
/** Of an insert, an update, a delete, a truncate. */
const changeTags: ReadonlySet<number | undefined> = new Set([0x49, 0x55, 0x44, 0x54]);

/** The messages of a slot from a transaction on. */
export interface BegunMessages {
  readonly messages: AsyncGenerator<SlotMessage>;
  /** The transaction. Undefined: none has come. */
  readonly xid?: number | undefined;
}

/**
 * Waits until a slot gives the first change of a row, or the time is over. Transactions without one
 * are forgotten. Gives the messages from that change's transaction on.
 */
export async function untilChange(
  { clock }: PostgresContext,
  messages: AsyncGenerator<SlotMessage>,
  waitMs: number,
): Promise<BegunMessages> {
  const waiting = new AbortController();
  const over = clock.sleep(waitMs, waiting.signal).then(
    () => undefined,
    () => undefined,
  );
  let begun: SlotMessage[] = [];
  let next = ask(messages);
  let xid: number | undefined;
  for (;;) {
    const step = await Promise.race([next, over]);
    if (!step || step.done) break;
    const { value: message } = step;
    const tag = message.kind === "change" ? message.payload[0] : undefined;
    if (tag === commitTag) begun = [];
    else if (message.kind === "change")
      begun.push({ ...message, payload: Buffer.from(message.payload) });
    next = ask(messages);
    if (!changeTags.has(tag)) continue;
    const [first] = begun;
    const change = first?.kind === "change" ? decodeChange(first.payload) : undefined;
    if (change?.kind === "begin") ({ xid } = change);
    break;
  }
  waiting.abort();
  return { messages: goOn(messages, begun, next), xid };
}

/** Whoever gives up waiting leaves an answer behind that may be a failure. */
function ask(messages: AsyncGenerator<SlotMessage>): Promise<IteratorResult<SlotMessage>> {
  const next = messages.next();
  next.catch(() => undefined);
  return next;
}

async function* goOn(
  messages: AsyncGenerator<SlotMessage>,
  begun: readonly SlotMessage[],
  first: Promise<IteratorResult<SlotMessage>>,
): AsyncGenerator<SlotMessage> {
  yield* begun;
  const step = await first;
  if (step.done) return;
  yield step.value;
  yield* messages;
}
