/** Schemas that lie in files beside a manifest, in its folder `schemas`. */
import { lstatSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { budgets } from "../../contract/budgets.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../contract/json.ts";
import { measureJson } from "../../wire/bounded-json.ts";
import { valueAt } from "../../wire/json-pointer.ts";
import { invalid } from "../document/invalid.ts";

/**
 * The schema in a file below the folder of the manifest, by its path in there; its references to
 * files in `schemas/shared` and to its own parts are put in. Undefined where no file is.
 * @throws CONNECTOR_INVALID for a file that is no schema
 */
export type SchemaFiles = (path: string) => JsonObject | undefined;

/** The files of a manifest that is a text and nothing else. */
export const noSchemaFiles: SchemaFiles = () => undefined;

const safePath = /^(?:[\w-][\w.-]*\/)*[\w-][\w.-]*\.json$/;

/** @param manifest its path */
export function openSchemaFiles(manifest: string): SchemaFiles {
  const { bytes, depth, values: maxValues } = budgets.declarativeManifest;
  const folder = dirname(manifest);
  const read = (path: string): JsonValue | undefined => {
    if (!safePath.test(path)) throw invalid(path, "leads out of the folder of the manifest");
    let text: string;
    try {
      const { size, isFile } = statusOf(join(folder, path));
      if (!isFile) return undefined;
      if (size > bytes) throw invalid(path, `is larger than ${bytes} bytes`);
      text = readFileSync(join(folder, path), "utf8");
    } catch (error) {
      // A file that the sandbox cannot read is not there.
      if (["ENOENT", "ENOTDIR", "ERR_ACCESS_DENIED"].includes((error as { code: string }).code))
        return undefined;
      throw error;
    }
    if (measureJson(Buffer.from(text)).depth > depth)
      throw invalid(path, `is nested deeper than ${depth} levels`);
    try {
      return JSON.parse(text) as JsonValue;
    } catch {
      throw invalid(path, "is not JSON");
    }
  };
  return (path) => {
    let values = 0;
    const resolve = (
      value: JsonValue,
      root: JsonValue,
      place: string,
      open: readonly string[],
    ): JsonValue => {
      if (++values > maxValues) throw invalid(path, `has more than ${maxValues} values`);
      if (open.length > depth) throw invalid(path, "follows too many references");
      if (Array.isArray(value)) return value.map((part) => resolve(part, root, place, open));
      if (!isJsonObject(value)) return value;
      if (typeof value.$ref === "string") return follow(value.$ref, root, place, open);
      return Object.fromEntries(
        Object.entries(value)
          .filter(([name]) => name !== "__proto__")
          .map(([name, part]) => [name, resolve(part, root, place, open)]),
      );
    };
    const follow = (
      reference: string,
      root: JsonValue,
      place: string,
      open: readonly string[],
    ): JsonValue => {
      const [file = "", pointer = ""] = reference.split("#");
      const from = file === "" ? place : `schemas/shared/${file.replace(/^\.\//, "")}`;
      const key = `${from}#${pointer}`;
      if (open.includes(key)) throw invalid(place, "refers to itself");
      const within = file === "" ? root : read(from);
      const found = within === undefined ? undefined : valueAt(within, pointer);
      if (found === undefined) throw invalid(place, "refers to what is not there");
      const made = resolve(found as JsonValue, within as JsonValue, from, [...open, key]);
      if (!isJsonObject(made)) return made;
      const { definitions: _, ...rest } = made;
      return rest;
    };
    const root = read(path);
    if (root === undefined) return undefined;
    const schema = resolve(root, root, path, [`${path}#`]);
    if (!isJsonObject(schema)) throw invalid(path, "must be an object");
    return schema;
  };
}

const statusOf = (path: string) => {
  const found = lstatSync(path);
  return { size: found.size, isFile: found.isFile() };
};
