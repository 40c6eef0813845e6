/**
 * Generates the function that writes a row's object. Names and constants enter the code as JSON
 * literals or as arguments, never as bare text, so no schema can say what is executed.
 */
import { isPlainObject, needsEscape, quote } from "../../wire/exact-json.ts";
import type { StreamFaults } from "./faults.ts";
import {
  type Alternative,
  additionalShape,
  freeNumber,
  freeText,
  type NumberLimits,
  type Shape,
  typeBits,
} from "./shape.ts";
import { writeMember, writeValue } from "./value.ts";

export interface FieldPlan {
  readonly name: string;
  readonly shape: Shape;
  /** Written as null when it is missing. */
  readonly isRequired: boolean;
  /** "primary key" or "cursor": then a row without it is an error. */
  readonly keyRole: string | undefined;
}

export interface RowPlan {
  /** Text before the first property of a row, its brace included. */
  readonly opening: string;
  readonly fields: readonly FieldPlan[];
  readonly declaredNames: ReadonlySet<string>;
  readonly faults: StreamFaults;
}

/**
 * V8 does not optimise functions beyond some 60 kB of bytecode, and optimises small ones sooner;
 * fields beyond this many go into functions of their own.
 */
const fieldsPerFunction = 40;

/**
 * Gives a function from a row to its text, without the closing brace.
 * @throws what {@link RowPlan.faults} throws
 */
export function generateRowWriter(plan: RowPlan): (row: unknown) => string {
  const code = createCode(plan.faults);
  const body = objectFunction(code, plan.fields, plan.declaredNames, plan.opening, 0);
  const row = code.define("row", (name) => {
    return `function ${name}(row) { if (!isPlainObject(row)) invalid("a row is not a plain object"); return ${body}(row); }`;
  });
  return code.compile(row);
}

/** The code so far: functions by name and the constants that they use. */
function createCode(faults: StreamFaults) {
  const functions: string[] = [];
  const constants: Record<string, unknown> = {
    isPlainObject,
    needsEscape,
    stringify: JSON.stringify,
    hasOwn: Object.hasOwn,
    invalid: faults.invalid,
    faults,
    slowText: (shape: Shape, field: string | number, value: unknown, depth: number) =>
      writeMember(shape, value, field, faults, depth),
    keyText: (shape: Shape, field: string, value: unknown, role: string) =>
      keyText(shape, field, value, role, faults),
    nest: (from: number, field: string | number, text: string) => {
      if (faults.noted !== from) faults.nested(from, field);
      return text;
    },
    inspect: (declared: ReadonlySet<string>, value: object) => {
      const keys = Object.keys(value);
      for (const key of keys) if (!declared.has(key)) faults.dropped(key);
      return keys;
    },
  };
  let count = 0;
  return {
    constant(prefix: string, value: unknown): string {
      const name = `${prefix}${count++}`;
      constants[name] = value;
      return name;
    },
    define(prefix: string, write: (name: string) => string): string {
      const name = `${prefix}${count++}`;
      functions.push(write(name));
      return name;
    },
    compile(result: string) {
      const source = `"use strict";\n${functions.join("\n")}\nreturn ${result};`;
      return new Function(...Object.keys(constants), source)(...Object.values(constants)) as (
        row: unknown,
      ) => string;
    },
  };
}
type Code = ReturnType<typeof createCode>;

/** A row cannot be kept without its key: what would be noted elsewhere is an error here. */
function keyText(
  shape: Shape,
  field: string,
  value: unknown,
  role: string,
  faults: StreamFaults,
): string {
  if (value === undefined) faults.invalid(`${role} "${field}" is missing`);
  if (value === null) faults.invalid(`${role} "${field}" is null`);
  const from = faults.noted;
  const text = writeValue(shape, value, faults, 1);
  if (text === undefined || faults.noted !== from)
    return faults.invalid(`${role} "${field}" does not fit its schema`);
  return text;
}

