/**
 * Schema loaders: the fields of a stream, from the manifest, from a file beside it, or asked for.
 */
import { isJsonObject, type JsonObject } from "../../contract/json.ts";
import type { Component } from "../document/component.ts";
import { invalid, Unsupported } from "../document/invalid.ts";
import { compileTemplate } from "../expressions/template.ts";
import type { SchemaFiles } from "./schema-files.ts";

/** The fields of a stream that are known when it is loaded, and the loaders that must ask. */
export interface StreamSchema {
  readonly schema: JsonObject;
  readonly asking: readonly Component[];
}

/**
 * @param isTemplate what it lacks may be put in for each stream
 * @throws CONNECTOR_INVALID with the place
 */
export function compileSchema(
  stream: Component,
  name: string,
  files: SchemaFiles,
  isTemplate = false,
): StreamSchema {
  const loaders = stream.children(
    "schema_loader",
    ...(["InlineSchemaLoader", "JsonFileSchemaLoader", "DynamicSchemaLoader"] as const),
    "CustomSchemaLoader",
  );
  const isAsking = ({ type }: Component) =>
    type === "DynamicSchemaLoader" || type === "CustomSchemaLoader";
  const asking = loaders.filter(isAsking);
  const fixed = loaders
    .filter((loader) => !isAsking(loader))
    .map((loader) =>
      loader.type === "InlineSchemaLoader" ? inline(loader) : ofFile(loader, files),
    );
  if (loaders.length === 0) {
    const found = files(`schemas/${name}.json`);
    if (!found)
      throw new Unsupported(
        stream.at("schema_loader"),
        `is missing, and so is schemas/${name}.json beside the manifest: its records have no fields`,
      );
    fixed.push(found);
  }
  const [only] = fixed;
  const properties = Object.assign({}, ...fixed.map(propertiesOf)) as JsonObject;
  // Records are their declared fields: without one, each would be read as nothing.
  if (Object.keys(properties).length === 0 && asking.length === 0 && !isTemplate)
    throw new Unsupported(
      stream.at("schema_loader"),
      "has no fields in its schema: its records would be empty",
    );
  const whole = { type: "object", properties };
  const schema = fixed.length === 1 ? { ...only, ...whole } : whole;
  return { schema, asking };
}

const propertiesOf = ({ properties }: JsonObject) => (isJsonObject(properties) ? properties : {});

function inline(loader: Component): JsonObject {
  const schema = loader.get("schema");
  if (!isJsonObject(schema)) throw invalid(loader.at("schema"), "must be an object");
  return schema;
}

/** Its path begins with the name of the manifest's own folder, as a package of Python has it. */
function ofFile(loader: Component, files: SchemaFiles): JsonObject {
  const usual = "./source/schemas/{{ parameters['name'] }}.json";
  const place = loader.at("file_path");
  const written = String(loader.get("file_path") ?? usual);
  if (/\bconfig\b/.test(written))
    throw new Unsupported(place, "depends on a setting, which is not supported here");
  const template = compileTemplate(written, place);
  const steps = template.text({ parameters: loader.parameters as never }).split("/");
  if (steps[0] === "" || steps[0] === ".") steps.shift();
  const path = steps.slice(1).join("/");
  const found = path === "" ? undefined : files(path);
  if (!found)
    throw new Unsupported(
      place,
      `names a file that is not beside the manifest: ${path.slice(0, 200)}`,
    );
  return found;
}
