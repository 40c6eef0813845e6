/**
 * JSON of a stranger. What it would become is counted before it is parsed: a short text can hold
 * many values, and each of them costs more memory and time than its characters.
 */
import type { DocumentBudget } from "../contract/budgets.ts";
import type { ConnectorError } from "../contract/errors.ts";
import type { JsonValue } from "../contract/json.ts";
import { parsePayload } from "./frames.ts";

/**
 * The value of a JSON text that keeps to its budget.
 * @param refuse makes the error from what is wrong, such as "is larger than 1024 bytes"
 * @throws that error; CONNECTOR_PROTOCOL when the text is no JSON
 */
export function parseBounded(
  text: Buffer,
  budget: DocumentBudget,
  refuse: (problem: string) => ConnectorError,
): JsonValue {
  if (text.length > budget.bytes) throw refuse(`is larger than ${budget.bytes} bytes`);
  const { values, depth } = measureJson(text);
  if (depth > budget.depth) throw refuse(`is nested deeper than ${budget.depth} levels`);
  if (values > budget.values) throw refuse(`has more than ${budget.values} values`);
  return parsePayload(text);
}

/** At least the number of values in a JSON text, less one; and how deep it is nested. */
export function measureJson(text: Uint8Array): { values: number; depth: number } {
  let values = 0;
  let open = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const byte = text[at];
    if (byte === 0x22) {
      for (at++; at < text.length && text[at] !== 0x22; at++) if (text[at] === 0x5c) at++;
    } else if (byte === 0x2c) values++;
    else if (byte === 0x5b || byte === 0x7b) {
      values++;
      if (++open > depth) depth = open;
    } else if (byte === 0x5d || byte === 0x7d) open--;
  }
  return { values, depth };
}
