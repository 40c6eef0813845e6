/** From the bodies of an answer to records: the extractor, the filters, and the transformations. */
import type { JsonObject } from "../../contract/json.ts";
import { extractWith, filterWith } from "../custom/records.ts";
import { ownPartOf } from "../custom/scope.ts";
import { type Component, textsOf } from "../document/component.ts";
import { invalid, Unsupported } from "../document/invalid.ts";
import type { Scope } from "../expressions/evaluate.ts";
import { compileTemplate } from "../expressions/template.ts";
import { isMapping, type PlainValue } from "../expressions/values.ts";
import { compileExpander } from "./expander.ts";
import { normalize } from "./normalize.ts";
import { compileTransformation } from "./transformations.ts";

/** A record. */
export type PlainRecord = { [name: string]: PlainValue };

export interface Selected {
  readonly rows: PlainRecord[];
  /** How many there were before any was filtered out: by them a page is full or not. */
  readonly extracted: number;
}
/**
 * The records of an answer.
 * @param isNew drops what an earlier read had, before other conditions
 */
export type Select = (
  bodies: readonly PlainValue[],
  scope: Scope,
  isNew?: (record: PlainRecord) => boolean,
) => Selected;

export function compileSelector(
  selector: Component,
  transformations: readonly Component[],
  isClientSide: boolean,
  schema: () => JsonObject,
  extract = compileExtractors(
    selector.required("extractor", selector.child("extractor", ...extractorTypes)),
  ),
): Select {
  const filter = selector.child("record_filter", "RecordFilter", "CustomRecordFilter");
  const own = filter && ownPartOf(filter);
  const ownFilter = own && filterWith(own);
  const condition = own ? undefined : filter?.template("condition");
  const steps = transformations.map(compileTransformation);
  const normalization = selector.get("schema_normalization") ?? "None";
  if (normalization !== "None" && normalization !== "Default")
    throw new Unsupported(selector.at("schema_normalization"), "is not supported here");
  const given = normalization === "Default" ? schema() : undefined;
  const isTransformedFirst = selector.get("transform_before_filtering") ?? isClientSide;
  return (bodies, scope, isNew) => {
    const found = extract(bodies, scope);
    const keep = (rows: PlainRecord[]) => {
      const kept = rows.filter(
        (record) => (isNew?.(record) ?? true) && (condition?.holds({ ...scope, record }) ?? true),
      );
      return ownFilter ? ownFilter(kept, scope) : kept;
    };
    const transform = (rows: PlainRecord[]) => {
      for (const record of rows) for (const step of steps) step(record, { ...scope, record });
      return rows;
    };
    const rows = isTransformedFirst ? keep(transform(found)) : transform(keep(found));
    if (given) for (const row of rows) normalize(row, given);
    return { rows, extracted: found.length };
  };
}

/** The records in all bodies of an answer. */
type ExtractAll = (bodies: readonly PlainValue[], scope: Scope) => PlainRecord[];

const extractorTypes = ["DpathExtractor", "CombinedExtractor", "CustomRecordExtractor"] as const;

/** Of one extractor; or of several, all of them or those of the first that finds any. */
function compileExtractors(extractor: Component): ExtractAll {
  const own = ownPartOf(extractor);
  if (own) return extractWith(own);
  if (extractor.type === "DpathExtractor") return ofEach(compileExtractor(extractor));
  const all = extractor.children("extractors", ...extractorTypes).map(compileExtractors);
  if (all.length === 0) throw invalid(extractor.at("extractors"), "must name an extractor");
  const mode = extractor.get("mode") ?? "union";
  if (mode === "union") return (bodies, scope) => all.flatMap((one) => one(bodies, scope));
  if (mode !== "first_match") throw invalid(extractor.at("mode"), "must be union or first_match");
  return (bodies, scope) => {
    for (const one of all) {
      const found = one(bodies, scope);
      if (found.length > 0) return found;
    }
    return [];
  };
}

const ofEach =
  (extract: Extract): ExtractAll =>
  (bodies, scope) =>
    bodies.flatMap((body) => extract(body, scope));

/** The records in a body. */
export type Extract = (body: PlainValue, scope: Scope) => PlainRecord[];

/** Finds the values at a path, records or not; `*` is every name. */
export function compilePath(owner: Component, name: string) {
  const place = owner.at(name);
  const path = textsOf(owner.get(name), place).map((one) => compileTemplate(one, place));
  return (body: PlainValue, scope: Scope) => {
    let found: PlainValue[] = [body];
    let isMany = false;
    const steps = path.map((step) => step.text(scope));
    for (const key of steps) {
      isMany ||= key === "*";
      found = found.flatMap((value) => partsOf(value, key));
    }
    return { found, isMany, steps };
  };
}

export function compileExtractor(extractor: Component): Extract {
  const find = compilePath(extractor, "field_path");
  extractor.child("decoder", "JsonDecoder");
  const expanderPart = extractor.child("record_expander", "RecordExpander");
  const expand = expanderPart && compileExpander(expanderPart);
  return (body, scope) => {
    const { found, isMany } = find(body, scope);
    const listed = isMany ? found : found.flatMap((one) => (Array.isArray(one) ? one : [one]));
    // An empty object where one record is meant is none.
    const rows = listed
      .flatMap((one) => (Array.isArray(one) ? one : [one]))
      .filter(isMapping) as PlainRecord[];
    const kept =
      isMany || Array.isArray(found[0]) ? rows : rows.filter((one) => Object.keys(one).length > 0);
    return expand ? kept.flatMap((row) => expand(row, scope)) : kept;
  };
}

/** The part of that name; of every name for `*`. */
function partsOf(value: PlainValue, name: string): PlainValue[] {
  if (typeof value !== "object" || value === null) return [];
  if (name === "*") return Object.values(value);
  const key = Array.isArray(value) && !/^\d+$/.test(name) ? undefined : name;
  return key !== undefined && Object.hasOwn(value, key) ? [(value as PlainRecord)[key]] : [];
}
