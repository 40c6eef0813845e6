/** RecordExpander: the items of a list within a record, each as a record of its own. */
import { type Component, textsOf } from "../document/component.ts";
import { invalid } from "../document/invalid.ts";
import type { Scope } from "../expressions/evaluate.ts";
import { compileTemplate } from "../expressions/template.ts";
import { isMapping, type PlainValue, toText } from "../expressions/values.ts";
import { compilePath, type PlainRecord } from "./selector.ts";

export function compileExpander(expander: Component) {
  const find = compilePath(expander, "expand_records_from_field");
  const isWithOriginal = expander.get("remain_original_record") === true;
  const isMerged = expander.get("merge_parent") === true;
  const isParentKept = expander.get("on_no_records") === "emit_parent";
  const copies = expander.children("parent_fields", "ParentFieldPath").map(compileCopy);
  const isCarrying = isWithOriginal || isMerged || copies.length > 0;
  return (record: PlainRecord, scope: Scope): PlainRecord[] => {
    const { found, steps } = find(record, scope);
    const items = found.filter(Array.isArray).flat() as PlainValue[];
    if (items.length === 0) return isParentKept ? [record] : [];
    const base = isMerged ? without(record, steps) : undefined;
    return items.flatMap((item) => {
      const own = isMapping(item) ? item : isCarrying ? { value: item } : undefined;
      if (!own) return [];
      const row = { ...(base && (copyOf(base) as PlainRecord)), ...own };
      for (const copy of copies) copy(record, row, scope);
      if (isWithOriginal) row.original_record = copyOf(record);
      return [row];
    });
  };
}

/** A value of the record that is copied onto each of its items; null where it has none. */
function compileCopy(part: Component) {
  const pathAt = (name: string) => {
    const place = part.at(name);
    const path = textsOf(part.get(name), place).map((one) => compileTemplate(one, place));
    if (path.length === 0) throw invalid(place, "must name a field");
    return (scope: Scope) => {
      const steps = path.map((one) => toText(one.value(scope)));
      if (steps.some((one) => /[*?[]/.test(one) || one === "__proto__"))
        throw invalid(place, "must name one field");
      return steps;
    };
  };
  const [from, to] = [pathAt("parent_path"), pathAt("record_path")];
  return (parent: PlainRecord, row: PlainRecord, scope: Scope): void => {
    let value: PlainValue = parent;
    for (const step of from(scope))
      value = Array.isArray(value)
        ? /^-?\d+$/.test(step)
          ? value.at(Number(step))
          : undefined
        : isMapping(value) && Object.hasOwn(value, step)
          ? value[step]
          : undefined;
    let at = row;
    const steps = to(scope);
    for (const step of steps.slice(0, -1)) {
      const inner = Object.hasOwn(at, step) ? at[step] : {};
      if (!isMapping(inner))
        throw invalid(part.at("record_path"), "runs through a value that is no object");
      const next = { ...inner };
      at[step] = next;
      at = next;
    }
    at[steps.at(-1) ?? ""] = copyOf(value ?? null);
  };
}

/** Nothing of it is shared: what changes a record changes no other. */
function copyOf(value: PlainValue): PlainValue {
  if (Array.isArray(value)) return value.map(copyOf);
  if (!isMapping(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, copyOf(part)]));
}

/** The value without the lists at a path. */
function without(value: PlainValue, [step = "", ...rest]: readonly string[]): PlainValue {
  const isMeant = (name: string) => step === "*" || step === name;
  const kept = (name: string, part: PlainValue): readonly [string, PlainValue][] => {
    if (!isMeant(name)) return [[name, part]];
    if (rest.length > 0) return [[name, without(part, rest)]];
    return Array.isArray(part) ? [] : [[name, part]];
  };
  if (Array.isArray(value))
    return value.flatMap((part, index) => kept(String(index), part).map(([, one]) => one));
  if (!isMapping(value)) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([name, part]) => kept(name, part)));
}
