/** How two values differ, in the parts that somebody reads. */

export interface Part {
  readonly kind: "same" | "gone" | "new";
  readonly text: string;
}

/** Longer texts are told as one that goes and one that comes. */
const maxLines = 400;

/** Lines that go, come and stay: what is common to both in the longest way. */
export function lineParts(before: string, after: string): readonly Part[] {
  const [left, right] = [before.split("\n"), after.split("\n")];
  if (left.length > maxLines || right.length > maxLines)
    return [
      { kind: "gone", text: before },
      { kind: "new", text: after },
    ];
  // How many lines the rests have in common, from each place on.
  const common = left.map(() => new Array<number>(right.length + 1).fill(0));
  const commonAt = (row: number, column: number) => common[row]?.[column] ?? 0;
  for (let row = left.length - 1; row >= 0; row--)
    for (let column = right.length - 1; column >= 0; column--) {
      const line = common[row];
      if (line)
        line[column] =
          left[row] === right[column]
            ? commonAt(row + 1, column + 1) + 1
            : Math.max(commonAt(row + 1, column), commonAt(row, column + 1));
    }
  const parts: Part[] = [];
  let [row, column] = [0, 0];
  while (row < left.length || column < right.length) {
    const [gone, come] = [left[row], right[column]];
    if (gone !== undefined && gone === come) {
      parts.push({ kind: "same", text: gone });
      row += 1;
      column += 1;
    } else if (
      gone !== undefined &&
      (come === undefined || commonAt(row + 1, column) >= commonAt(row, column + 1))
    ) {
      parts.push({ kind: "gone", text: gone });
      row += 1;
    } else {
      parts.push({ kind: "new", text: come ?? "" });
      column += 1;
    }
  }
  return parts;
}

const isWord = (value: unknown): value is string | number | boolean =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean";

/** A list of words, or of paths of words. */
export const wordsOf = (value: unknown): readonly string[] | undefined => {
  if (!Array.isArray(value)) return undefined;
  const words = value.map((one) =>
    Array.isArray(one) && one.every(isWord) ? one.join(".") : isWord(one) ? String(one) : undefined,
  );
  return words.every((one) => one !== undefined) ? words : undefined;
};

/** Compares two lists of words: what goes, what comes, and how many stay. */
export function listParts(before: readonly string[], after: readonly string[]) {
  const [left, right] = [new Set(before), new Set(after)];
  return {
    gone: before.filter((one) => !right.has(one)),
    come: after.filter((one) => !left.has(one)),
    stay: after.filter((one) => left.has(one)).length,
  };
}

export interface Change {
  readonly path: string[];
  readonly change: "add" | "change" | "remove";
  readonly before: unknown;
  readonly after: unknown;
  readonly is_secret: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The fields in which two states of a thing differ. A list is one value. */
export function changesBetween(
  before: Fields,
  after: Fields,
  path: readonly string[] = [],
): Change[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name) => {
    const [left, right] = [before[name], after[name]];
    const place = [...path, name];
    if (isObject(left) && isObject(right)) return changesBetween(left, right, place);
    if (JSON.stringify(left ?? null) === JSON.stringify(right ?? null)) return [];
    const change = left === undefined ? "add" : right === undefined ? "remove" : "change";
    return [{ path: place, change, before: left ?? null, after: right ?? null, is_secret: false }];
  });
}
