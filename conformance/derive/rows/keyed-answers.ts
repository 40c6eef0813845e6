/** Answers that are keyed by the ids that were asked for, with an error in place of one entry. */
import { isPlainObject } from "svc-connectors/host";
import type { Exchange } from "../../contract/network.ts";
import { readJson } from "../../learn/json.ts";
import { valuesOfRequest } from "../requests/requested-values.ts";
import { errorsOfParts, type HalfAnswer, withTree } from "./half-answers.ts";

/** A single key may stand in the request by chance. */
const fewestKeys = 2;

/**
 * The answer `{ "id1": {…}, "id2": {…} }` with each error that a part of an answer may be in place
 * of its last entry; none when its keys are not ids of the request. An entry that is null or
 * missing may be of a thing that was deleted, and is not tried.
 */
export function keyedAnswers(
  { request, answer }: Pick<Exchange, "request" | "answer">,
  ownErrors: readonly object[],
): readonly HalfAnswer[] {
  const tree = answer?.status === 200 ? readJson(answer.body.toString("utf8")) : undefined;
  if (!answer || !isPlainObject(tree)) return [];
  const keys = Object.keys(tree);
  const asked = new Set(valuesOfRequest(request));
  const last = keys.at(-1);
  if (last === undefined || keys.length < fewestKeys || !keys.every((key) => asked.has(key)))
    return [];
  return [...errorsOfParts, ...ownErrors].map((error) => ({
    name: `200 with ${JSON.stringify(error)} in place of its entry ${last}`,
    answer: withTree(answer, { ...tree, [last]: error }),
  }));
}
