/** Finds the array of an answer that holds the rows of a listing. */
import { canonicalize, isPlainObject, valueAt } from "svc-connectors/host";
import type { ProviderRow } from "../contract/learned.ts";
import { jsonLeaves, scalarText } from "./json.ts";

/** Deeper arrays belong to rows or single objects. */
const maxDepth = 3;
/** Whoever has one of these is a thing of its own, and its arrays are its parts. */
const identityNames = ["id", "uuid", "_id", "gid"];

/**
 * The rows' pointer for answers to requests of one shape: the longest of the arrays of objects that
 * differ from page to page, else the only array. Undefined when no array stands out.
 */
export function findRows(trees: readonly unknown[], path: string): string | undefined {
  const arrays = new Map<string, { count: number; texts: Set<string> }>();
  for (const tree of trees) {
    for (const [pointer, value] of jsonLeaves(tree)) {
      if (!Array.isArray(value) || !value.every(isPlainObject) || !isListPlace(tree, pointer))
        continue;
      const seen = arrays.get(pointer) ?? { count: 0, texts: new Set() };
      seen.count += value.length;
      seen.texts.add(canonicalize(value));
      arrays.set(pointer, seen);
    }
  }
  // An array that never had an item may be anything, unless it stands at the top.
  for (const [pointer, { count }] of arrays)
    if (count === 0 && pointer.split("/").length > 2) arrays.delete(pointer);
  const [only, ...others] = arrays.keys();
  if (only === undefined || others.length === 0) return only;
  const changing = [...arrays]
    .filter(([, { texts }]) => texts.size > 1)
    .sort(([, a], [, b]) => b.count - a.count);
  if (changing[0]) return changing[0][0];
  const named = [...arrays.keys()].filter((pointer) => isNamedBy(pointer, path));
  return named.length === 1 ? named[0] : undefined;
}

/** Every word of the array's name stands in the path. */
function isNamedBy(pointer: string, path: string): boolean {
  const words = (pointer.split("/").at(-1) ?? "")
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== "");
  return words.length > 0 && words.every((word) => path.toLowerCase().includes(word));
}

function isListPlace(tree: unknown, pointer: string): boolean {
  const steps = pointer.split("/");
  if (steps.length - 1 > maxDepth) return false;
  return steps.every((_, depth) => {
    const holder = valueAt(tree, steps.slice(0, depth + 1).join("/"));
    return !isPlainObject(holder) || !Object.keys(holder).some((name) => isIdentity(name, depth));
  });
}

/** Answers have ids of their own at the top, of the request say. */
const isIdentity = (name: string, depth: number) =>
  identityNames.includes(name) ||
  (depth > 0 && /_id$/.test(name) && !/^(request|trace|correlation)_id$/.test(name));

/** The rows of an answer; undefined when there is no such array. */
export function rowsAt(tree: unknown, pointer: string): readonly ProviderRow[] | undefined {
  const rows = valueAt(tree, pointer);
  return Array.isArray(rows) && rows.every(isPlainObject) ? rows : undefined;
}

/**
 * Names a row among those of its listing: by a field that tells all rows apart, else by the whole
 * row.
 */
export function createIdentity(rows: readonly ProviderRow[]): (row: ProviderRow) => string {
  const field = identityNames.find((name) => {
    const texts = rows.map((row) => scalarText(row[name])).filter((text) => text !== undefined);
    return rows.length > 0 && new Set(texts).size === rows.length;
  });
  return (row) => canonicalize(field === undefined ? row : row[field]);
}
