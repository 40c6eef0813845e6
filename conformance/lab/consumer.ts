/**
 * The consumer of a run's output: it takes the lines, may be slow, stall or go away, and keeps the
 * messages.
 */
import type { RunOptions } from "../contract/lab.ts";
import type { Message, ObservedMessage, RunProgress } from "../contract/observation.ts";
import type { VirtualClock } from "../replay/clock.ts";

/** A connector that has sent no request for this long has come to rest. */
const restMs = 250;

type ConsumerOptions = Pick<
  RunOptions,
  "stopAfter" | "stallAfter" | "slow" | "isBrief" | "onMessage" | "onUntaken"
>;

export interface Consumer {
  readonly messages: readonly ObservedMessage[];
  /** Lines that are no messages. */
  readonly strayOutput: readonly string[];
  /** Messages and RECORD messages that came, kept or not. */
  readonly messageCount: number;
  readonly recordCount: number;
  /** True when the consumer went away. */
  readonly isStopped: boolean;
  /** The run's progress when the consumer stalled and the connector came to rest. */
  readonly stalledAt: RunProgress | undefined;
  /** Takes a line; resolves when there is room for more. Rejects when the consumer is gone. */
  write(line: string): Promise<void>;
}

/** @param onMessage called after each message with how many there were */
export function createConsumer(
  options: ConsumerOptions,
  clock: Pick<VirtualClock, "now" | "pass">,
  requestCount: () => number,
  onMessage: (count: number) => void,
): Consumer {
  const { stopAfter, stallAfter, slow, isBrief } = options;
  const messages: ObservedMessage[] = [];
  const strayOutput: string[] = [];
  let messageCount = 0;
  let recordCount = 0;
  let stalledAt: RunProgress | undefined;
  let isStopped = false;
  let isSlowed = false;

  const keep = (message: Message, line: string) => {
    if (isBrief && message.type === "STATE" && messages.at(-1)?.message.type === "STATE")
      messages.pop();
    if (!isBrief || message.type !== "RECORD")
      messages.push({ message, line, requestCount: requestCount(), atMs: clock.now() });
  };
  const beSlow = (message: Message) => {
    if (!slow || isSlowed) return;
    if (slow.at === "record" ? message.type !== "RECORD" : messageCount <= slow.at) return;
    isSlowed = true;
    clock.pass(slow.ms);
  };
  return {
    messages,
    strayOutput,
    get messageCount() {
      return messageCount;
    },
    get recordCount() {
      return recordCount;
    },
    get isStopped() {
      return isStopped;
    },
    get stalledAt() {
      return stalledAt;
    },
    async write(line) {
      if (stallAfter !== undefined && messageCount >= stallAfter && !stalledAt) {
        options.onUntaken?.();
        await rest(requestCount);
        stalledAt = { messageCount, requestCount: requestCount() };
      }
      if (isStopped || (stopAfter !== undefined && messageCount >= stopAfter)) {
        isStopped = true;
        options.onUntaken?.();
        throw new Error("the consumer has gone");
      }
      const message = parseMessage(line);
      if (!message) return void strayOutput.push(line);
      messageCount++;
      if (message.type === "RECORD") recordCount++;
      keep(message, line);
      beSlow(message);
      onMessage(messageCount);
      await options.onMessage?.(message, messageCount);
    },
  };
}

/** Resolves when the count has not changed for a while; after some rounds in any case. */
async function rest(count: () => number): Promise<void> {
  for (let round = 0, before = -1; round < 20; round++) {
    const now = count();
    if (now === before) return;
    before = now;
    await new Promise((resolve) => setTimeout(resolve, restMs));
  }
}

const messageTypes = new Set([
  "SPEC",
  "CONNECTION_STATUS",
  "CATALOG",
  "RECORD",
  "STATE",
  "LOG",
  "TRACE",
  "CONTROL",
]);

/** A line of the protocol; undefined for anything else. */
function parseMessage(line: string): Message | undefined {
  try {
    const value = JSON.parse(line) as { type?: unknown };
    return typeof value === "object" && messageTypes.has(String(value?.type))
      ? (value as Message)
      : undefined;
  } catch {
    return undefined;
  }
}