/** A function from an object to its text, from `opening` to before the closing brace. */
function objectFunction(
  code: Code,
  fields: readonly FieldPlan[],
  declared: ReadonlySet<string>,
  opening: string,
  depth: number,
): string {
  const ordered = leadingFirst(fields);
  const hasLeader = ordered[0] !== undefined && isAlwaysWritten(ordered[0]);
  const statements = ordered.map((field, index) => {
    if (hasLeader) return fieldStatement(code, field, index === 0 ? opening : ",", depth);
    return fieldStatement(code, field, "", depth, 'text += comma; comma = ","; ');
  });
  const parts = [statements.slice(0, fieldsPerFunction).join("\n")];
  for (let at = fieldsPerFunction; at < statements.length; at += fieldsPerFunction) {
    const body = statements.slice(at, at + fieldsPerFunction).join("\n");
    const part = code.define("part", (name) => {
      return `function ${name}(o) { let v, text = "", comma = "";\n${body}\nreturn text; }`;
    });
    parts.push(
      hasLeader
        ? `text += ${part}(o);`
        : `v = ${part}(o); if (v !== "") { text += comma + v; comma = ","; }`,
    );
  }
  // A row of the same properties in the same order as the last one has been inspected already.
  const known = code.constant("declared", declared);
  return code.define("object", (name) => {
    return `let ${name}_keys = [];
function ${name}(o) {
let v, text = ${hasLeader ? '""' : literal(opening)}, comma = "", index = 0;
for (const key in o) if (key !== ${name}_keys[index++]) { ${name}_keys = inspect(${known}, o); break; }
${parts.join("\n")}
return text; }`;
  });
}

/** Commas need no thought when a property that is always written comes first. */
function leadingFirst(fields: readonly FieldPlan[]): readonly FieldPlan[] {
  const leader = fields.find(isAlwaysWritten);
  return leader === undefined ? fields : [leader, ...fields.filter((field) => field !== leader)];
}

const isAlwaysWritten = (field: FieldPlan) => field.isRequired || field.keyRole !== undefined;

/**
 * Appends `"name":value` to the text, with `before` ahead of it and after the statement `first`.
 */
function fieldStatement(
  code: Code,
  field: FieldPlan,
  before: string,
  depth: number,
  first = "",
): string {
  const name = literal(field.name);
  const read =
    field.name in Object.prototype ? `hasOwn(o, ${name}) ? o[${name}] : undefined` : `o[${name}]`;
  const place: ValuePlace = {
    v: "v",
    field: name,
    before: `${before}${quote(field.name)}:`,
    depth: depth + 1,
    keyRole: field.keyRole,
  };
  const append = `${first}text += ${valueCode(code, field.shape, place)};`;
  return isAlwaysWritten(field)
    ? `v = ${read}; ${append}`
    : `v = ${read}; if (v !== undefined) { ${append} }`;
}

/**
 * Where a value stands: the code that gives it and its field's name, the constant text before it.
 */
interface ValuePlace {
  readonly v: string;
  readonly field: string;
  /**
   * Joined with constant values when the code is made, so that a null or a true costs one
   * concatenation.
   */
  readonly before: string;
  readonly depth: number;
  readonly keyRole: string | undefined;
}

/**
 * An expression that gives `before` and the text of the value: the usual kinds at once, any other
 * by the general way.
 */
function valueCode(code: Code, shape: Shape, place: ValuePlace): string {
  const { v, field, before, depth, keyRole } = place;
  const alternatives = shape.filter(
    ({ exactlyOne, none }) => exactlyOne.length === 0 && none.length === 0,
  );
  const cases = alternatives.flatMap((alternative) => scalarCases(code, alternative, place));
  if (
    keyRole === undefined &&
    alternatives.some(({ types, values }) => types & typeBits.null && values === undefined)
  ) {
    cases.push(`${v} === null ? ${literal(`${before}null`)}`);
  }
  if (depth < maxInlineDepth && keyRole === undefined)
    cases.push(...listCases(code, shape, place), ...objectCases(code, shape, place));
  const constant = code.constant("shape", shape);
  const slow = keyRole
    ? `keyText(${constant}, ${field}, ${v}, ${literal(keyRole)})`
    : `slowText(${constant}, ${field}, ${v}, ${depth})`;
  return `(${cases.map((one) => `${one} : `).join("")}${literal(before)} + ${slow})`;
}

/** Deeper schemas are written the general way, which keeps generated code small. */
const maxInlineDepth = 12;

/**
 * `condition ? text` for each kind of value that can be written at once. What they pass over is not
 * wrong, only slower.
 */
