/**
 * A replacement in a text, by position: several finders look at the same text, and none sees the
 * replacements of another.
 */
export interface Edit {
  readonly start: number;
  /** The first position behind it. */
  readonly end: number;
  readonly text: string;
}

/**
 * The edits in order and without overlaps. Where two overlap, the one that comes first in the list
 * replaces both ranges.
 */
export function mergeEdits(edits: readonly Edit[]): Edit[] {
  const merged: Edit[] = [];
  for (const edit of edits) {
    const touched = merged.filter((other) => other.start < edit.end && edit.start < other.end);
    const [first] = touched.sort((left, right) => merged.indexOf(left) - merged.indexOf(right));
    for (const other of touched) merged.splice(merged.indexOf(other), 1);
    merged.push({
      start: Math.min(edit.start, ...touched.map(({ start }) => start)),
      end: Math.max(edit.end, ...touched.map(({ end }) => end)),
      text: (first ?? edit).text,
    });
  }
  return merged.sort((left, right) => left.start - right.start);
}

/** @param edits as {@link mergeEdits} gives them */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  return edits.reduceRight(
    (rest, { start, end, text: inserted }) => rest.slice(0, start) + inserted + rest.slice(end),
    text,
  );
}
