import { ControlError, refuseField } from "../contract/reasons.ts";

const maxDepth = 32;

/**
 * Parses a request's body. JSON.parse keeps the last of two properties of one name and rounds what
 * a double cannot hold, and PostgreSQL keeps no NUL and no half of a surrogate pair: such bodies
 * are refused here, where the place can be named.
 * @throws malformed_json, duplicate_field, nesting_too_deep, validation_failed
 */
export function parseJsonBody(bytes: Uint8Array): unknown {
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    value = JSON.parse(text);
  } catch {
    throw new ControlError("malformed_json");
  }
  checkStructure(text);
  return value;
}

/** A string that can be stored. */
export const isStorable = (text: string): boolean =>
  text.isWellFormed() && !text.includes("\u0000");

/**
 * A property's name as far as it may be repeated: it looks like a name. What else stands there may
 * be a secret in the wrong place.
 */
export const safeName = (name: string): string | undefined =>
  /^[A-Za-z][A-Za-z_]{0,39}$/.test(name) ? name : undefined;

const join = (path: string, name: string | undefined) =>
  [path, name].filter((part) => part).join(".");

interface Level {
  readonly path: string;
  /** Names so far; undefined in a list. */
  readonly names: Set<string> | undefined;
  name: string | undefined;
  index: number;
}

/**
 * Whether a number means after parsing what its text says: finite, and if it is whole, without
 * rounding.
 */
const isExact = (token: string): boolean =>
  /[.eE]/.test(token) ? Number.isFinite(Number(token)) : Number.isSafeInteger(Number(token));

/** One pass over the tokens of a text that is known to be JSON. */
function checkStructure(text: string): void {
  const levels: Level[] = [];
  const tokens = /"(?:[^"\\]+|\\.)*"|[{}[\],:]|-?\d[\d.eE+-]*/g;
  let isName = false;
  const here = () => {
    const level = levels.at(-1);
    if (!level) return "";
    return level.names ? join(level.path, level.name) : join(level.path, String(level.index));
  };
  for (const { 0: token } of text.matchAll(tokens)) {
    const level = levels.at(-1);
    if (token === "{" || token === "[") {
      if (levels.length === maxDepth) throw new ControlError("nesting_too_deep");
      levels.push({
        path: here(),
        names: token === "{" ? new Set() : undefined,
        name: undefined,
        index: 0,
      });
      isName = token === "{";
    } else if (token === "}" || token === "]") {
      levels.pop();
      isName = false;
    } else if (token === ",") {
      if (level) level.index += 1;
      isName = level?.names !== undefined;
    } else if (token === ":") {
      isName = false;
    } else if (!token.startsWith('"')) {
      if (!isExact(token))
        throw refuseField(
          "validation_failed",
          here(),
          "is a number that would be changed: send a text",
        );
    } else {
      const string = JSON.parse(token) as string;
      if (isName && level?.names) {
        // Whoever copies it property by property would change what all objects have.
        if (string === "__proto__")
          throw refuseField("validation_failed", level.path, "has a field of a forbidden name");
        level.name = safeName(string);
        if (level.names.has(string)) throw refuseField("duplicate_field", here(), "stands twice");
        level.names.add(string);
      }
      if (!isStorable(string))
        throw refuseField("validation_failed", here(), "holds a character that cannot be stored");
    }
  }
}
