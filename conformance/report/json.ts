import type { ConformanceReport } from "../contract/report.ts";

/**
 * The whole report as JSON. Keys are sorted, so that two reports differ only where their runs do.
 * Ends with a line end.
 */
export function renderJson(report: ConformanceReport): string {
  return `${JSON.stringify(report, sortKeys, 2)}\n`;
}

function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
