/**
 * Generates expressions that give the JSON text of a value: scalars, closed objects and lists at
 * once, all else by value.ts.
 */
import { quote } from "../../wire/exact-json.ts";
import { type Code, literal, readCode } from "./code.ts";
import {
  type Alternative,
  additionalShape,
  freeNumber,
  freeText,
  type NumberLimits,
  type Shape,
  typeBits,
} from "./shape.ts";

interface FieldPlan {
  readonly name: string;
  readonly shape: Shape;
  /** Written as null when it is missing. */
  readonly isRequired: boolean;
}

/**
 * V8 does not optimise functions beyond some 60 kB of bytecode, and optimises small ones sooner;
 * fields beyond this many go into functions of their own.
 */
const fieldsPerFunction = 40;

/** A function from an object to its text, from `opening` to before the closing brace. */
function objectFunction(
  code: Code,
  fields: readonly FieldPlan[],
  declared: ReadonlySet<string>,
  opening: string,
  depth: number,
): string {
  const ordered = leadingFirst(fields);
  const hasLeader = ordered[0]?.isRequired === true;
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
  return code.define("object", (name) => {
    const { state, statement } = inspectionCode(code, name, declared);
    return `${state}
function ${name}(o) {
let v, text = ${hasLeader ? '""' : literal(opening)}, comma = "", index = 0;
${statement}
${parts.join("\n")}
return text; }`;
  });
}

/**
 * Looks for properties of `o` that are not declared. An object of the same properties in the same
 * order as the last one has been inspected already.
 */
export function inspectionCode(
  code: Code,
  name: string,
  declared: ReadonlySet<string>,
): { readonly state: string; readonly statement: string } {
  const known = code.constant("declared", declared);
  return {
    state: `let ${name}_keys = [];`,
    statement: `for (const key in o) if (key !== ${name}_keys[index++]) { ${name}_keys = inspect(${known}, o); break; }`,
  };
}

/** Commas need no thought when a property that is always written comes first. */
function leadingFirst(fields: readonly FieldPlan[]): readonly FieldPlan[] {
  const leader = fields.find(({ isRequired }) => isRequired);
  return leader === undefined ? fields : [leader, ...fields.filter((field) => field !== leader)];
}

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
  const read = readCode(field.name);
  const place: ValuePlace = {
    v: "v",
    field: literal(field.name),
    before: `${before}${quote(field.name)}:`,
    depth: depth + 1,
  };
  const append = `${first}text += ${valueCode(code, field.shape, place)};`;
  return field.isRequired
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
}

/**
 * An expression that gives `before` and the text of the value: the usual kinds at once, any other
 * by the general way.
 */
export function valueCode(code: Code, shape: Shape, place: ValuePlace): string {
  const { v, field, before, depth } = place;
  const alternatives = shape.filter(isUnconditional);
  const cases = alternatives.flatMap((alternative) => scalarCases(code, alternative, place));
  if (alternatives.some(({ types, values }) => types & typeBits.null && values === undefined))
    cases.push(`${v} === null ? ${literal(`${before}null`)}`);
  if (depth < maxInlineDepth)
    cases.push(...listCases(code, shape, place), ...objectCases(code, shape, place));
  const slow = `slowText(${code.constant("shape", shape)}, ${field}, ${v}, ${depth})`;
  return `(${cases.map((one) => `${one} : `).join("")}${literal(before)} + ${slow})`;
}

/** Nothing but its type and limits decides whether a value fits. */
export const isUnconditional = ({ exactlyOne, none }: Alternative) =>
  exactlyOne.length === 0 && none.length === 0;

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
  for (const condition of numberCondition({ types, values, number }, v))
    cases.push(`typeof ${v} === "number" && ${condition} ? ${literal(before)} + ${v}`);
  if (types & typeBits.boolean) {
    cases.push(
      `${v} === true ? ${literal(`${before}true`)}`,
      `${v} === false ? ${literal(`${before}false`)}`,
    );
  }
  return cases;
}

/** When a number fits the alternative; empty: it has to be asked. */
export function numberCondition(
  { types, values, number }: Pick<Alternative, "types" | "values" | "number">,
  v: string,
): string[] {
  if (values !== undefined || (types & typeBits.integer) === 0) return [];
  if (number.multiplesOf.length > 0) return [];
  // 0 is left to the slow way when it is -0; a finite number minus itself is 0.
  const isOfType = types & typeBits.fraction ? `${v} - ${v} === 0` : `Number.isInteger(${v})`;
  return [`${isOfType}${rangeCondition(number, v)} && (${v} !== 0 || 1 / ${v} > 0)`];
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
    return { name, shape: member, isRequired: object.required.has(name) };
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
