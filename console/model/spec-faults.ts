/** The faults of a spec's form, by field, before anybody is asked. */
import { type Schema, Validator } from "@cfworker/json-schema";
import type { Problem } from "../api/problem.ts";
import {
  allFields,
  type Field,
  fieldsOf,
  isSwitched,
  type Part,
  propertiesOf,
  type Values,
} from "./spec.ts";
import { formAt, given, isMissing, valueAt } from "./spec-values.ts";

/**
 * The schema is interpreted: the page may not make code of it.
 * @param stored names of secrets that are stored already
 */
export function faultsOf(
  spec: Part,
  values: Values,
  stored: readonly string[] = [],
): Readonly<Record<string, string>> {
  const fields = fieldsOf(spec);
  const faults: Record<string, string> = {};
  const shown = shownIn(fields, values);
  for (const field of shown.values())
    if (field.isRequired && isLeft(field, values) && !stored.includes(field.name))
      faults[field.name] = field.kind === "forms" ? "Choose one." : "Fill this in.";
  const { required: _, ...rest } = spec;
  // Settings with secrets in them are put together by the API, which knows those that are stored.
  const secrets = allFields(fields).filter(({ isSecret }) => isSecret);
  const isWhole = ([name]: readonly [string, unknown]) =>
    !name.includes(".") && !secrets.some((one) => one.name.startsWith(`${name}.`));
  const schema = {
    ...rest,
    properties: Object.fromEntries(Object.entries(propertiesOf(spec)).filter(isWhole)),
  };
  const whole = Object.fromEntries(Object.entries(given(values)).filter(isWhole));
  const { errors } = new Validator(schema as Schema, "2020-12", false).validate(whole);
  for (const { instanceLocation, error } of errors) {
    const field = nearest(shown, instanceLocation.split("/").slice(1));
    // The deepest error of a field says most, and comes last.
    if (
      field &&
      !/^(Property|Items)/.test(error) &&
      !error.startsWith('Instance does not match "then"')
    )
      faults[field.name] ??= sayFault(error, field);
  }
  const isWithin = (name: string) => Object.keys(faults).some((one) => one.startsWith(`${name}.`));
  return Object.fromEntries(Object.entries(faults).filter(([name]) => !isWithin(name)));
}

/** Whether nothing is entered. Of an object, what is within it says so. */
const isLeft = (field: Field, values: Values): boolean =>
  field.kind === "forms"
    ? formAt(values, field) === undefined
    : field.kind !== "object" && isMissing(valueAt(values, field.name));

/**
 * The refusals of the API, by field. Secrets that were not accepted are those that were typed, or
 * where none was, those that are stored.
 */
export function refusedFields(
  problem: Problem | undefined,
  fields: readonly Field[],
  values: Values,
): Readonly<Record<string, string>> {
  if (problem === undefined) return {};
  if (!problem.isOfSecrets) return problem.fields;
  const secrets = allFields(fields).filter(({ isSecret }) => isSecret);
  const typed = secrets.filter(({ name }) => !isMissing(values[name]));
  const refused = (typed.length > 0 ? typed : secrets).map(
    ({ name }) => [name, "It was not accepted."] as const,
  );
  return { ...problem.fields, ...Object.fromEntries(refused) };
}

/** The fields that can be filled in as the values are, by their paths. */
function shownIn(fields: readonly Field[], values: Values): ReadonlyMap<string, Field> {
  const shown = new Map<string, Field>();
  const add = (some: readonly Field[], around = "", isNeeded = true): void => {
    for (const one of some) {
      const name = `${around}${one.name}`;
      const field = { ...one, name, isRequired: one.isRequired && isNeeded };
      shown.set(name, field);
      const value = valueAt(values, name);
      if (field.kind === "object" && (!isSwitched(one) || value !== undefined)) {
        const isThere = one.isRequired || !isMissing(value) || isSwitched(one);
        add(one.inside, around, isNeeded && (isThere || hasSecret(one.inside, values)));
      }
      if (field.kind === "forms") add(formAt(values, one)?.inside ?? [], around, isNeeded);
      if (field.kind === "rows" && Array.isArray(value))
        for (const index of value.keys()) add(one.inside, `${name}.${index}.`);
    }
  };
  add(fields);
  return shown;
}

const hasSecret = (fields: readonly Field[], values: Values): boolean =>
  fields.some(({ name, isSecret }) => isSecret && !isMissing(values[name]));

function nearest(shown: ReadonlyMap<string, Field>, path: readonly string[]): Field | undefined {
  for (let length = path.length; length > 0; length--) {
    const field = shown.get(path.slice(0, length).join("."));
    if (field) return field;
  }
  return undefined;
}

const sayFault = (error: string, { example }: Field): string => {
  if (/pattern/i.test(error))
    return example === undefined ? "It has not the right form." : `For example: ${example}`;
  return error.replace(/^Instance is/, "It is");
};
