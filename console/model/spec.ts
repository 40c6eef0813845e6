/** The spec of a connector, as fields of a form: objects and lists of them have fields within. */

export interface Field {
  /** The path of the setting; within a row, the path from there. */
  readonly name: string;
  readonly title: string;
  readonly description: string | undefined;
  readonly isRequired: boolean;
  readonly isSecret: boolean;
  /** It is shown at once: nobody looks for it among what can be left as it is. */
  readonly isMain: boolean;
  readonly kind:
    | "text"
    | "long"
    | "number"
    | "switch"
    | "choice"
    | "choices"
    | "list"
    | "object"
    | "forms"
    | "rows"
    | "json";
  readonly options: readonly Option[];
  readonly example: string | undefined;
  readonly initial: unknown;
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  /** Of an object, and of each row of a list. */
  readonly inside: readonly Field[];
  /** Of an object or a row that is begun. */
  readonly begin: Values;
  /** The forms that an object may have. */
  readonly forms: readonly Form[];
}

interface Option {
  readonly value: unknown;
  /** Absent: the value says itself what it means. */
  readonly label?: string | undefined;
}

export interface Form {
  readonly title: string;
  readonly description: string | undefined;
  readonly inside: readonly Field[];
  readonly begin: Values;
  /** By which it is known from the others. */
  readonly constants: Values;
}

export type Values = Readonly<Record<string, unknown>>;

export type Part = Readonly<Record<string, unknown>>;

/** Required ones first; else in the order in which the connector names them. */
export const fieldsOf = (spec: Part): readonly Field[] =>
  fieldsWithin(spec, "").toSorted((left, right) => Number(right.isMain) - Number(left.isMain));

/** Each field, and what is within it. */
export const allFields = (fields: readonly Field[]): readonly Field[] =>
  fields.flatMap((field) => [
    field,
    ...allFields(field.inside),
    ...field.forms.flatMap((form) => allFields(form.inside)),
  ]);

/** By which fields of a form, its name included, say what is wrong with them. */
export const namesOf = (fields: readonly Field[]): readonly string[] => [
  "name",
  ...allFields(fields).map(({ name }) => name),
];

/** The fields without those of these paths. */
export const fieldsWithout = (
  fields: readonly Field[],
  names: readonly string[],
): readonly Field[] =>
  fields
    .filter(({ name }) => !names.includes(name))
    .map((field) => ({
      ...field,
      inside: fieldsWithout(field.inside, names),
      forms: field.forms.map((form) => ({ ...form, inside: fieldsWithout(form.inside, names) })),
    }));

/**
 * An object that may be left out, and is not empty when it is there: it is switched on.
 */
export const isSwitched = ({ kind, isRequired, inside }: Field): boolean =>
  kind === "object" && !isRequired && inside.some((one) => one.isRequired && !one.isSecret);

export const propertiesOf = (part: Part) =>
  (part.properties ?? {}) as Readonly<Record<string, Part>>;

const listOf = (value: unknown): readonly Part[] => (Array.isArray(value) ? value : []);

/** As isSecret of runtime/contract/spec.ts has it: the console has no code of other units. */
const isSecretPart = (part: Part): boolean =>
  part.writeOnly === true ||
  part.airbyte_secret === true ||
  part["x-svc-secret"] === true ||
  [part.anyOf, part.oneOf, part.allOf].some((list) => listOf(list).some(isSecretPart));

function fieldsWithin(part: Part, around: string): readonly Field[] {
  const required = (part.required ?? []) as readonly string[];
  const properties = propertiesOf(part);
  return Object.entries(properties)
    .filter(([, inner]) => constantOf(inner) === undefined)
    .map(([name, inner]) => {
      const field = toField(
        around === "" ? name : `${around}.${name}`,
        whole(inner),
        required.includes(name),
      );
      // An address is a host and a port: the one is not looked for without the other.
      return name === "port" && "host" in properties ? { ...field, isMain: true } : field;
    });
}

/** One value that it can have; undefined: it has several. */
function constantOf({ const: constant, enum: words, writeOnly }: Part): unknown {
  if (constant !== undefined) return constant;
  return Array.isArray(words) && words.length === 1 && writeOnly !== true ? words[0] : undefined;
}

/** With the parts of which it is put together, and without the form in which it is null. */
function whole(part: Part): Part {
  const { allOf, anyOf, oneOf, type, ...rest } = part;
  const alternatives = [...listOf(oneOf), ...listOf(anyOf)].filter((one) => one.type !== "null");
  const [only] = alternatives;
  const parts = [rest, ...listOf(allOf), ...(alternatives.length === 1 && only ? [only] : [])];
  const properties = Object.assign({}, ...parts.map(propertiesOf));
  const types = [type].flat().filter((one) => one !== undefined && one !== "null");
  return {
    ...Object.assign({}, ...parts.toReversed()),
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
    ...(parts.length === 1
      ? {}
      : { required: parts.flatMap((one) => (one.required ?? []) as readonly string[]) }),
    ...(types.length === 1 ? { type: types[0] } : types.length === 0 ? {} : { type: types }),
    ...(alternatives.length > 1 ? { oneOf: alternatives } : {}),
  };
}

const none = {
  options: [],
  inside: [],
  begin: {},
  forms: [],
} satisfies Partial<Field>;

