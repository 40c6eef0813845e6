/** Answers that say the same with the keys of their JSON in other orders. */
import { parseExact } from "svc-connectors";
import { isPlainObject } from "svc-connectors/host";
import type { Answer } from "../contract/network.ts";
import { createRandom, type Random } from "../contract/random.ts";
import { toText } from "../learn/json.ts";

/**
 * Every object's keys, in a document of JSON or in lines of it; anything else stays as it is, also
 * around them.
 */
export function withShuffledKeys(answer: Answer, seed: number): Answer {
  const text = answer.body.toString("utf8");
  const random = createRandom(seed);
  const lines = () => text.split("\n").map((line) => shuffledText(line, random) ?? line);
  const shuffled = shuffledText(text, random) ?? lines().join("\n");
  return shuffled === text ? answer : { ...answer, body: Buffer.from(shuffled) };
}

/** Undefined when it is no JSON. */
function shuffledText(text: string, random: Random): string | undefined {
  const json = text.trim();
  if (!/^[[{]/.test(json)) return undefined;
  try {
    const shuffled = toText(shuffledValue(parseExact(json), random));
    return text.replace(json, () => shuffled);
  } catch {
    return undefined;
  }
}

function shuffledValue(value: unknown, random: Random): unknown {
  if (Array.isArray(value)) return value.map((part) => shuffledValue(part, random));
  if (!isPlainObject(value)) return value;
  const entries = Object.entries(value).map(
    ([name, part]) => [name, shuffledValue(part, random)] as const,
  );
  // Reversed: no key stays where it was by chance.
  return Object.fromEntries(entries.length > 4 ? random.shuffle(entries) : entries.toReversed());
}
