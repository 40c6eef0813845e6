/**
 * The table of docs/manifests-differences.md: how this interpreter differs from Airbyte's, and why.
 */
import { readFileSync } from "node:fs";

/** Whose a difference is. */
export const kinds = ["a fault of theirs", "ours", "a guarantee of ours"] as const;
/** The parts of a reading that are compared; a dash where no case can show it. */
export const parts = [
  ...["waits", "order", "requests", "state", "records", "failed"],
  "—",
] as const;

export interface Difference {
  readonly part: string;
  readonly kind: string;
}

const page = new URL("../../docs/manifests-differences.md", import.meta.url);
const row = /^\| `([\w-]+)` \| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$/gm;

/** By their names. */
export const differences: ReadonlyMap<string, Difference> = new Map(
  [...readFileSync(page, "utf8").matchAll(row)].map(([, name = "", part, , , kind]) => [
    name,
    { part: String(part).trim(), kind: String(kind).trim() },
  ]),
);
