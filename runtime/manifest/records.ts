/** From an answer to records: the extractor, the filter, and the transformations, in that order. */
import { isJsonObject, type JsonValue } from "../contract/json.ts";
import type { Component } from "./component.ts";
import { invalid } from "./invalid.ts";
import { compileTemplate, type Scope } from "./template.ts";
import { type PlainValue, toText, truth } from "./values.ts";

export type Row = { [name: string]: PlainValue };
/** The records of an answer. */
export type Select = (response: PlainValue, scope: Scope) => Row[];

export function compileSelector(
  selector: Component,
  transformations: readonly Component[],
): Select {
  const extract = compileExtractor(
    selector.required("extractor", selector.child("extractor", "DpathExtractor")),
  );
  const filter = selector.child("record_filter", "RecordFilter");
  const condition = filter?.template("condition");
  const steps = transformations.map(compileTransformation);
  return (response, scope) => {
    const found = extract(response, scope);
    const kept = condition
      ? found.filter((record) => condition.holds({ ...scope, record }))
      : found;
    for (const record of kept) for (const step of steps) step(record, { ...scope, record });
    return kept;
  };
}

function compileExtractor(extractor: Component) {
  const path = textsOf(extractor.get("field_path"), extractor.at("field_path")).map((one) =>
    compileTemplate(one, extractor.at("field_path")),
  );
  return (response: PlainValue, scope: Scope): Row[] => {
    let found: PlainValue[] = [response];
    for (const step of path) {
      const name = step.text(scope);
      found = found.flatMap((value) => partsOf(value, name));
    }
    const listed = found.flatMap((value) => (Array.isArray(value) ? value : [value]));
    return listed.filter(
      (one): one is Row => typeof one === "object" && one !== null && !Array.isArray(one),
    );
  };
}

/** The part of that name; of every name for `*`. */
function partsOf(value: PlainValue, name: string): PlainValue[] {
  if (typeof value !== "object" || value === null) return [];
  if (name === "*") return Object.values(value);
  const key = Array.isArray(value) && !/^\d+$/.test(name) ? undefined : name;
  return key !== undefined && Object.hasOwn(value, key) ? [(value as Row)[key]] : [];
}

type Transform = (record: Row, scope: Scope) => void;

function compileTransformation(step: Component): Transform {
  if (step.type === "RemoveFields") {
    const pointers = step.get("field_pointers");
    if (!Array.isArray(pointers)) throw invalid(step.at("field_pointers"), "must be a list");
    const paths = pointers.map((one) => textsOf(one, step.at("field_pointers")));
    return (record) => {
      for (const path of paths) remove(record, path);
    };
  }
  const condition = step.template("condition");
  const fields = step.children("fields", "AddedFieldDefinition").map((field) => {
    const path = textsOf(field.get("path"), field.at("path"));
    if (path.length === 0) throw invalid(field.at("path"), "must name a field");
    const template = field.required("value", field.template("value"));
    const convert = converterOf(field);
    return {
      path,
      evaluate: (scope: Scope) => convert(template.text(scope), template.value(scope)),
    };
  });
  return (record, scope) => {
    if (condition && !condition.holds(scope)) return;
    for (const { path, evaluate } of fields) put(record, path, evaluate(scope));
  };
}

function converterOf(field: Component): (text: string, value: PlainValue) => PlainValue {
  const type = field.get("value_type");
  if (type === undefined || type === null) return (_, value) => value;
  if (type === "string") return (text) => text;
  if (type === "boolean") return (_, value) => truth(value);
  if (type !== "integer" && type !== "number")
    throw invalid(field.at("value_type"), "must be string, number, integer or boolean");
  return (text, value) => {
    if (typeof value === "number" && (type === "number" || Number.isInteger(value))) return value;
    throw invalid(field.at("value"), `gave a text of ${text.length} characters that is no ${type}`);
  };
}

function put(record: Row, path: readonly string[], value: PlainValue): void {
  let at = record;
  for (const name of path.slice(0, -1)) {
    const own = Object.hasOwn(at, name) ? at[name] : undefined;
    const inner =
      typeof own === "object" && own !== null && !Array.isArray(own) ? (own as Row) : {};
    at[name] = inner;
    at = inner;
  }
  at[path.at(-1) ?? ""] = value;
}

function remove(record: Row, path: readonly string[]): void {
  const [name = "", ...rest] = path;
  for (const key of name === "*" ? Object.keys(record) : [name]) {
    if (!Object.hasOwn(record, key)) continue;
    const part = record[key];
    if (rest.length === 0) delete record[key];
    else if (typeof part === "object" && part !== null) remove(part as Row, rest);
  }
}

/** A list of texts, none of which reaches for an object's insides. */
export function textsOf(value: JsonValue | undefined, path: string): string[] {
  if (!Array.isArray(value) || isJsonObject(value)) throw invalid(path, "must be a list of names");
  return value.map((one) => {
    if (typeof one !== "string" && typeof one !== "number")
      throw invalid(path, "must be a list of names");
    if (one === "__proto__") throw invalid(path, 'reaches for "__proto__"');
    return toText(one);
  });
}
