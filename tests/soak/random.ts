import { createHash } from "node:crypto";
import { createRandom } from "../../fixtures/random.ts";

/** Decisions of a soak, the same for the same seed. */
export interface Random {
  chance(probability: number): boolean;
  /** From `least` to `most`, both included. */
  whole(least: number, most: number): number;
  /** Undefined when there is none. */
  pick<Item>(items: readonly Item[]): Item | undefined;
  /** Decisions of their own for a thing, whatever was decided before. */
  of(thing: string): Random;
}

export function createDecisions(seed: number): Random {
  const random = createRandom(seed);
  const whole = (least: number, most: number) => least + Math.floor(random() * (most - least + 1));
  return {
    chance: (probability) => random() < probability,
    whole,
    pick: (items) => items[whole(0, items.length - 1)],
    of: (thing) =>
      createDecisions(createHash("sha256").update(`${seed} ${thing}`).digest().readInt32LE()),
  };
}
