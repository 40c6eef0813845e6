/** DynamicSchemaLoader: fields that the provider lists, in the first record of a retriever. */
import { ConnectorError } from "../../contract/errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../contract/json.ts";
import { type Component, textsOf } from "../document/component.ts";
import { invalid } from "../document/invalid.ts";
import type { Scope } from "../expressions/evaluate.ts";
import { compileTemplate } from "../expressions/template.ts";
import { type PlainValue, toText, valueAt } from "../expressions/values.ts";
import type { PlainRecord } from "./selector.ts";
import { compileTransformation, transformationTypes } from "./transformations.ts";

/** Airbyte's names of types. */
const known: Readonly<Record<string, JsonObject>> = {
  ...Object.fromEntries(
    ["string", "boolean", "integer", "number", "array", "object"].map((type) => [
      type,
      { type: ["null", type] },
    ]),
  ),
  date: { type: ["null", "string"], format: "date" },
  timestamp_with_timezone: { type: ["null", "string"], format: "date-time" },
  timestamp_without_timezone: {
    ...{ type: ["null", "string"], format: "date-time" },
    airbyte_type: "timestamp_without_timezone",
  },
  time_with_timezone: {
    ...{ type: ["null", "string"], format: "time" },
    airbyte_type: "time_with_timezone",
  },
  time_without_timezone: {
    ...{ type: ["null", "string"], format: "time" },
    airbyte_type: "time_without_timezone",
  },
};

/** The properties of a schema, made of a record that lists them. */
export type ToProperties = (listing: PlainRecord | undefined, scope: Scope) => JsonObject;

export function compileDynamicSchema(loader: Component): ToProperties {
  const identifier = loader.required(
    "schema_type_identifier",
    loader.child("schema_type_identifier", "SchemaTypeIdentifier"),
  );
  const pointer = (name: string) => {
    const value = identifier.get(name);
    return value === undefined || value === null
      ? undefined
      : textsOf(value, identifier.at(name)).map((one) => compileTemplate(one, identifier.at(name)));
  };
  const lists = pointer("schema_pointer") ?? [];
  const key = identifier.required("key_pointer", pointer("key_pointer"));
  const type = pointer("type_pointer");
  const mappings = identifier.children("types_mapping", "TypesMap").map((one) => ({
    from: JSON.stringify(one.get("current_type") ?? null),
    to: one.required("target_type", one.get("target_type")),
    condition: one.template("condition"),
    place: one.at("target_type"),
  }));
  const filter = loader.child("schema_filter", "RecordFilter")?.template("condition");
  const steps = loader
    .children("schema_transformations", ...transformationTypes)
    .map(compileTransformation);
  const at = (value: PlainValue, path: typeof lists, scope: Scope): PlainValue =>
    valueAt(
      value,
      path.map((step) => step.text(scope)),
    );
  const typeOf = (field: PlainValue, scope: Scope): JsonObject => {
    const given = type ? (at(field, type, scope) ?? "string") : "string";
    const mapped = mappings.find(
      ({ from, condition }) =>
        from === JSON.stringify(given) &&
        (condition?.holds({ ...scope, raw_schema: field }) ?? true),
    );
    return toSchema(
      mapped?.to ?? (given as JsonValue),
      mapped?.place ?? identifier.at("type_pointer"),
    );
  };
  return (listing, scope) => {
    const fields = listing ? at(listing, lists, scope) : [];
    if (!Array.isArray(fields))
      throw new ConnectorError("RESPONSE_INVALID", { reason: "it lists no fields of a schema" });
    let properties: PlainRecord = {};
    for (const field of fields) {
      const name = at(field, key, scope);
      if (typeof name !== "string" || name === "__proto__")
        throw new ConnectorError("RESPONSE_INVALID", { reason: "a field of it has no name" });
      properties[name] = typeOf(field, scope) as PlainValue;
    }
    if (filter)
      properties = Object.fromEntries(
        Object.entries(properties).filter(([name, one]) =>
          filter.holds({ ...scope, record: { [name]: one } }),
        ),
      );
    for (const step of steps) step(properties, scope);
    return properties as JsonObject;
  };
}

/** A name of a type, two of them, or a type and that of its items. */
function toSchema(type: JsonValue, place: string): JsonObject {
  if (typeof type === "string" && Object.hasOwn(known, type))
    return structuredClone(known[type]) as JsonObject;
  if (Array.isArray(type) && type.length === 2)
    return { oneOf: type.map((one) => toSchema(one, place)) };
  if (isJsonObject(type)) {
    const { field_type: own = null, items } = type;
    const made = toSchema(own, place);
    return items === undefined || items === null
      ? made
      : { ...made, items: toSchema(items, place) };
  }
  throw invalid(
    place,
    `gives a type that is not known: ${toText(type as PlainValue).slice(0, 100)}`,
  );
}
