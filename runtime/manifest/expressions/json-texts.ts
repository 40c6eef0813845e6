/** Values as JSON and within URLs, as Python writes them. */
import { EvaluationError } from "./evaluation-error.ts";
import { Moment, Span } from "./moment.ts";
import { items, maxChars } from "./operands.ts";
import { isMapping, Namespace, type PlainValue, toText } from "./values.ts";

export interface JsonForm {
  readonly isSorted?: boolean;
  /** Blanks before each level, on lines of their own. */
  readonly indent?: number;
}

/** As Python's json module writes it. @throws EvaluationError for what is no JSON */
export function pythonJson(value: PlainValue, form: JsonForm = {}): string {
  const { isSorted = false, indent } = form;
  if (indent !== undefined && !(indent >= 0 && indent <= 16))
    throw new EvaluationError("writes JSON with more blanks than anybody reads");
  let size = 0;
  const counted = (text: string) => {
    size += text.length;
    if (size > maxChars)
      throw new EvaluationError(`makes a text of more than ${maxChars} characters`);
    return text;
  };
  const within = (parts: readonly string[], ends: string, depth: number): string => {
    if (parts.length === 0) return ends;
    const [open, close] = [ends.charAt(0), ends.charAt(1)];
    if (indent === undefined) return `${open}${parts.join(", ")}${close}`;
    const line = (level: number) => counted(`\n${" ".repeat(indent * level)}`);
    return open + parts.map((part) => line(depth + 1) + part).join(",") + line(depth) + close;
  };
  const write = (one: PlainValue, depth: number): string => {
    if (one === null) return "null";
    if (Array.isArray(one))
      return within(
        one.map((part) => write(part, depth + 1)),
        ...(["[]", depth] as const),
      );
    if (isMapping(one)) {
      const entries = Object.entries(one);
      if (isSorted) entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
      return within(
        entries.map(([name, part]) => `${counted(inAscii(name))}: ${write(part, depth + 1)}`),
        ...(["{}", depth] as const),
      );
    }
    if (typeof one === "string") return counted(inAscii(one));
    if (one === undefined || one instanceof Namespace)
      throw new EvaluationError("writes what is not there as JSON");
    if (one instanceof Moment || one instanceof Span)
      throw new EvaluationError("writes a date as JSON");
    return counted(typeof one === "boolean" ? String(one) : toText(one));
  };
  return write(value, 0);
}
const inAscii = (text: string) =>
  JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** A text within a path; a mapping, or pairs, as a query. */
export function urlEncoded(value: PlainValue): string {
  if (isMapping(value)) return query(Object.entries(value));
  if (!Array.isArray(value)) return percent(toText(value)).replaceAll("%2F", "/");
  return query(
    value.map((pair) => {
      const [name, part, ...more] = items(pair);
      if (more.length > 0 || part === undefined)
        throw new EvaluationError("makes a query of what are no pairs");
      return [name, part] as const;
    }),
  );
}
const query = (pairs: readonly (readonly [PlainValue, PlainValue])[]): string =>
  pairs
    .map((pair) => pair.map((one) => percent(toText(one)).replaceAll("%20", "+")).join("="))
    .join("&");
const percent = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
