/** Transformations of records, in the order in which a stream lists them. */
import { transformWith } from "../custom/records.ts";
import { ownPartOf } from "../custom/scope.ts";
import { type Component, textsOf } from "../document/component.ts";
import { invalid } from "../document/invalid.ts";
import type { Scope } from "../expressions/evaluate.ts";
import { readLiteral } from "../expressions/literals.ts";
import { compileTemplate } from "../expressions/template.ts";
import { isFloat } from "../expressions/value-tests.ts";
import { isMapping, isNumber, type PlainValue, valueAt } from "../expressions/values.ts";
import type { PlainRecord } from "./selector.ts";

/** Changes a record in its place. */
export type Transform = (record: PlainRecord, scope: Scope) => void;

export const transformationTypes = [
  ...(["AddFields", "RemoveFields", "KeysToLower", "KeysReplace", "FlattenFields"] as const),
  ...(["DpathFlattenFields", "KeysToSnakeCase", "CustomTransformation"] as const),
] as const;

export function compileTransformation(step: Component): Transform {
  const own = ownPartOf(step);
  if (own) return transformWith(own);
  switch (step.type) {
    case "RemoveFields":
    case "ConfigRemoveFields":
      return compileRemove(step);
    case "KeysToLower":
      return (record) =>
        replace(
          record,
          renamed(record, (name) => name.toLowerCase()),
        );
    case "KeysToSnakeCase":
      return (record) => replace(record, inSnakeCase(record));
    case "KeysReplace":
      return compileReplace(step);
    case "FlattenFields": {
      const isWithLists = step.get("flatten_lists") !== false;
      return (record) => replace(record, flatten(record, isWithLists));
    }
    case "DpathFlattenFields":
      return compileFlattenAt(step);
    default:
      return compileAdd(step);
  }
}

/**
 * Words are runs of letters, with capitals at their beginning, and numbers; accents are dropped.
 */
function inSnakeCase(record: PlainRecord): PlainRecord {
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => {
      const plain = name.normalize("NFKD").replace(/\p{M}/gu, "");
      const words = [...plain.matchAll(/[A-Z]+[a-z]*|[a-z]+|\d+|([^a-zA-Z\d]+)/g)].map(
        ([word, other]) => (other === undefined ? word.toLowerCase() : ""),
      );
      // Characters between words separate them; at an end they leave an underscore.
      const kept = words.filter(
        (word, index) => word !== "" || index === 0 || index === words.length - 1,
      );
      if (/^\d+$/.test(kept[0] ?? "")) kept.unshift("");
      return [kept.join("_"), isMapping(value) ? inSnakeCase(value as PlainRecord) : value];
    }),
  );
}

function compileRemove(step: Component): Transform {
  const pointers = step.get("field_pointers");
  if (!Array.isArray(pointers)) throw invalid(step.at("field_pointers"), "must be a list");
  const paths = pointers.map((one) => textsOf(one, step.at("field_pointers")));
  const condition = step.template("condition");
  return (record, scope) => {
    for (const path of paths)
      remove(record, path, (property) => {
        if (!condition || condition.text(scope) === "") return true;
        return condition.holds({ ...scope, property });
      });
  };
}

function compileAdd(step: Component): Transform {
  const written = step.get("condition");
  const condition = written === "" ? undefined : step.template("condition");
  const fields = step.children("fields", "AddedFieldDefinition").map((field) => {
    const path = textsOf(field.get("path"), field.at("path"));
    if (path.length === 0) throw invalid(field.at("path"), "must name a field");
    const template = field.required("value", field.template("value"));
    const isFitting = fittingOf(field);
    return {
      path,
      evaluate(scope: Scope) {
        if (!isFitting) return template.value(scope);
        const text = template.text(scope);
        const value = readLiteral(text);
        return isFitting(value) ? value : text;
      },
    };
  });
  return (record, scope) => {
    for (const { path, evaluate } of fields)
      if (!condition || condition.holds(scope)) put(record, path, evaluate(scope));
  };
}

/**
 * Whether a value is of the type that a field is to have: it is the text otherwise, which the
 * schema of the stream may take or not. Undefined where any value will do.
 */
