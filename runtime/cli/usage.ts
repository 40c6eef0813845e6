/**
 * Something that the person at the terminal has to put right before anything can run: a flag, a
 * file, a name. Its message is one line; it never holds the content of a file. Exit code 2.
 */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The command was right and the world is not. Its message is one line. Exit code 1. */
export class CommandFailed extends Error {
  override readonly name = "CommandFailed";
}

/**
 * The word of `known` that was probably meant, as the end of a sentence: ` (did you mean "read"?)`,
 * or nothing.
 */
export function suggestion(wanted: string, known: readonly string[]): string {
  const lower = wanted.toLowerCase();
  const near = known
    .map((word) => ({ word, distance: editDistance(lower, word.toLowerCase()) }))
    .filter(
      ({ word, distance }) =>
        distance <= Math.max(1, Math.floor(Math.min(word.length, wanted.length) / 3)),
    )
    .sort((left, right) => left.distance - right.distance)[0];
  return near ? ` (did you mean "${printable(near.word)}"?)` : "";
}

/** Damerau–Levenshtein distance: insertions, deletions, replacements and swaps of neighbours. */
function editDistance(one: string, other: string): number {
  const rows: number[][] = [];
  for (let i = 0; i <= one.length; i++) {
    const row: number[] = [];
    for (let j = 0; j <= other.length; j++) {
      const isSame = one[i - 1] === other[j - 1];
      const isSwap = one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const near = [
        (rows[i - 1]?.[j] ?? j) + 1,
        (row[j - 1] ?? i) + 1,
        (rows[i - 1]?.[j - 1] ?? 0) + (isSame ? 0 : 1),
        ...(isSwap && i > 1 && j > 1 ? [(rows[i - 2]?.[j - 2] ?? 0) + 1] : []),
      ];
      row.push(i === 0 || j === 0 ? i + j : Math.min(...near));
    }
    rows.push(row);
  }
  return rows[one.length]?.[other.length] ?? 0;
}

/**
 * Text of others made safe for a terminal: one line, no control characters, at most `maxLength`
 * characters.
 */
export function printable(text: string, maxLength = 120): string {
  const flat = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, "?");
  return flat.length > maxLength ? `${flat.slice(0, maxLength - 1)}…` : flat;
}