function toField(name: string, part: Part, isRequired: boolean): Field {
  const { title, examples, minimum, maximum } = part;
  const isSecret = isSecretPart(part);
  const shape = isSecret ? { kind: kindOf(part) } : shapeOf(name, part);
  const made = { ...none, ...shape, isRequired };
  return {
    ...made,
    name,
    title: typeof title === "string" ? title : (name.split(".").at(-1) ?? name),
    description: described(part, made.kind),
    isSecret,
    isMain: isRequired,
    example:
      Array.isArray(examples) && examples.length > 0 ? spokenExample(examples[0]) : undefined,
    initial: isSecret ? undefined : (part.default ?? initialOf(made)),
    minimum: typeof minimum === "number" ? minimum : undefined,
    maximum: typeof maximum === "number" ? maximum : undefined,
  };
}

const spokenExample = (example: unknown): string =>
  typeof example === "object" ? JSON.stringify(example, null, 2) : String(example);

/** Its description in the spec; of JSON that is entered, what belongs in it. */
function described(part: Part, kind: Field["kind"]): string | undefined {
  const { description, items } = part;
  // The form sends secrets that way by itself.
  const own =
    typeof description === "string"
      ? description.replace(/ Accepted only via POST \S+$/, "")
      : undefined;
  if (kind !== "json") return own;
  const inner = propertiesOf(part.properties ? part : ((items ?? {}) as Part));
  const keys = Object.keys(inner);
  const said = part.type === "array" ? "A list, as JSON" : "As JSON";
  return [own, `${said}${keys.length === 0 ? "" : `, with ${keys.join(", ")}`}.`]
    .filter(Boolean)
    .join(" ");
}

type Shape = Pick<Field, "kind"> & Partial<Pick<Field, "options" | "inside" | "begin" | "forms">>;

/** The fields that it is made of. */
function shapeOf(name: string, part: Part): Shape {
  const alternatives = listOf(part.oneOf).map(whole);
  if (alternatives.length > 0) {
    const constants = alternatives.map(constantOf);
    if (constants.every((one) => one !== undefined))
      return {
        kind: "choice",
        options: alternatives.map(({ title }, index) => ({
          value: constants[index],
          label: typeof title === "string" ? title : undefined,
        })),
      };
    if (alternatives.every((one) => one.properties !== undefined))
      return {
        kind: "forms",
        forms: alternatives.map((one, index) => formOf(name, part, one, index)),
      };
    return { kind: "json" };
  }
  const items = whole((part.items ?? {}) as Part);
  if (part.type === "array" && items.properties !== undefined) {
    const inside = fieldsWithin(items, "");
    const isPlain = inside.every((one) => !one.isSecret && !deep.includes(one.kind));
    return isPlain ? { kind: "rows", inside, begin: beginOf(items, inside) } : { kind: "json" };
  }
  if (part.type !== "array" && part.properties !== undefined) {
    const inside = fieldsWithin(part, name);
    return { kind: "object", inside, begin: beginOf(part, inside) };
  }
  return { kind: kindOf(part), options: optionsOf(part.type === "array" ? items : part) };
}

/** Kinds that have no place in a row. */
const deep: readonly Field["kind"][] = ["object", "forms", "rows", "json"];

function formOf(name: string, around: Part, part: Part, index: number): Form {
  const { title, description } = part;
  // The fields that all forms have in common stand beside them.
  const all = whole({ ...part, allOf: [...listOf(part.allOf), { ...around, oneOf: undefined }] });
  const inside = fieldsWithin(all, name);
  const constants = constantsOf(part);
  const [first] = Object.values(constants);
  return {
    title:
      typeof title === "string" ? title : first === undefined ? `Form ${index + 1}` : String(first),
    description: typeof description === "string" ? description : undefined,
    inside,
    constants,
    begin: beginOf(all, inside),
  };
}

const constantsOf = (part: Part): Values =>
  Object.fromEntries(
    Object.entries(propertiesOf(part)).flatMap(([name, inner]) => {
      const constant = constantOf(inner);
      return constant === undefined ? [] : [[name, constant]];
    }),
  );

/** Of an object that has just come into being: its constants, and the defaults within it. */
const beginOf = (part: Part, inside: readonly Field[]): Values => ({
  ...Object.fromEntries(
    inside.flatMap(({ name, initial }) =>
      initial === undefined ? [] : [[name.split(".").at(-1) ?? name, initial]],
    ),
  ),
  ...constantsOf(part),
});

function initialOf(
  field: Pick<Field, "kind" | "isRequired" | "inside" | "begin" | "forms">,
): unknown {
  const { kind, isRequired, begin, forms } = field;
  const first =
    kind === "forms" && isRequired
      ? forms[0]?.begin
      : kind === "object" && !isSwitched(field as Field)
        ? begin
        : undefined;
  return first === undefined || Object.keys(first).length === 0 ? undefined : first;
}

const optionsOf = ({ enum: words }: Part): readonly Option[] =>
  Array.isArray(words) ? words.filter((one) => one !== null).map((value) => ({ value })) : [];

function kindOf({ type, enum: words, items, multiline }: Part): Field["kind"] {
  if (type === "array") {
    const inner = (items ?? {}) as Part;
    if (Array.isArray(inner.enum)) return "choices";
    return inner.type === "string" ? "list" : "json";
  }
  if (Array.isArray(words)) return "choice";
  if (type === "boolean") return "switch";
  if (type === "integer" || type === "number") return "number";
  if (type === "string") return multiline === true ? "long" : "text";
  return "json";
}
