/**
 * The values of a spec's form. Objects are whole, as the API takes them; secrets stand beside them
 * by their paths, since the API takes them apart from the rest.
 */
import { allFields, type Field, type Form, type Values } from "./spec.ts";

export const initialValues = (fields: readonly Field[]): Values =>
  Object.fromEntries(
    fields.flatMap(({ name, initial }) => (initial === undefined ? [] : [[name, initial]])),
  );

const isObject = (value: unknown): value is Values =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const isMissing = (value: unknown): boolean =>
  value === undefined ||
  value === "" ||
  value === null ||
  (isObject(value) && Object.keys(value).length === 0);

/** Of a field, wherever it stands. */
export function valueAt(values: Values, name: string): unknown {
  if (name in values) return values[name];
  return name
    .split(".")
    .reduce<unknown>(
      (value, part) =>
        Array.isArray(value) ? value[Number(part)] : isObject(value) ? value[part] : undefined,
      values,
    );
}

/** With another value in the place of a field's; one that is missing is taken out. */
export const withValue = (
  values: Values,
  { name, isSecret }: Pick<Field, "name" | "isSecret">,
  next: unknown,
): Values => put(values, isSecret ? [name] : name.split("."), next) as Values;

function put(value: unknown, [part = "", ...rest]: readonly string[], next: unknown): unknown {
  if (Array.isArray(value))
    return value.map((one, index) => (String(index) === part ? put(one, rest, next) : one));
  const { [part]: before, ...others } = isObject(value) ? value : {};
  const made = rest.length === 0 ? next : put(before, rest, next);
  // Where it was, it stays: the order in which settings are shown does not change.
  if (made === undefined || made === "") return others;
  return isObject(value) && part in value
    ? { ...value, [part]: made }
    : { ...others, [part]: made };
}

/** Beside an object: which of its forms was chosen, where its values do not say so. */
const choiceOf = (name: string) => `${name}#`;

/** The form that an object has; undefined: it has none. */
export function formAt(values: Values, { name, forms, isRequired }: Field): Form | undefined {
  const value = valueAt(values, name);
  const chosen = values[choiceOf(name)];
  if (typeof chosen === "number") return forms[chosen];
  const own = isObject(value) ? value : {};
  const isOf = ({ constants }: Form) => Object.entries(constants);
  const byConstants = forms.find(
    (form) => isOf(form).length > 0 && isOf(form).every(([key, one]) => own[key] === one),
  );
  if (byConstants) return byConstants;
  const knows = ({ inside, constants }: Form) => {
    const names = [
      ...inside.map((one) => one.name.slice(name.length + 1)),
      ...Object.keys(constants),
    ];
    return Object.keys(own).every((key) => names.includes(key));
  };
  if (Object.keys(own).length > 0) return forms.find(knows);
  return isRequired ? forms[0] : undefined;
}

/** An object in another form: nothing of the one before is left, secrets included. */
export function inForm(values: Values, { name, forms }: Field, form: Form | undefined): Values {
  const others = withoutWithin(values, name);
  if (form === undefined) return withValue(others, { name, isSecret: false }, undefined);
  return {
    ...withValue(others, { name, isSecret: false }, form.begin),
    [choiceOf(name)]: forms.indexOf(form),
  };
}

/** Without what was typed of an object's secrets and forms. */
export const withoutWithin = (values: Values, name: string): Values =>
  Object.fromEntries(
    Object.entries(values).filter(([key]) => key !== choiceOf(name) && !key.startsWith(`${name}.`)),
  );

/** Values that were given; an empty text is none, and what an empty object has is nothing. */
export const given = (values: Values): Values =>
  Object.fromEntries(
    Object.entries(values)
      .filter(([name]) => !name.endsWith("#"))
      .map(([name, value]) => [name, isObject(value) ? given(value) : value] as const)
      .filter(([, value]) => !isMissing(value)),
  );

/** The settings without their secrets. */
export function settingsOf(fields: readonly Field[], values: Values): Values {
  const secret = new Set(
    allFields(fields).flatMap(({ name, isSecret }) => (isSecret ? [name] : [])),
  );
  // Of an object that must be there, its secrets may be all that there is.
  const needed = fields.filter(({ kind, isRequired }) => kind === "object" && isRequired);
  return {
    ...Object.fromEntries(needed.map(({ name }) => [name, {}])),
    ...Object.fromEntries(
      Object.entries(given(values)).filter(([name]) => !secret.has(name) && !name.includes(".")),
    ),
  };
}

/** The secrets that were typed, by their paths. */
export const secretsOf = (fields: readonly Field[], values: Values): Record<string, string> =>
  Object.fromEntries(
    allFields(fields).flatMap(({ name, isSecret }) => {
      const value = values[name];
      return isSecret && typeof value === "string" && value !== "" ? [[name, value]] : [];
    }),
  );

/** Settings as a change of others: what was taken out is null, in objects too. */
export function changeOf(before: Values, after: Values): Values {
  const gone = Object.keys(before).filter((name) => !(name in after));
  return {
    ...Object.fromEntries(
      Object.entries(after).map(([name, value]) => {
        const was = before[name];
        return [name, isObject(value) && isObject(was) ? changeOf(was, value) : value];
      }),
    ),
    ...Object.fromEntries(gone.map((name) => [name, null])),
  };
}
