/**
 * Values of expressions, and how Python, in which manifests were first run, writes and reads them.
 */

export type PlainValue =
  | undefined
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly PlainValue[]
  | { readonly [name: string]: PlainValue };

/** As Python's `bool`: nothing, zero and what is empty are false. */
export function truth(value: PlainValue): boolean {
  if (typeof value !== "object" || value === null) return Boolean(value);
  return (Array.isArray(value) ? value : Object.keys(value)).length > 0;
}

/** A value within a text, as Python's `str`. */
export function toText(value: PlainValue): string {
  if (typeof value === "string") return value;
  if (value === undefined) return "";
  return inside(value);
}

function inside(value: PlainValue): string {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string") {
    const quote = value.includes("'") && !value.includes('"') ? '"' : "'";
    const escaped = value.replace(/[\\\n\r\t]/g, (one) => JSON.stringify(one).slice(1, -1));
    return quote + (quote === "'" ? escaped.replaceAll("'", "\\'") : escaped) + quote;
  }
  if (typeof value !== "object") return String(value);
  const raw = rawText(value);
  if (raw !== undefined) return raw;
  if (Array.isArray(value)) return `[${value.map(inside).join(", ")}]`;
  const entries = Object.entries(value).map(([name, part]) => `${inside(name)}: ${inside(part)}`);
  return `{${entries.join(", ")}}`;
}

/** Decimals of many digits come as raw JSON: written exactly. */
const rawText = (value: object): string | undefined =>
  (JSON as unknown as { isRawJSON(one: unknown): boolean }).isRawJSON(value)
    ? (value as { rawJSON: string }).rawJSON
    : undefined;

/**
 * What a finished text means: a number, True, False or None, as Python reads literals; any other
 * text is itself. Digits that no number holds exactly stay a text.
 */
export function readLiteral(text: string): PlainValue {
  if (text === "True" || text === "False") return text === "True";
  if (text === "None") return null;
  if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(text)) return text;
  const read = Number(text);
  return String(read) === text ? read : text;
}
