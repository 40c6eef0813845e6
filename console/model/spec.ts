/** The spec of a connector, as fields of a form. */
import { type Schema, Validator } from "@cfworker/json-schema";

export interface Field {
  readonly name: string;
  readonly title: string;
  readonly description: string | undefined;
  readonly isRequired: boolean;
  readonly isSecret: boolean;
  readonly kind: "text" | "long" | "number" | "switch" | "choice" | "list" | "json";
  readonly options: readonly string[];
  readonly example: string | undefined;
  readonly initial: unknown;
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
}

export type Values = Readonly<Record<string, unknown>>;

type Part = Readonly<Record<string, unknown>>;

/** Required ones first; else in the order in which the connector names them. */
export function fieldsOf(spec: Part): readonly Field[] {
  const required = (spec.required ?? []) as readonly string[];
  return Object.entries(propertiesOf(spec))
    .flatMap(([name, part]) => {
      const isRequired = required.includes(name);
      const inside = secretsWithin(name, part, isRequired);
      if (inside.length === 0) return [toField(name, part, isRequired)];
      return [toObject(toField(name, part, isRequired), part), ...inside];
    })
    .toSorted((left, right) => Number(right.isRequired) - Number(left.isRequired));
}

const propertiesOf = (part: Part) => (part.properties ?? {}) as Readonly<Record<string, Part>>;

/** The forms that an object may have. */
const formsOf = ({ oneOf, anyOf, allOf }: Part): Part[] =>
  [oneOf, anyOf, allOf].flatMap((list) => (Array.isArray(list) ? (list as Part[]) : []));

const isSecretPart = (part: Part) => part.writeOnly === true || part.airbyte_secret === true;

/** Secrets within an object, each a field by its path: the API takes them apart from the rest. */
function secretsWithin(path: string, part: Part, isRequired: boolean, outer = path): Field[] {
  if (isSecretPart(part)) return [];
  const required = (part.required ?? []) as readonly string[];
  const around = typeof part.title === "string" ? part.title : outer;
  const own = Object.entries(propertiesOf(part)).flatMap(([name, inner]) => {
    const here = `${path}.${name}`;
    const isNeeded = isRequired && required.includes(name);
    if (!isSecretPart(inner)) return secretsWithin(here, inner, isNeeded);
    const field = toField(here, inner, isNeeded);
    return [{ ...field, title: `${around}: ${field.title === here ? name : field.title}` }];
  });
  const inForms = formsOf(part).flatMap((form) => secretsWithin(path, form, false, around));
  const all = [...own, ...inForms];
  return all.filter(({ name }, index) => all.findIndex((one) => one.name === name) === index);
}

/** The rest of an object: nobody must fill in what its secrets make. */
function toObject(field: Field, part: Part): Field {
  const [form = part] = formsOf(part);
  const open = Object.entries(propertiesOf(form)).filter(([, inner]) => !isSecretPart(inner));
  const constants = open.flatMap(([name, inner]) =>
    inner.const === undefined ? [] : [[name, inner.const] as const],
  );
  const isNeeded = open.some(([name]) => ((form.required ?? []) as string[]).includes(name));
  return {
    ...field,
    isRequired: field.isRequired && isNeeded,
    description: [field.description, "Without its secrets: they have fields of their own."]
      .filter(Boolean)
      .join(" "),
    initial: constants.length === 0 ? field.initial : Object.fromEntries(constants),
  };
}

function toField(name: string, part: Part, isRequired: boolean): Field {
  const { title, description, examples, minimum, maximum } = part;
  const isSecret = isSecretPart(part);
  return {
    name,
    title: typeof title === "string" ? title : name,
    // The form sends secrets that way by itself.
    description:
      typeof description === "string"
        ? description.replace(/ Accepted only via POST \S+$/, "")
        : undefined,
    isRequired,
    isSecret,
    kind: kindOf(part),
    options: Array.isArray(part.enum) ? part.enum.map(String) : [],
    example: Array.isArray(examples) && examples.length > 0 ? String(examples[0]) : undefined,
    initial: isSecret ? undefined : part.default,
    minimum: typeof minimum === "number" ? minimum : undefined,
    maximum: typeof maximum === "number" ? maximum : undefined,
  };
}

function kindOf({ type, enum: words, items, multiline }: Part): Field["kind"] {
  if (Array.isArray(words)) return "choice";
  if (type === "boolean") return "switch";
  if (type === "integer" || type === "number") return "number";
  if (type === "array" && (items as Part | undefined)?.type === "string") return "list";
  if (type === "string") return multiline === true ? "long" : "text";
  return "json";
}

export const initialValues = (fields: readonly Field[]): Values =>
  Object.fromEntries(
    fields.flatMap(({ name, initial }) => (initial === undefined ? [] : [[name, initial]])),
  );

const isMissing = (value: unknown) => value === undefined || value === "" || value === null;

/** Values that were given; an empty text is none. */
export const given = (values: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => !isMissing(value)));

/**
 * The faults by field, before anybody is asked. The schema is interpreted: the page may not make
 * code of it.
 * @param stored names of secrets that are stored already
 */
export function faultsOf(
  spec: Part,
  values: Values,
  stored: readonly string[] = [],
): Readonly<Record<string, string>> {
  const fields = fieldsOf(spec);
  const faults: Record<string, string> = {};
  for (const { name, isRequired } of fields)
    if (isRequired && isMissing(values[name]) && !stored.includes(name))
      faults[name] = "Fill this in.";
  const { required: _, ...rest } = spec;
  // Settings in parts are put together by the API, which knows the secrets that are stored.
  const isWhole = ([name]: readonly [string, unknown]) =>
    !name.includes(".") && !fields.some((one) => one.name.startsWith(`${name}.`));
  const schema = {
    ...rest,
    properties: Object.fromEntries(Object.entries(propertiesOf(spec)).filter(isWhole)),
  };
  const whole = Object.fromEntries(Object.entries(given(values)).filter(isWhole));
  const { errors } = new Validator(schema as Schema, "2020-12", false).validate(whole);
  for (const { instanceLocation, error } of errors) {
    const [, name] = instanceLocation.split("/");
    const field = fields.find((one) => one.name === name);
    // The deepest error of a field says most, and comes last.
    if (field && !/^Property/.test(error) && !error.startsWith('Instance does not match "then"'))
      faults[field.name] ??= sayFault(error, field);
  }
  return faults;
}

const sayFault = (error: string, { example }: Field): string => {
  if (/pattern/i.test(error))
    return example === undefined ? "It has not the right form." : `For example: ${example}`;
  return error.replace(/^Instance is/, "It is");
};
