/**
 * Generates the function that puts a row's values into columns: the usual scalars at once, all else
 * as the JSON text that value-code.ts gives.
 */
import type { BatchField } from "../../contract/batch.ts";
import { type Code, createCode, keyText, literal, readCode } from "./code.ts";
import {
  type ColumnFiller,
  IntegerFiller,
  NumberFiller,
  type Size,
  TextFiller,
} from "./columns.ts";
import type { StreamFaults } from "./faults.ts";
import { freeText, type Shape, typeBits } from "./shape.ts";
import { inspectionCode, isUnconditional, numberCondition, valueCode } from "./value-code.ts";

export interface ColumnPlan {
  readonly filler: ColumnFiller;
  readonly shape: Shape;
  /** Noted when it is missing and may not be null. */
  readonly isRequired: boolean;
  /** "primary key" or "cursor": then a row without it is an error. */
  readonly keyRole: string | undefined;
}

export interface RowPlan {
  readonly columns: readonly ColumnPlan[];
  readonly declaredNames: ReadonlySet<string>;
  readonly faults: StreamFaults;
  readonly size: Size;
}

/**
 * V8 does not optimise functions beyond some 60 kB of bytecode, and optimises small ones sooner;
 * columns beyond this many go into functions of their own.
 */
const columnsPerFunction = 40;

/**
 * Gives a function that puts a row into the columns.
 * @throws what {@link RowPlan.faults} throws
 */
export function generateRowFiller(plan: RowPlan): (row: unknown, at: number) => void {
  const code = createCode(plan.faults);
  const size = code.constant("size", plan.size);
  const parts: string[] = [];
  for (let from = 0; from < plan.columns.length; from += columnsPerFunction) {
    const body = plan.columns
      .slice(from, from + columnsPerFunction)
      .map((column) => columnStatement(code, column, size, plan.faults))
      .join("\n");
    parts.push(code.define("part", (name) => `function ${name}(o, r) { let v;\n${body}\n}`));
  }
  const { state, statement } = inspectionCode(code, "row", plan.declaredNames);
  const row = code.define("row", (name) => {
    return `${state}
function ${name}(o, r) {
if (!isPlainObject(o)) invalid("a row is not a plain object");
let index = 0;
${statement}
${parts.map((part) => `${part}(o, r);`).join(" ")} }`;
  });
  return code.compile(row) as (row: unknown, at: number) => void;
}

/** Puts the value of a property into its column. */
function columnStatement(
  code: Code,
  { filler, shape, isRequired, keyRole }: ColumnPlan,
  size: string,
  faults: StreamFaults,
): string {
  const { name } = filler.field;
  const column = code.constant("column", filler);
  const cases = [...directCases(code, filler, shape, column, size)];
  const nulls = [];
  if (keyRole === undefined && shape.some(mayBeNull)) nulls.push("v === null");
  if (keyRole === undefined && !isRequired) nulls.push("v === undefined");
  if (nulls.length > 0) cases.push(`if (${nulls.join(" || ")}) ${column}.setNull(r);`);
  cases.push(`${column}.addJson(r, ${jsonText(code, filler.field, shape, keyRole, faults)});`);
  const end =
    filler instanceof TextFiller ? ` ${column}.offsets[r + 1] = ${column}.text.length;` : "";
  return `v = ${readCode(name)}; ${cases.join(" else ")}${end}`;
}

const mayBeNull = (alternative: Shape[number]) =>
  isUnconditional(alternative) &&
  (alternative.types & typeBits.null) !== 0 &&
  alternative.values === undefined;

/** The JSON text of any value that no other case takes. */
function jsonText(
  code: Code,
  { name, kind }: BatchField,
  shape: Shape,
  keyRole: string | undefined,
  faults: StreamFaults,
): string {
  const field = literal(name);
  if (keyRole !== undefined) {
    const text = code.constant("keyText", (value: unknown) =>
      keyText(shape, name, value, keyRole, faults),
    );
    return `${text}(v)`;
  }
  if (kind === "json") return valueCode(code, shape, { v: "v", field, before: "", depth: 1 });
  return `slowText(${code.constant("shape", shape)}, ${field}, v, 1)`;
}

/** `if (condition) statement` for values that need no text of JSON. */
function directCases(
  code: Code,
  filler: ColumnFiller,
  shape: Shape,
  column: string,
  size: string,
): string[] {
  const alternatives = shape.filter(isUnconditional);
  if (filler.field.kind === "json") return [];
  if (filler instanceof TextFiller) {
    const conditions = alternatives.flatMap((one) => textCondition(code, one));
    const add = `{ ${column}.text += v; ${size}.chars += v.length; }`;
    return either('typeof v === "string"', conditions, add);
  }
  if (filler instanceof IntegerFiller || filler instanceof NumberFiller) {
    const add = filler instanceof NumberFiller ? `${column}.data[r] = v;` : `${column}.add(r, v);`;
    const conditions = alternatives.flatMap((one) => numberCondition(one, "v"));
    return either('typeof v === "number"', conditions, add);
  }
  const isFree = alternatives.some(
    ({ types, values }) => types & typeBits.boolean && values === undefined,
  );
  if (!isFree) return [];
  return [`if (v === true) ${column}.data[r] = 1;`, `if (v === false) ${column}.data[r] = 0;`];
}

/** One case for whichever of the conditions holds. */
function either(type: string, conditions: readonly string[], statement: string): string[] {
  if (conditions.length === 0) return [];
  const isAlways = conditions.includes("true");
  const all = isAlways ? type : `${type} && (${conditions.join(" || ")})`;
  return [`if (${all}) ${statement}`];
}

/** When a string fits the alternative; empty: it has to be asked. */
function textCondition(code: Code, { types, values, text }: Shape[number]): string[] {
  if ((types & typeBits.string) === 0) return [];
  if (values !== undefined) {
    const texts = text === freeText ? values.filter((value) => typeof value === "string") : [];
    return texts.length === 0 ? [] : [`${code.constant("texts", new Set(texts))}.has(v)`];
  }
  if (text === freeText) return ["true"];
  const [test, ...others] = text.tests;
  if (test === undefined || others.length > 0 || text.minLength > 0 || text.maxLength !== Infinity)
    return [];
  return [`${code.constant("accepts", test.accepts)}(v)`];
}
