/** Warnings that a run gives and an undisturbed one does not. */
import type { Observation } from "../contract/observation.ts";

const warningsOf = ({ messages }: Observation) =>
  messages.flatMap(({ message }) =>
    message.type === "LOG" && /^(?:WARN|ERROR|FATAL)/i.test(message.log.level) ? [message.log.message] : [],
  );

/** True when one of them has that word: a field, a stream. */
export function namesNews(observation: Observation, usual: Observation, word: string): boolean {
  const known = new Set(warningsOf(usual));
  return warningsOf(observation).some((text) => !known.has(text) && text.includes(word));
}
