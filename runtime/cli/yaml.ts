import { isScalar, LineCounter, type Node, parseDocument, visit } from "yaml";
import { budgets } from "../contract/budgets.ts";
import type { JsonValue } from "../contract/json.ts";
import { measureJson } from "../wire/bounded-json.ts";
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
  const lineCounter = new LineCounter();
  const document = parseDocument(text, {
    uniqueKeys: false, // it compares each key with each other one
    stringKeys: true,
    logLevel: "error",
    lineCounter,
  });
  const fault = document.errors[0] ?? document.warnings[0];
  if (fault) throw refuse(yamlFaults[fault.code] ?? notValid(text), fault.linePos?.[0].line);
  const duplicate = duplicateKey(document.contents);
  if (duplicate !== undefined)
    throw refuse("a key is given twice", lineCounter.linePos(duplicate).line);
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
};

/** Where the first key stands that its map has already. */
function duplicateKey(contents: Node | null): number | undefined {
  let found: number | undefined;
  visit(contents, {
    Map(_, map) {
      const keys = new Set<unknown>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        if (keys.has(key.value)) {
          found = key.range?.[0] ?? 0;
          return visit.BREAK;
        }
        keys.add(key.value);
      }
      return undefined;
    },
  });
  return found;
}

function refuseNonFinite(_key: string, value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) throw new RangeError("not JSON");
  return value;
}
