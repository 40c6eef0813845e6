/**
 * Generated code: functions by name, and the constants that they use. Names and constants enter the
 * code as JSON literals or as arguments, never as bare text, so no schema can say what is executed.
 */
import { isPlainObject, needsEscape } from "../../wire/exact-json.ts";
import type { StreamFaults } from "./faults.ts";
import type { Shape } from "./shape.ts";
import { writeMember, writeValue } from "./value.ts";

/** The code so far: functions by name and the constants that they use. */
export function createCode(faults: StreamFaults) {
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
      return new Function(...Object.keys(constants), source)(
        ...Object.values(constants),
      ) as unknown;
    },
  };
}
export type Code = ReturnType<typeof createCode>;

/** A row cannot be kept without its key: what would be noted elsewhere is an error here. */
export function keyText(
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

/** Reads a property of the object `o`, and never what it inherits. */
export function readCode(property: string): string {
  const name = literal(property);
  return property in Object.prototype
    ? `hasOwn(o, ${name}) ? o[${name}] : undefined`
    : `o[${name}]`;
}

export const literal = (text: string) => JSON.stringify(text);
