/**
 * Error rules of a connector applied to an answer. Free of host imports: the worker applies them to
 * 2xx bodies.
 */
import type { ErrorRule } from "../contract/egress.ts";
import type { ErrorCode } from "../contract/errors.ts";
import { valueAt } from "./json-pointer.ts";

export interface RuledAnswer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
  /** The parsed body. Undefined when there is none or it is not JSON. */
  readonly body: unknown;
}

/** The code of the first rule that fits, if any. */
export function findErrorCode(
  rules: readonly ErrorRule[],
  answer: RuledAnswer,
): ErrorCode | undefined {
  return rules.find((rule) => fits(rule, answer))?.code;
}

function fits(rule: ErrorRule, answer: RuledAnswer): boolean {
  // A rule without any condition would turn every answer into an error.
  if (rule.status === undefined && rule.header === undefined && rule.pointer === undefined)
    return false;
  return (
    fitsStatus(rule, answer.status) &&
    fitsHeader(rule, answer.headers) &&
    fitsBody(rule, answer.body)
  );
}

function fitsStatus({ status }: ErrorRule, actual: number): boolean {
  if (status === undefined) return true;
  return typeof status === "number" ? status === actual : status.includes(actual);
}

function fitsHeader({ header }: ErrorRule, headers: RuledAnswer["headers"]): boolean {
  if (header === undefined) return true;
  const value = Object.hasOwn(headers, header.name) ? headers[header.name] : undefined;
  return typeof value === "string"
    ? value === header.equals
    : (value?.includes(header.equals) ?? false);
}

function fitsBody({ pointer, equals, contains }: ErrorRule, body: unknown): boolean {
  if (pointer === undefined) return true;
  const value = valueAt(body, pointer);
  if (equals === undefined && contains === undefined)
    return value !== undefined && value !== null && value !== false;
  if (equals !== undefined && !equals.some((expected) => isSame(value, expected))) return false;
  return contains === undefined || textOf(value).toLowerCase().includes(contains.toLowerCase());
}

/** Long integers of a body are `bigint` in the worker. */
const isSame = (value: unknown, expected: string | number | boolean) =>
  value === expected ||
  (typeof value === "bigint" && typeof expected === "number" && String(value) === String(expected));

function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? (JSON.stringify(value) ?? "") : String(value);
}
