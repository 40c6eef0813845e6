/** Reads a workspace file: its form is checked, and every fault has its line. */
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import {
  isJsonObject,
  type JsonValue,
  parsePointer,
  parseText,
  parseYamlDocument,
  printable,
  suggestion,
  UsageError,
  type YamlDocument,
} from "svc-connectors/host";
import { isNode } from "yaml";
import { WorkspaceFile } from "./schema.ts";

/** Names and positions on the way to a value: `["sources", "Shop", "configuration", "host"]`. */
export type Path = readonly (string | number)[];

/** A problem of a file, and its place. */
export interface Fault {
  readonly path: Path;
  readonly problem: string;
}

/** A workspace file that was read. */
export interface ReadFile {
  /** As the person has named it. */
  readonly name: string;
  readonly text: string;
  readonly content: WorkspaceFile;
  /** `workspace.yaml:12`: the line of a value, or of what is there on the way to it. */
  readonly placeOf: (path: Path) => string;
}

/** The file cannot be applied: each fault has a line of its own. */
export class FaultyFile extends UsageError {
  override readonly name = "UsageError";
  readonly lines: readonly string[];

  constructor(file: Pick<ReadFile, "name" | "placeOf">, faults: readonly Fault[]) {
    const count = faults.length === 1 ? "a fault" : `${faults.length} faults`;
    super(`${printable(file.name)} has ${count}; nothing was changed`);
    this.lines = faults
      .slice(0, maxFaults)
      .map(
        ({ path, problem }) =>
          `${file.placeOf(path)}: ${[labelOf(path), problem].filter(Boolean).join(" ")}`,
      );
  }
}

/** Most faults that are shown at a time. */
const maxFaults = 20;

/** `sources.Shop.configuration.host`; names with other characters in quotes. */
export const labelOf = (path: Path) =>
  path
    .map((part) =>
      /^[\w$-]+$/.test(String(part)) ? part : JSON.stringify(printable(String(part))),
    )
    .join(".");

/** @throws UsageError, with a line and never with what stands there */
export async function readWorkspaceFile(text: string, name: string): Promise<ReadFile> {
  const content = await parseText(text, `workspace file "${printable(name)}"`);
  const file = { name, placeOf: placesIn(text, name) };
  const faults = [...literalSecrets(content), ...formFaults(content)];
  if (faults.length > 0) throw new FaultyFile(file, faults);
  return { ...file, text, content: content as unknown as WorkspaceFile };
}

/** The parser of YAML takes long for more. */
const maxPlacedCharacters = 262_144;

function placesIn(text: string, name: string): ReadFile["placeOf"] {
  if (text.length > maxPlacedCharacters) return () => printable(name);
  let parsed: YamlDocument | undefined;
  return (path) => {
    try {
      parsed ??= parseYamlDocument(text);
    } catch {
      return printable(name); // JSON that is no YAML
    }
    const { document, lineOf } = parsed;
    for (let length = path.length; length > 0; length -= 1) {
      const node = document.getIn(path.slice(0, length), true);
      if (isNode(node) && node.range) return `${printable(name)}:${lineOf(node.range[0])}`;
    }
    return printable(name);
  };
}

/** A secret that stands in the file itself, whatever else is wrong with it. */
function literalSecrets(content: JsonValue): Fault[] {
  const credentials = isJsonObject(content) ? content.credentials : undefined;
  if (!isJsonObject(credentials)) return [];
  return Object.entries(credentials).flatMap(([name, entry]) => {
    const secrets = isJsonObject(entry) ? entry.secrets : undefined;
    if (typeof secrets === "string")
      return [{ path: ["credentials", name, "secrets"], problem: byReference }];
    if (!isJsonObject(secrets)) return [];
    return Object.entries(secrets).flatMap(([field, value]) =>
      isReference(value)
        ? []
        : [{ path: ["credentials", name, "secrets", field], problem: byReference }],
    );
  });
}

const byReference =
  "must name where the secret is, and not hold it: { $file: ./secret.txt } or { $env: NAME }";

const isReference = (value: JsonValue | undefined) =>
  isJsonObject(value) &&
  Object.keys(value).length === 1 &&
  (typeof value.$file === "string" || typeof value.$env === "string");

// `verbose` gives each fault its schema; the value that comes with it is not looked at.
let compiled: ValidateFunction | undefined;

/** When a file is read first: every command loads this module, and few read one. */
function compile(): ValidateFunction {
  const options = { allErrors: true, strict: true, strictTypes: false, verbose: true };
  return new Ajv2020({ ...options, validateSchema: false }).compile(WorkspaceFile);
}

function formFaults(content: JsonValue): Fault[] {
  compiled ??= compile();
  const validate = compiled;
  if (validate(content)) return [];
  const faults = new Map<string, Fault>();
  for (const error of validate.errors ?? []) {
    if (error.propertyName !== undefined && error.keyword !== "propertyNames") continue;
    const path = pathOf(error);
    if (/\/secrets(\/|$)/.test(error.instancePath) && error.keyword !== "type") continue;
    const key = JSON.stringify(path);
    if (!faults.has(key)) faults.set(key, { path, problem: problemOf(error) });
  }
  return [...faults.values()];
}

function pathOf({ instancePath, keyword, params }: ErrorObject): Path {
  const path = parsePointer(instancePath);
  if (keyword === "additionalProperties") return [...path, String(params.additionalProperty)];
  return keyword === "required" ? [...path, String(params.missingProperty)] : path;
}

function problemOf({ keyword, params, parentSchema, schema }: ErrorObject): string {
  switch (keyword) {
    case "additionalProperties": {
      const known = Object.keys((parentSchema?.properties ?? {}) as object);
      const near = suggestion(String(params.additionalProperty), known);
      return `is not known${near || `; known are ${known.join(", ")}`}`;
    }
    case "required":
      return "is missing";
    case "type":
      return `must be ${kinds[String(params.type)] ?? "of another kind"}`;
    case "enum":
      return `must be one of ${(schema as string[]).join(", ")}`;
    case "const":
      return `must be ${JSON.stringify(schema)}`;
    case "propertyNames":
      return `has the name ${JSON.stringify(printable(String(params.propertyName)))}: names are one line of 1 to 200 characters`;
    case "minItems":
    case "minLength":
    case "minProperties":
      return "must not be empty";
    default:
      return "is of another form";
  }
}

const kinds: Readonly<Record<string, string>> = {
  object: "an object: names with values",
  array: "a list",
  string: "text",
  boolean: "true or false",
  integer: "a whole number",
  null: "null",
};
