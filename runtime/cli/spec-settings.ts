import { isJsonObject, type JsonObject, type JsonValue } from "../contract/json.ts";
import { isSecret } from "../contract/spec.ts";
import { printable } from "./usage.ts";

/** A setting that a connector asks for, in words for people. Its texts are safe for a terminal. */
export interface Setting {
  readonly name: string;
  readonly isRequired: boolean;
  readonly isSecret: boolean;
  /** Empty when the connector gives none. */
  readonly title: string;
  readonly description: string;
  /** The values that it takes: `a whole number from 1 to 100`. */
  readonly form: string;
  readonly default?: JsonValue | undefined;
  readonly example?: JsonValue | undefined;
  /** The settings of a group, in the order of the spec. */
  readonly settings: readonly Setting[];
  /** Of a group that has one of several forms: the settings of each. */
  readonly alternatives: readonly (readonly Setting[])[];
}

/** Longest texts that are shown. */
const maxTextLength = 600;

/** The settings of a spec, in its order. */
export function settingsOf(spec: JsonObject): readonly Setting[] {
  const required = Array.isArray(spec.required) ? spec.required : [];
  return Object.entries(objectAt(spec, "properties")).flatMap(([name, schema]) =>
    isJsonObject(schema) ? [settingOf(name, schema, required.includes(name))] : [],
  );
}

function settingOf(name: string, schema: JsonObject, isRequired: boolean): Setting {
  const [example = schema.const] = Array.isArray(schema.examples) ? schema.examples : [];
  const forms = formsOf(schema)
    .map(settingsOf)
    .filter((settings) => settings.length > 0);
  const [only = []] = forms;
  return {
    name: printable(name),
    isRequired: isRequired && schema.default === undefined,
    isSecret: isSecret(schema),
    title: textAt(schema, "title"),
    description: textAt(schema, "description"),
    form: describeForm(schema),
    default: schema.default,
    example,
    settings: forms.length > 1 ? settingsOf(schema) : [...settingsOf(schema), ...only],
    alternatives: forms.length > 1 ? forms : [],
  };
}

/** The schemas that a value may have one of; null, which only means "none", is no form. */
function formsOf(schema: JsonObject): readonly JsonObject[] {
  const forms = [schema.oneOf, schema.anyOf].flatMap((list) => (Array.isArray(list) ? list : []));
  return forms.filter(isJsonObject).filter(({ type }) => type !== "null");
}

/** Most choices that are listed. */
const maxChoices = 40;

function describeForm(schema: JsonObject): string {
  const choices = choicesOf(schema);
  if (choices.length > 0) {
    const more = choices.length - maxChoices;
    const listed = choices.slice(0, maxChoices).map((one) => printable(writeValue(one), 80));
    return `one of ${listed.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  }
  const [only, ...others] = formsOf(schema);
  if (only && others.length === 0) return describeForm(only);
  if (only) return [...new Set([only, ...others].map(describeForm))].join(", or ");
  switch (schema.type) {
    case "integer":
      return `a whole number${describeRange(schema)}`;
    case "number":
      return `a number${describeRange(schema)}`;
    case "boolean":
      return "true or false";
    case "array":
      return `a list of ${describeForm(objectAt(schema, "items")).replace(/^an? /, "")}`;
    case "object":
      return "a group of settings";
    case "string":
      return typeof schema.format === "string" ? `text (${printable(schema.format, 40)})` : "text";
    default:
      return "any value";
  }
}

/** The values of a closed list, however the schema writes it. */
function choicesOf(schema: JsonObject): readonly JsonValue[] {
  if (Array.isArray(schema.enum)) return schema.enum;
  if (schema.const !== undefined) return [schema.const];
  const forms = formsOf(schema);
  const isClosed = forms.length > 0 && forms.every((one) => one.const !== undefined);
  return isClosed ? forms.flatMap((one) => choicesOf(one)) : [];
}

function describeRange({ minimum, maximum }: JsonObject): string {
  const [least, most] = [numberOf(minimum), numberOf(maximum)];
  if (least !== undefined && most !== undefined) return ` from ${least} to ${most}`;
  if (least !== undefined) return ` from ${least} on`;
  return most === undefined ? "" : ` up to ${most}`;
}

/** A value as it may stand in YAML, in one line. */
export function writeValue(value: JsonValue): string {
  const isPlain =
    typeof value === "string" &&
    /^[A-Za-z][\w./-]*$/.test(value) &&
    !/^(true|false|null|yes|no|on|off|y|n)$/i.test(value);
  if (isPlain) return value;
  if (Array.isArray(value)) return `[${value.map(writeValue).join(", ")}]`;
  return JSON.stringify(value).replace(unprintable, escapeUnits);
}

const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
const escapeUnits = (character: string) =>
  character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");

const numberOf = (value: JsonValue | undefined) => (typeof value === "number" ? value : undefined);

function textAt(schema: JsonObject, name: string): string {
  const text = schema[name];
  return typeof text === "string" ? printable(text.trim(), maxTextLength) : "";
}

function objectAt(schema: JsonObject, name: string): JsonObject {
  const value = schema[name];
  return value !== undefined && isJsonObject(value) ? value : {};
}
