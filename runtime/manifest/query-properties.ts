/** QueryProperties: the names that a provider wants to be asked for, some at a time. */
import { isJsonObject } from "../contract/json.ts";
import { type Component, openComponent, textsOf } from "./document/component.ts";
import { invalid, Unsupported } from "./document/invalid.ts";
import { type PlainValue, toText } from "./expressions/values.ts";
import { compilePath, type PlainRecord } from "./records/selector.ts";
import type { Retriever } from "./retriever.ts";
import type { ManifestContext } from "./slices/partition.ts";

export interface QueryProperties {
  /** The parameter that lists them; undefined where expressions say where they stand. */
  readonly parameter: string | undefined;
  /** Asks the provider for them; undefined where the manifest lists them. */
  readonly asking: Retriever | undefined;
  /** The properties of one request after the other. */
  chunks(ctx: ManifestContext): Promise<string[][]>;
  /** The key by which rows of several requests are parts of one; undefined where they are not. */
  keyOf: ((row: PlainRecord) => string | undefined) | undefined;
}

/** @param compile of the retriever that lists them */
export function compileQueryProperties(
  requester: Component,
  compile: (retriever: Component) => Retriever,
): QueryProperties | undefined {
  const found = findIn(requester);
  if (!found) return undefined;
  const { parameter, part } = found;
  const endpoint =
    part.type === "PropertiesFromEndpoint"
      ? part
      : isJsonObject(part.get("property_list"))
        ? part.child("property_list", "PropertiesFromEndpoint")
        : undefined;
  const listed = endpoint ? [] : textsOf(part.get("property_list"), part.at("property_list"));
  const always = textsOf(
    part.get("always_include_properties") ?? [],
    part.at("always_include_properties"),
  );
  const asking =
    endpoint &&
    compile(endpoint.required("retriever", endpoint.child("retriever", "SimpleRetriever")));
  const find = endpoint && compilePath(endpoint, "property_field_path");
  const chunking = part.child("property_chunking", "PropertyChunking");
  const split = chunking && compileChunking(chunking);
  let kept: { readonly ctx: ManifestContext; readonly chunks: string[][] } | undefined;
  const namesOf = async (ctx: ManifestContext): Promise<string[]> => {
    if (!asking || !find) return listed;
    const names: string[] = [];
    for await (const slice of asking.open(ctx, {}).slices())
      for await (const page of asking.read(ctx, slice))
        for (const row of page) names.push(toText(find(row, asking.scope(ctx)).found[0]));
    return names;
  };
  return {
    parameter,
    asking,
    async chunks(ctx) {
      if (kept?.ctx === ctx) return kept.chunks;
      const names = await namesOf(ctx);
      const chunks = split ? split(names, always) : [[...always, ...names]];
      kept = { ctx, chunks };
      return chunks;
    },
    keyOf: chunking && compileMergeKey(chunking),
  };
}

function findIn(requester: Component) {
  const parameters = requester.get("request_parameters");
  const entries = Object.entries(isJsonObject(parameters) ? parameters : {}).filter(
    ([, value]) => isJsonObject(value) && value.type === "QueryProperties",
  );
  if (entries.length > 1)
    throw invalid(requester.at("request_parameters"), "may have one QueryProperties");
  const [entry] = entries;
  if (entry)
    return {
      parameter: entry[0],
      part: openComponent(entry[1], `${requester.at("request_parameters")}.${entry[0]}`, [
        "QueryProperties",
      ]),
    };
  const part =
    requester.child("query_properties", "QueryProperties") ??
    requester.child("fetch_properties_from_endpoint", "PropertiesFromEndpoint");
  return part && { parameter: undefined, part };
}

/** Names are separated by what takes three characters more. */
const separatorChars = 3;

function compileChunking(chunking: Component) {
  const limit = chunking.get("property_limit");
  const type = chunking.get("property_limit_type");
  if (type !== "characters" && type !== "property_count")
    throw invalid(chunking.at("property_limit_type"), "must be characters or property_count");
  if (limit !== undefined && (typeof limit !== "number" || limit < 1))
    throw invalid(chunking.at("property_limit"), "must be a number");
  return (names: readonly string[], always: readonly string[]): string[][] => {
    if (limit === undefined) return [[...names, ...always]];
    const chunks: string[][] = [];
    let chunk = [...always];
    let size = 0;
    for (const name of names) {
      const own = type === "characters" ? name.length + separatorChars : 1;
      if (size + own > limit) {
        chunks.push(chunk);
        chunk = [...always];
        size = 0;
      }
      chunk.push(name);
      size += own;
    }
    return [...chunks, chunk];
  };
}

function compileMergeKey(chunking: Component) {
  const strategy = chunking.child("record_merge_strategy", "GroupByKeyMergeStrategy");
  const key = strategy?.get("key") ?? "id";
  const keys = Array.isArray(key) ? key : [key];
  if (keys.some((one) => typeof one !== "string"))
    throw new Unsupported(chunking.at("record_merge_strategy"), "must name fields of the record");
  return (row: PlainRecord): string | undefined => {
    const values = keys.map((one): PlainValue => row[String(one)]);
    return values.every(Boolean) ? values.map(toText).join(",") : undefined;
  };
}
