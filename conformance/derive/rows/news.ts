/** Warnings that a run gives and an undisturbed one does not. */
import type { Observation } from "../../contract/observation.ts";

const warningsOf = ({ messages }: Observation) =>
  messages.flatMap(({ message }) =>
    message.type === "LOG" && /^(?:WARN|ERROR|FATAL)/i.test(message.log.level)
      ? [message.log.message]
      : [],
  );

export function newWarnings(observation: Observation, usual: Observation): readonly string[] {
  const known = new Set(warningsOf(usual));
  return warningsOf(observation).filter((text) => !known.has(text));
}

/** True when one of them has that word: a field, a stream. */
export const namesNews = (observation: Observation, usual: Observation, word: string): boolean =>
  newWarnings(observation, usual).some((text) => text.includes(word));
