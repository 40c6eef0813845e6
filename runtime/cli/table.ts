import { printable } from "./usage.ts";

/**
 * A table for people: columns as wide as their content, numbers to the right. Cells are made safe
 * for a terminal.
 */
export function formatTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const cells = [headings, ...rows].map((row) => row.map((cell) => printable(cell, 60)));
  const widths = headings.map((_, column) =>
    Math.max(...cells.map((row) => row[column]?.length ?? 0)),
  );
  const isNumber = headings.map(
    (_, column) => rows.length > 0 && rows.every((row) => /^[\d,]+$/.test(row[column] ?? "")),
  );
  const lines = cells.map((row) =>
    row
      .map((cell, column) =>
        isNumber[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd(),
  );
  return lines.join("\n");
}