function fittingOf(field: Component): ((value: PlainValue) => boolean) | undefined {
  const type = field.get("value_type");
  switch (type) {
    case undefined:
    case null:
      return undefined;
    case "string":
      return (value) => typeof value === "string";
    case "number":
      return (value) => isNumber(value) && typeof value !== "boolean";
    case "integer":
      return (value) => isNumber(value) && !isFloat(value);
    case "boolean":
      return (value) => typeof value === "boolean";
    default:
      throw invalid(field.at("value_type"), "must be string, number, integer or boolean");
  }
}

function compileReplace(step: Component): Transform {
  const from = step.required("old", step.template("old"));
  const to = step.required("new", step.template("new"));
  return (record, scope) => {
    const [old, fresh] = [from.text(scope), to.text(scope)];
    const change = (value: PlainRecord): PlainRecord => {
      const made = renamed(value, (name) => name.replaceAll(old, () => fresh));
      for (const [name, part] of Object.entries(made))
        if (isMapping(part)) made[name] = change(part as PlainRecord);
      return made;
    };
    replace(record, change(record));
  };
}

function compileFlattenAt(step: Component): Transform {
  const path = textsOf(step.get("field_path"), step.at("field_path")).map((one) =>
    compileTemplate(one, step.at("field_path")),
  );
  const isMoved = step.get("delete_origin_value") === true;
  const isAll = step.get("replace_record") === true;
  const names = step.child("key_transformation", "KeyTransformation");
  const [prefix, suffix] = [names?.template("prefix"), names?.template("suffix")];
  return (record, scope) => {
    const at = path.map((one) => one.text(scope));
    if (at.includes("*") || at.includes("__proto__"))
      throw invalid(step.at("field_path"), "must name one field");
    const found = valueAt(record, at);
    if (!isMapping(found)) return;
    const made = renamed(
      found,
      (name) => `${prefix?.text(scope) ?? ""}${name}${suffix?.text(scope) ?? ""}`,
    );
    if (isAll && Object.keys(made).length > 0) return replace(record, made);
    if (Object.keys(made).some((name) => Object.hasOwn(record, name))) return;
    if (isMoved) remove(record, at, () => true);
    Object.assign(record, made);
  };
}

const renamed = (record: PlainRecord, name: (old: string) => string): PlainRecord =>
  Object.fromEntries(Object.entries(record).map(([old, value]) => [name(old), value]));

function replace(record: PlainRecord, by: PlainRecord): void {
  for (const name of Object.keys(record)) delete record[name];
  for (const [name, value] of Object.entries(by)) if (name !== "__proto__") record[name] = value;
}

/** Nested values at the top; a name that is taken already gets that of its parent before it. */
function flatten(record: PlainRecord, isWithLists: boolean): PlainRecord {
  const made: Record<string, PlainValue> = {};
  const stack: [PlainValue, string][] = [[record, "_"]];
  let isForced = false;
  for (let next = stack.pop(); next; next = stack.pop()) {
    const [value, parent] = next;
    if (isMapping(value))
      for (const [name, part] of Object.entries(value))
        stack.push([part, Object.hasOwn(made, name) || isForced ? `${parent}.${name}` : name]);
    else if (Array.isArray(value) && isWithLists)
      for (const [index, part] of value.entries()) {
        isForced = true;
        stack.push([part, `${parent}.${index}`]);
      }
    else made[parent] = value;
  }
  return made;
}

function put(record: PlainRecord, path: readonly string[], value: PlainValue): void {
  let at = record;
  for (const name of path.slice(0, -1)) {
    const own = Object.hasOwn(at, name) ? at[name] : undefined;
    const inner = isMapping(own) ? (own as PlainRecord) : {};
    at[name] = inner;
    at = inner;
  }
  at[path.at(-1) ?? ""] = value;
}

function remove(
  record: PlainRecord,
  path: readonly string[],
  isMeant: (value: PlainValue) => boolean,
): void {
  const [name = "", ...rest] = path;
  for (const key of name === "*" ? Object.keys(record) : [name]) {
    if (!Object.hasOwn(record, key)) continue;
    const part = record[key];
    if (rest.length > 0) {
      if (typeof part === "object" && part !== null) remove(part as PlainRecord, rest, isMeant);
    } else if (isMeant(part)) {
      if (Array.isArray(record)) record.splice(Number(key), 1);
      else delete record[key];
    }
  }
}
