/** JSON pointers (RFC 6901): "/a~1b/0" is the first element of the property "a/b". */

/** The names on the way, outermost first; of the empty pointer none. */
export const parsePointer = (pointer: string): string[] =>
  pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));

/** The pointer of these names; it may stand behind another one. */
export const toPointer = (...steps: readonly string[]): string =>
  steps.map((step) => `/${step.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

/**
 * The value at the pointer: own properties and elements only. Undefined when there is none, and for
 * a text that is no pointer.
 */
export function valueAt(document: unknown, pointer: string): unknown {
  if (pointer !== "" && !pointer.startsWith("/")) return undefined;
  let value = document;
  for (const step of parsePointer(pointer)) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step))
      return undefined;
    if (Array.isArray(value) && !arrayIndex.test(step)) return undefined;
    value = (value as { readonly [name: string]: unknown })[step];
  }
  return value;
}

const arrayIndex = /^(?:0|[1-9]\d*)$/;
