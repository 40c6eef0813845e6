/** Names in the OpenAPI document that generated clients turn into methods and types. */
import type { Operation } from "../contract/operation.ts";

const capital = (word: string) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`;

/** `reverse_etl_model` as ReverseEtlModel. */
export const pascal = (name: string): string => name.split("_").map(capital).join("");

const plural = (noun: string): string =>
  /[^aeiou]y$/i.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`;

/** Whether its answer is a page of a list. */
export const isList = ({ data }: Operation): boolean =>
  data.properties.items !== undefined && data.properties.has_more !== undefined;

/**
 * The method's name in clients: `source.create` is createSource, `source.list` listSources,
 * `pipeline.streams` listPipelineStreams.
 */
export function operationIdOf(operation: Operation): string {
  if (operation.operationId !== undefined) return operation.operationId;
  const [noun = "", action = ""] = operation.id.split(".");
  const [verb = "", ...rest] = action.split("_");
  if (action === "list") return `list${plural(pascal(noun))}`;
  // A part of it, without a verb.
  if (operation.effect === "read" && action !== "get")
    return `${isList(operation) ? "list" : "get"}${pascal(noun)}${pascal(action)}`;
  return `${verb}${pascal(noun)}${pascal(rest.join("_"))}`;
}
