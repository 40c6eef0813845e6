/** The config sweep: the valid configuration with one thing wrong in it, for everything that the spec says of a setting. */
import type { JsonObject, JsonValue } from "svc-connectors";
import type { Lab } from "../contract/lab.ts";
import { alternativesOf, isMarkedSecret, isSchema } from "../rules/spec-properties.ts";
import { compileSchema } from "./schemas.ts";
import { settingAt, withSetting } from "./settings.ts";

export interface ConfigCase {
  /** "page_size is text". */
  readonly name: string;
  /** Dotted path of the setting; "" is the whole. */
  readonly path: string;
  readonly kind: "removed" | "wrong type" | "empty" | "blank" | "line break" | "NUL" | "1 MB" | "out of range" | "unknown key" | "unknown alternative";
  readonly config: JsonObject;
  readonly schema: JsonObject;
  /** No such configuration can be meant. Else it is enough that nothing breaks. */
  readonly isWrong: boolean;
}

/** A setting in the alternatives that the configuration has chosen. */
interface Setting {
  readonly path: string;
  readonly schema: JsonObject;
  readonly isRequired: boolean;
}

const megabyte = 2 ** 20;

/** Every case, in the order of the spec. */
export function configCases(lab: Pick<Lab, "spec" | "config">): readonly ConfigCase[] {
  const { spec, config } = lab;
  const isInvalid = validityOf(spec);
  const settings = settingsOf(spec, config, config);
  const removed = settings.filter(({ schema, isRequired }) => isRequired && schema.default === undefined).flatMap((setting): ConfigCase[] => {
    const without = withSetting(config, setting.path, undefined);
    return without ? [{ ...setting, name: `${setting.path} is missing`, kind: "removed", config: without, isWrong: true }] : [];
  });
  const values = settings.flatMap((setting) =>
    valuesFor(setting).flatMap(({ what, kind, value, isHostile }): ConfigCase[] => {
      const changed = withSetting(config, setting.path, value);
      if (!changed || Object.hasOwn(setting.schema, "const")) return [];
      const isWrong = isInvalid(changed);
      // "Out of range" is what the schema says it is.
      if (!isWrong && !isHostile && (kind === "out of range" || kind === "wrong type")) return [];
      return [{ ...setting, name: `${setting.path} is ${what}`, kind, config: changed, isWrong: isWrong || isHostile }];
    }),
  );
  return [...removed, ...values, ...unknownKeys(settings, config, isInvalid), ...unknownAlternatives(settings, config, isInvalid)];
}

function validityOf(spec: JsonObject): (config: JsonObject) => boolean {
  try {
    const compiled = compileSchema(spec);
    return (config) => compiled.fault(config) !== undefined;
  } catch {
    return () => false; // SPEC-02 says what is wrong with the schema
  }
}

function settingsOf(schema: JsonObject, config: JsonObject, value: JsonValue | undefined, prefix = ""): Setting[] {
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const properties = isSchema(schema.properties) ? schema.properties : {};
  const undeclared = prefix === "" ? required.filter((name) => !Object.hasOwn(properties, name) && !alternativesOf(schema).some((one) => isSchema(one.properties) && Object.hasOwn(one.properties, name))) : [];
  const own = Object.entries(properties).flatMap(([name, part]): Setting[] => {
    if (!isSchema(part)) return [];
    const path = prefix === "" ? name : `${prefix}.${name}`;
    const below = settingAt(config, path);
    return [{ path, schema: part, isRequired: required.includes(name) }, ...(isSchema(below) ? settingsOf(part, config, below, path) : [])];
  });
  const chosen = alternativesOf(schema).filter((one) => isChosen(one, value)).flatMap((one) => settingsOf(one, config, value, prefix));
  const known = new Set(own.map(({ path }) => path));
  return [...own, ...chosen.filter(({ path }) => !known.has(path)), ...undeclared.map((path) => ({ path, schema: {}, isRequired: true }))];
}

/** An alternative whose constants are those of the value. */
function isChosen({ properties }: JsonObject, value: JsonValue | undefined): boolean {
  if (!isSchema(properties)) return false;
  return Object.entries(properties).every(([name, part]) => !isSchema(part) || !Object.hasOwn(part, "const") || (isSchema(value) && value[name] === part.const));
}

interface WrongValue {
  readonly what: string;
  readonly kind: ConfigCase["kind"];
  readonly value: JsonValue;
  /** Whatever the schema says: nobody can mean it. */
  readonly isHostile: boolean;
}

function valuesFor({ schema, isRequired }: Setting): WrongValue[] {
  const types = typesOf(schema);
  const wrongType = (what: string, value: JsonValue): WrongValue => ({ what, kind: "wrong type", value, isHostile: false });
  const found: WrongValue[] = [wrongType("null", null)];
  if (types.has("string")) found.push(wrongType("a number", 12_345), wrongType("an object", {}), ...textsFor(schema, isRequired));
  if (types.has("integer") || types.has("number")) found.push(wrongType("text", "abc"), wrongType("empty text", ""), wrongType("a list", [1]), ...numbersFor(schema));
  if (types.has("integer")) found.push(wrongType("a fraction", 1.5));
  if (types.has("boolean")) found.push(wrongType("text", "yes"), wrongType("a number", 2));
  if (types.has("array")) found.push(wrongType("text", "abc"), wrongType("an object", {}), wrongType("a list of objects", [{}]), ...listsFor(schema));
  if (types.has("object")) found.push(wrongType("text", "abc"), wrongType("a list", []));
  return found;
}

