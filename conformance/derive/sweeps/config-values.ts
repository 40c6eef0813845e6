/** Wrong values of a setting, by its schema. */
import type { JsonObject, JsonValue } from "svc-connectors";
import { isJsonObject, isSecret } from "svc-connectors/host";
import { alternativesOf } from "../spec/properties.ts";
import type { ConfigCase, Setting } from "./configs.ts";

const megabyte = 2 ** 20;

export interface WrongValue {
  readonly what: string;
  readonly kind: ConfigCase["kind"];
  readonly value: JsonValue;
  /** Whatever the schema says: nobody can mean it. */
  readonly isHostile: boolean;
}

/** Values that a setting must refuse, or survive. */
export function wrongValues({ schema, isRequired }: Setting): WrongValue[] {
  const types = typesOf(schema);
  const wrongType = (what: string, value: JsonValue): WrongValue => ({
    what,
    kind: "wrong type",
    value,
    isHostile: false,
  });
  const found: WrongValue[] = [wrongType("null", null)];
  if (types.has("string"))
    found.push(
      wrongType("a number", 12_345),
      wrongType("an object", {}),
      ...textsFor(schema, isRequired),
    );
  if (types.has("integer") || types.has("number"))
    found.push(
      wrongType("text", "abc"),
      wrongType("empty text", ""),
      wrongType("a list", [1]),
      ...numbersFor(schema),
    );
  if (types.has("integer")) found.push(wrongType("a fraction", 1.5));
  if (types.has("boolean")) found.push(wrongType("text", "yes"), wrongType("a number", 2));
  if (types.has("array"))
    found.push(
      wrongType("text", "abc"),
      wrongType("an object", {}),
      wrongType("a list of objects", [{}]),
      ...listsFor(schema),
    );
  if (types.has("object")) found.push(wrongType("text", "abc"), wrongType("a list", []));
  return found;
}

function typesOf(schema: JsonObject): Set<JsonValue> {
  const own = schema.type === undefined ? [] : [schema.type].flat();
  const listed = Array.isArray(schema.enum)
    ? schema.enum.map((value) => (Array.isArray(value) ? "array" : typeof value))
    : [];
  return new Set([
    ...own,
    ...listed,
    ...alternativesOf(schema).flatMap((one) => [...typesOf(one)]),
  ]);
}

/**
 * Text that a person never enters, and that has gone wrong in headers, URLs, C code and regular
 * expressions.
 */
function textsFor(schema: JsonObject, isRequired: boolean): WrongValue[] {
  const { minLength, maxLength, pattern, format } = schema;
  const isNeeded = isRequired || isSecret(schema);
  const isLong = schema.multiline === true || format === "json" || format === "textarea";
  const range = (what: string, value: string): WrongValue => ({
    what,
    kind: "out of range",
    value,
    isHostile: false,
  });
  return [
    { what: "empty", kind: "empty", value: "", isHostile: isNeeded },
    {
      what: "blank",
      kind: "blank",
      value: " ".repeat(Math.max(3, Number(minLength ?? 0))),
      isHostile: isNeeded,
    },
    {
      what: "text with a line break and a header after it",
      kind: "line break",
      value: "abcdefgh\r\nX-Injected: yes",
      isHostile: !isLong,
    },
    {
      what: "text with a NUL in it",
      kind: "NUL",
      value: "abcdefgh\u0000ijklmnop",
      isHostile: true,
    },
    { what: "1 MB of text", kind: "1 MB", value: "a".repeat(megabyte), isHostile: true },
    ...(typeof minLength === "number" && minLength > 1
      ? [range("too short", "a".repeat(minLength - 1))]
      : []),
    ...(typeof maxLength === "number" && maxLength < megabyte
      ? [range("too long", "a".repeat(maxLength + 1))]
      : []),
    ...(pattern === undefined ? [] : [range("text of another form", "§ of no form §")]),
    ...(format === undefined
      ? []
      : [range("text of another format", "31/31/2026, no such format")]),
    ...(Array.isArray(schema.enum) ? [range("none of the listed values", "no-such-value")] : []),
  ];
}

function numbersFor({
  minimum,
  maximum,
  exclusiveMinimum,
  exclusiveMaximum,
  multipleOf,
}: JsonObject): WrongValue[] {
  const range = (what: string, value: number): WrongValue => ({
    what,
    kind: "out of range",
    value,
    isHostile: false,
  });
  const lowest =
    typeof minimum === "number"
      ? minimum - 1
      : typeof exclusiveMinimum === "number"
        ? exclusiveMinimum
        : undefined;
  const highest =
    typeof maximum === "number"
      ? maximum + 1
      : typeof exclusiveMaximum === "number"
        ? exclusiveMaximum
        : undefined;
  return [
    ...(lowest === undefined ? [] : [range(`too small (${lowest})`, lowest)]),
    ...(highest === undefined ? [] : [range(`too large (${highest})`, highest)]),
    ...(typeof multipleOf === "number"
      ? [range(`no multiple of ${multipleOf}`, multipleOf * 1.5)]
      : []),
  ];
}

function listsFor({ minItems, maxItems, items }: JsonObject): WrongValue[] {
  const one: JsonValue = isJsonObject(items) && typesOf(items).has("string") ? "abc" : 1;
  const range = (what: string, value: JsonValue[]): WrongValue => ({
    what,
    kind: "out of range",
    value,
    isHostile: false,
  });
  return [
    ...(typeof minItems === "number" && minItems > 0 ? [range("too short a list", [])] : []),
    ...(typeof maxItems === "number" && maxItems < 10_000
      ? [
          range(
            "too long a list",
            Array.from({ length: maxItems + 1 }, (_, index) => (one === 1 ? index : `${index}`)),
          ),
        ]
      : []),
    ...(isJsonObject(items) && Array.isArray(items.enum)
      ? [range("a list of none of the listed values", ["no-such-value"])]
      : []),
  ];
}
