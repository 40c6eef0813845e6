import { budgets } from "../contract/budgets.ts";
import type { JsonValue } from "../contract/json.ts";
import { measureJson } from "../wire/bounded-json.ts";
import { duplicateKey, parseYamlDocument, YamlFault } from "../wire/yaml-document.ts";
import { UsageError } from "./usage.ts";

/**
 * The value of a YAML text, as JSON can hold it. Also finds the line of a fault in JSON: nearly all
 * JSON is YAML.
 * @param name how messages call the text
 * @throws UsageError that names the line, never what stands there
 */
export function parseYaml(text: string, name: string): JsonValue {
  const { bytes, depth, count } = budgets.yaml;
  const refuse = (problem: string, line?: number) =>
    new UsageError(`${name}${line === undefined ? "" : `, line ${line}`}: ${problem}`);
  // The parser takes long for much, and for what is nested.
  if (Buffer.byteLength(text) > bytes)
    throw refuse(`${notValid(text)}, or is YAML of more than ${bytes} bytes, which must be JSON`);
  if (measureJson(Buffer.from(text)).depth > depth)
    throw refuse(`is nested deeper than ${depth} levels`);
  const { document, lineOf } = parsed(text, refuse);
  const duplicate = duplicateKey(document.contents);
  if (duplicate !== undefined) throw refuse("a key is given twice", lineOf(duplicate));
  try {
    const value: unknown = document.toJS({ maxAliasCount: count[0] });
    return JSON.parse(JSON.stringify(value ?? null, refuseNonFinite)) as JsonValue;
  } catch {
    throw refuse(
      "holds what JSON cannot hold (too many aliases, a reference to itself, .nan or .inf)",
    );
  }
}

const notValid = (text: string) =>
  /^\s*[{[]/.test(text) ? "is not valid JSON" : "is not valid YAML";

const yamlFaults: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: "a tab cannot indent; use spaces",
  BAD_INDENT: "the indentation is not right",
  TAG_RESOLVE_FAILED: "tags are not supported",
  MULTIPLE_DOCS: "a second document begins; only one is read",
  NON_STRING_KEY: "a key is not text",
  TOO_MANY_ALIASES: "has too many aliases",
  TOO_MANY_TOKENS: `is YAML of more than ${budgets.yamlTokens.count[0]} names, values and signs, which must be JSON`,
};

function parsed(text: string, refuse: (problem: string, line?: number) => UsageError) {
  try {
    return parseYamlDocument(text);
  } catch (error) {
    if (!(error instanceof YamlFault)) throw error;
    throw refuse(yamlFaults[error.code] ?? notValid(text), error.line);
  }
}

function refuseNonFinite(_key: string, value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) throw new RangeError("not JSON");
  return value;
}