function typesOf(schema: JsonObject): Set<JsonValue> {
  const own = schema.type === undefined ? [] : [schema.type].flat();
  const listed = Array.isArray(schema.enum) ? schema.enum.map((value) => (Array.isArray(value) ? "array" : typeof value)) : [];
  return new Set([...own, ...listed, ...alternativesOf(schema).flatMap((one) => [...typesOf(one)])]);
}

/** Text that a person never enters, and that has gone wrong in headers, URLs, C code and regular expressions. */
function textsFor(schema: JsonObject, isRequired: boolean): WrongValue[] {
  const { minLength, maxLength, pattern, format } = schema;
  const isNeeded = isRequired || isMarkedSecret(schema);
  const isLong = schema.multiline === true || format === "json" || format === "textarea";
  const range = (what: string, value: string): WrongValue => ({ what, kind: "out of range", value, isHostile: false });
  return [
    { what: "empty", kind: "empty", value: "", isHostile: isNeeded },
    { what: "blank", kind: "blank", value: " ".repeat(Math.max(3, Number(minLength ?? 0))), isHostile: isNeeded },
    { what: "text with a line break and a header after it", kind: "line break", value: "abcdefgh\r\nX-Injected: yes", isHostile: !isLong },
    { what: "text with a NUL in it", kind: "NUL", value: "abcdefgh\u0000ijklmnop", isHostile: true },
    { what: "1 MB of text", kind: "1 MB", value: "a".repeat(megabyte), isHostile: true },
    ...(typeof minLength === "number" && minLength > 1 ? [range("too short", "a".repeat(minLength - 1))] : []),
    ...(typeof maxLength === "number" && maxLength < megabyte ? [range("too long", "a".repeat(maxLength + 1))] : []),
    ...(pattern === undefined ? [] : [range("text of another form", "§ of no form §")]),
    ...(format === undefined ? [] : [range("text of another format", "31/31/2026, no such format")]),
    ...(Array.isArray(schema.enum) ? [range("none of the listed values", "no-such-value")] : []),
  ];
}

function numbersFor({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: JsonObject): WrongValue[] {
  const range = (what: string, value: number): WrongValue => ({ what, kind: "out of range", value, isHostile: false });
  const lowest = typeof minimum === "number" ? minimum - 1 : typeof exclusiveMinimum === "number" ? exclusiveMinimum : undefined;
  const highest = typeof maximum === "number" ? maximum + 1 : typeof exclusiveMaximum === "number" ? exclusiveMaximum : undefined;
  return [
    ...(lowest === undefined ? [] : [range(`too small (${lowest})`, lowest)]),
    ...(highest === undefined ? [] : [range(`too large (${highest})`, highest)]),
    ...(typeof multipleOf === "number" ? [range(`no multiple of ${multipleOf}`, multipleOf * 1.5)] : []),
  ];
}

function listsFor({ minItems, maxItems, items }: JsonObject): WrongValue[] {
  const one: JsonValue = isSchema(items) && typesOf(items).has("string") ? "abc" : 1;
  const range = (what: string, value: JsonValue[]): WrongValue => ({ what, kind: "out of range", value, isHostile: false });
  return [
    ...(typeof minItems === "number" && minItems > 0 ? [range("too short a list", [])] : []),
    ...(typeof maxItems === "number" && maxItems < 10_000 ? [range("too long a list", Array.from({ length: maxItems + 1 }, (_, index) => (one === 1 ? index : `${index}`)))] : []),
    ...(isSchema(items) && Array.isArray(items.enum) ? [range("a list of none of the listed values", ["no-such-value"])] : []),
  ];
}

const unknownName = "no_such_setting";

function unknownKeys(settings: readonly Setting[], config: JsonObject, isInvalid: (config: JsonObject) => boolean): ConfigCase[] {
  const objects = settings.flatMap(({ path }) => (isSchema(settingAt(config, path)) ? [path] : []));
  return ["", ...objects].flatMap((path): ConfigCase[] => {
    const at = path === "" ? unknownName : `${path}.${unknownName}`;
    const changed = withSetting(config, at, "x");
    return changed ? [{ name: `${at} is given, which the spec does not know`, path: at, kind: "unknown key", config: changed, schema: {}, isWrong: isInvalid(changed) }] : [];
  });
}

/** Where one of several forms has to be chosen, one that does not exist. */
function unknownAlternatives(settings: readonly Setting[], config: JsonObject, isInvalid: (config: JsonObject) => boolean): ConfigCase[] {
  return settings.flatMap(({ path, schema }): ConfigCase[] => {
    if (!Object.hasOwn(schema, "const")) return [];
    const changed = withSetting(config, path, "no-such-alternative");
    return changed ? [{ name: `${path} names no alternative`, path, kind: "unknown alternative", config: changed, schema, isWrong: isInvalid(changed) }] : [];
  });
}
