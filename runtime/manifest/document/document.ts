/**
 * The document of a manifest: a stranger's YAML as plain data, references and parameters put in.
 */
import { budgets } from "../../contract/budgets.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../contract/json.ts";
import { measureJson } from "../../wire/bounded-json.ts";
import { parsePointer, valueAt } from "../../wire/json-pointer.ts";
import { parseYamlDocument, YamlFault } from "../../wire/yaml-document.ts";
import { type PlainValue, truth } from "../expressions/values.ts";
import { isSchemaName, supported, type Type } from "./component.ts";
import { defaultTypeOf } from "./default-types.ts";
import { invalid } from "./invalid.ts";

const whole = "the manifest";
/** More than this are no list that somebody wrote down. */
export const maxStreams = 10_000;

/** @throws CONNECTOR_INVALID with the place */
export function readDocument(text: string): JsonObject {
  const written = parseYaml(text);
  refuseTooMany(written);
  const document = resolveReferences(written);
  refuseTooMany(document);
  return withParameters({ type: "DeclarativeSource", ...document }, {}) as JsonObject;
}

/** Before anything is made of them. */
function refuseTooMany({ streams }: JsonObject): void {
  const list = Array.isArray(streams) ? streams : [];
  const count = list.reduce((sum: number, one) => {
    const inner = isJsonObject(one) ? one.streams : undefined;
    return sum + (Array.isArray(inner) ? inner.length : 1);
  }, 0);
  if (count > maxStreams) throw invalid("manifest.streams", `are more than ${maxStreams} streams`);
}

const tooMuch: Readonly<Record<string, string>> = {
  TOO_MANY_ALIASES: "has too many aliases",
  TOO_MANY_TOKENS: `has more than ${budgets.yamlTokens.count[0]} names, values and signs`,
};

/** @throws CONNECTOR_INVALID for what is no YAML, or no object */
export function parseYaml(text: string, place = whole): JsonObject {
  const { bytes, depth, count } = budgets.declarativeManifest;
  if (Buffer.byteLength(text) > bytes) throw invalid(place, `is larger than ${bytes} bytes`);
  if (measureJson(Buffer.from(text)).depth > depth)
    throw invalid(place, `is nested deeper than ${depth} levels`);
  let value: unknown;
  try {
    value = parseYamlDocument(text).document.toJS({ maxAliasCount: count[0] });
    value = JSON.parse(JSON.stringify(value ?? null));
  } catch (error) {
    if (error instanceof YamlFault)
      throw invalid(place, tooMuch[error.code] ?? `is not valid YAML: line ${error.line}`);
    if (
      error instanceof RangeError ||
      error instanceof ReferenceError ||
      error instanceof TypeError
    )
      throw invalid(place, "has too many aliases, refers to itself, or is nested too deeply");
    throw error;
  }
  if (!isJsonObject(value)) throw invalid(place, "must be an object");
  return value;
}

/**
 * Puts in what `$ref: "#/definitions/…"` and texts of that form mean; keys beside `$ref` win.
 * @throws CONNECTOR_INVALID for a reference to a file, to nothing, or to itself
 */
function resolveReferences(root: JsonObject): JsonObject {
  const { values: maxValues, depth: maxDepth } = budgets.declarativeManifest;
  let values = 0;
  const resolve = (
    value: JsonValue,
    path: string,
    open: readonly string[],
    depth: number,
  ): JsonValue => {
    if (++values > maxValues) throw invalid(whole, `has more than ${maxValues} values`);
    if (depth > maxDepth) throw invalid(path || whole, `is nested deeper than ${maxDepth} levels`);
    if (typeof value === "string" && value.startsWith("#/"))
      return follow(value, path, open, depth);
    if (Array.isArray(value))
      return value.map((part, index) => resolve(part, `${path}.${index}`, open, depth + 1));
    if (!isJsonObject(value)) return value;
    const made: JsonObject = {};
    const reference = value.$ref;
    if (reference !== undefined) {
      if (typeof reference !== "string") throw invalid(`${path}.$ref`, "must be a text");
      const found = follow(reference, path, open, depth);
      if (!isJsonObject(found)) return found;
      Object.assign(made, found);
    }
    for (const [name, part] of Object.entries(value)) {
      if (name === "$ref") continue;
      if (name === "__proto__") throw invalid(path || whole, "has a property __proto__");
      const here = path === "" ? name : `${path}.${name}`;
      const own = resolve(part, here, open, depth + 1);
      const given = made[name];
      made[name] =
        name === "$parameters" && isJsonObject(given) && isJsonObject(own)
          ? { ...given, ...own }
          : own;
    }
    return made;
  };
  const follow = (reference: string, path: string, open: readonly string[], depth: number) => {
    if (!reference.startsWith("#/"))
      throw invalid(path || whole, "refers to another document; only #/… is followed");
    if (open.includes(reference)) throw invalid(path || whole, "refers to itself");
    const pointer = reference.slice(1);
    const found = valueAt(root, pointer) as JsonValue | undefined;
    if (found === undefined) throw invalid(path || whole, "refers to what is not there");
    return resolve(found, parsePointer(pointer).join("."), [...open, reference], depth + 1);
  };
  const made: JsonObject = {};
  // A definition that is not used counts for nothing; others are resolved where they are referred
  // to.
  for (const [name, part] of Object.entries(root))
    if (name !== "definitions") made[name] = resolve(part, name, [], 1);
  return made;
}

/**
 * Hands `$parameters` down: a component gets those of the components around it. Its own win. Where
 * a component names no type, it gets the one that is meant there.
 * @param isOuterFirst those of the components around it win
 */
export function withParameters(
  given: JsonValue,
  outer: JsonObject,
  isOuterFirst = false,
): JsonValue {
  const { values: maxValues } = budgets.declarativeManifest;
  let values = 0;
  const within = (value: JsonValue, around: JsonObject, place: string): JsonValue => {
    if (++values > maxValues) throw invalid(whole, `has more than ${maxValues} values`);
    if (Array.isArray(value)) return value.map((part) => within(part, around, place));
    if (!isJsonObject(value)) return value;
    const own = isJsonObject(value.$parameters) ? value.$parameters : {};
    const parameters = isOuterFirst ? { ...own, ...around } : { ...around, ...own };
    const isNamed = value.type !== undefined || value.class_name !== undefined;
    const type = isNamed ? value.type : defaultTypeOf(place);
    const isComponent = typeof type === "string" && /^[A-Z]/.test(type);
    const made: JsonObject = {};
    const all = isComponent ? { ...value, ...propertiesAmong(parameters, type, value) } : value;
    for (const [name, part] of Object.entries(all)) {
      if (name === "$parameters") continue;
      // A component that is handed down is not handed down to itself.
      const { [name]: _, ...others } = parameters;
      made[name] = isSchemaName(name)
        ? part
        : within(part, isTree(parameters[name]) ? others : parameters, `${type}.${name}`);
    }
    return isComponent ? { ...made, type, $parameters: parameters } : made;
  };
  return within(given, outer, "");
}

/** Parameters that are properties of a component, where it has none of that name itself. */
function propertiesAmong(parameters: JsonObject, type: string, own: JsonObject): JsonObject {
  const names = Object.hasOwn(supported, type) ? supported[type as Type].split(" ") : [];
  return Object.fromEntries(
    names
      .filter((name) => Object.hasOwn(parameters, name) && !truth(own[name] as PlainValue))
      .map((name) => [name, parameters[name] as JsonValue]),
  );
}

const isTree = (value: JsonValue | undefined) => typeof value === "object" && value !== null;