function scalarCases(
  code: Code,
  { types, values, text, number }: Alternative,
  { v, before }: ValuePlace,
): string[] {
  if (values !== undefined) {
    const isFree = text === freeText && types & typeBits.string;
    const texts = isFree ? values.filter((value) => typeof value === "string") : [];
    if (texts.length === 0) return [];
    const table = code.constant(
      "texts",
      new Map(texts.map((value) => [value, before + quote(value)])),
    );
    return [`typeof ${v} === "string" && ${table}.has(${v}) ? ${table}.get(${v})`];
  }
  const cases: string[] = [];
  if (types & typeBits.string) {
    const [test, ...others] = text.tests;
    const quoted = `${literal(`${before}"`)} + ${v} + '"'`;
    if (text === freeText) {
      cases.push(
        `typeof ${v} === "string" ? (needsEscape(${v}) ? ${literal(before)} + stringify(${v}) : ${quoted})`,
      );
    } else if (
      test !== undefined &&
      others.length === 0 &&
      text.minLength <= 0 &&
      text.maxLength === Infinity
    ) {
      const accepts = code.constant("accepts", test.accepts);
      const isPlain = test.isPlain ? "" : ` && !needsEscape(${v})`;
      cases.push(`typeof ${v} === "string"${isPlain} && ${accepts}(${v}) ? ${quoted}`);
    }
  }
  if (types & typeBits.integer && number.multiplesOf.length === 0) {
    // 0 is left to the slow way when it is -0; a finite number minus itself is 0.
    const isOfType = types & typeBits.fraction ? `${v} - ${v} === 0` : `Number.isInteger(${v})`;
    const condition = `typeof ${v} === "number" && ${isOfType}${rangeCondition(number, v)} && (${v} !== 0 || 1 / ${v} > 0)`;
    cases.push(`${condition} ? ${literal(before)} + ${v}`);
  }
  if (types & typeBits.boolean) {
    cases.push(
      `${v} === true ? ${literal(`${before}true`)}`,
      `${v} === false ? ${literal(`${before}false`)}`,
    );
  }
  return cases;
}

function rangeCondition(number: NumberLimits, v: string): string {
  if (number === freeNumber) return "";
  const limits = [
    [">=", number.minimum],
    ["<=", number.maximum],
    [">", number.above],
    ["<", number.below],
  ] as const;
  return limits
    .map(([operator, limit]) => (Number.isFinite(limit) ? ` && ${v} ${operator} ${limit}` : ""))
    .join("");
}

/** A list whose items have a shape of their own and no other condition. */
function listCases(code: Code, shape: Shape, { v, field, before, depth }: ValuePlace): string[] {
  const array = only(shape, typeBits.array)?.array;
  if (array?.items === undefined || array.prefix.length > 0 || array.isUnique) return [];
  if (array.minItems > 0 || array.maxItems !== Infinity) return [];
  const item = valueCode(code, array.items, {
    v: "v",
    field: "index",
    before: "",
    depth: depth + 1,
    keyRole: undefined,
  });
  const list = code.define(
    "list",
    (name) => `function ${name}(items) { let text = "[";
for (let index = 0; index < items.length; index++) { const v = items[index]; if (index > 0) text += ","; text += ${item}; }
return text + "]"; }`,
  );
  return [`Array.isArray(${v}) ? ${literal(before)} + nest(faults.noted, ${field}, ${list}(${v}))`];
}

/** An object of declared properties only. */
function objectCases(code: Code, shape: Shape, { v, field, before, depth }: ValuePlace): string[] {
  const object = only(shape, typeBits.object)?.object;
  if (object === undefined || additionalShape(object) !== undefined || object.patterns.length > 0)
    return [];
  if (object.minProperties > 0 || object.maxProperties !== Infinity) return [];
  const fields = [...object.properties].map(([name, member]) => {
    return { name, shape: member, isRequired: object.required.has(name), keyRole: undefined };
  });
  const writer = objectFunction(code, fields, new Set(object.properties.keys()), "{", depth);
  return [
    `isPlainObject(${v}) ? ${literal(before)} + nest(faults.noted, ${field}, ${writer}(${v}) + "}")`,
  ];
}

/** The one alternative of a type, when it has no condition besides. */
function only(shape: Shape, type: number): Alternative | undefined {
  const [one, ...others] = shape.filter((alternative) => (alternative.types & type) !== 0);
  if (one === undefined || others.length > 0) return undefined;
  return one.values === undefined && one.exactlyOne.length === 0 && one.none.length === 0
    ? one
    : undefined;
}

const literal = (text: string) => JSON.stringify(text);
