/** Choices that come out the same for the same seed. */
export interface Random {
  /** A whole number from 0 to `below` - 1. */
  below(below: number): number;
  shuffle<T>(items: readonly T[]): T[];
  /** At most `most` of the items in their order; the first and the last are always among them. */
  sample<T>(items: readonly T[], most: number): readonly T[];
}

export function createRandom(seed: number): Random {
  let state = (seed ^ 0x9e3779b9) >>> 0;
  const next = () => {
    // mulberry32 (public domain, Tommy Ettinger).
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  const shuffle = <T>(items: readonly T[]): T[] => {
    const shuffled = [...items];
    for (let at = shuffled.length - 1; at > 0; at--) {
      const other = below(at + 1);
      [shuffled[at], shuffled[other]] = [shuffled[other] as T, shuffled[at] as T];
    }
    return shuffled;
  };
  return {
    below,
    shuffle,
    sample(items, most) {
      if (items.length <= most) return items;
      const inner = shuffle(items.slice(1, -1).map((_, index) => index + 1)).slice(
        0,
        Math.max(0, most - 2),
      );
      return [0, ...inner.sort((a, b) => a - b), items.length - 1].map(
        (index) => items[index] as (typeof items)[number],
      );
    },
  };
}
