/**
 * Exact JSON trees: reading and changing them by JSON pointer, and writing them without rounding.
 */
import { parseExact, rawJson } from "svc-connectors";
import { isPlainObject, parsePointer, toPointer } from "svc-connectors/host";

/** The document of a text; undefined where it is none. */
export function readJson(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}

/** Whether `JSON.rawJSON` made it: a number that no double holds. */
const isRaw = (value: object): value is { readonly rawJSON: string } =>
  Object.getPrototypeOf(value) === null && "rawJSON" in value;

/** The text of a scalar as a parameter would have it; undefined for what is none, and for null. */
export function scalarText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean")
    return String(value);
  return typeof value === "object" && value !== null && isRaw(value) ? value.rawJSON : undefined;
}

/** JSON text, digit by digit. */
export function toText(value: unknown): string {
  return (
    JSON.stringify(value, (_, part) => (typeof part === "bigint" ? rawJson(String(part)) : part)) ??
    "null"
  );
}

/**
 * A copy with another value there; undefined takes the property away. Objects on the way are made
 * where they are missing.
 */
export function withValue(tree: unknown, pointer: string, value: unknown): unknown {
  const [step, ...rest] = parsePointer(pointer);
  if (step === undefined) return value;
  const below = toPointer(...rest);
  if (Array.isArray(tree) && Object.hasOwn(tree, step) && value !== undefined)
    return tree.with(Number(step), withValue(tree[Number(step)], below, value));
  if (!isPlainObject(tree))
    return value === undefined ? tree : { [step]: withValue({}, below, value) };
  if (value === undefined && !Object.hasOwn(tree, step)) return tree;
  const part = withValue(tree[step], below, value);
  if (part !== undefined) return { ...tree, [step]: part };
  return Object.fromEntries(Object.entries(tree).filter(([name]) => name !== step));
}

/** Scalars, null and whole arrays of a tree by pointer, except what stands at `except`. */
export function jsonLeaves(tree: unknown, except?: string): ReadonlyMap<string, unknown> {
  const leaves = new Map<string, unknown>();
  const visit = (value: unknown, pointer: string): void => {
    if (pointer === except) return;
    if (!isPlainObject(value)) leaves.set(pointer, value);
    else for (const [name, part] of Object.entries(value)) visit(part, pointer + toPointer(name));
  };
  visit(tree, "");
  return leaves;
}

/** Scalars inside the arrays of a tree by pointer, of `most` items of each array. */
export function arrayLeaves(
  tree: unknown,
  most = Number.POSITIVE_INFINITY,
): ReadonlyMap<string, unknown> {
  const leaves = new Map<string, unknown>();
  const visit = (value: unknown, pointer: string, isInside: boolean): void => {
    if (Array.isArray(value))
      for (const [at, part] of value.slice(0, most).entries())
        visit(part, pointer + toPointer(String(at)), true);
    else if (isPlainObject(value))
      for (const [name, part] of Object.entries(value))
        visit(part, pointer + toPointer(name), isInside);
    else if (isInside) leaves.set(pointer, value);
  };
  visit(tree, "", false);
  return leaves;
}

/** The last name of a pointer in lower case without `_` and `-`: "/meta/per_page" is "perpage". */
export const nameOf = (pointer: string) =>
  (parsePointer(pointer).at(-1) ?? pointer).toLowerCase().replaceAll(/[_-]/g, "");
