/** The consequences of an answer, by an author's code: a next page, a wait, an error's meaning. */
import type { HttpResponse } from "../../contract/context.ts";
import type { CustomAnswer, CustomPage } from "../../contract/custom-components.ts";
import type { Scope } from "../expressions/evaluate.ts";
import { type PlainValue, truth } from "../expressions/values.ts";
import { toPlain } from "./plain.ts";
import type { OwnPart } from "./scope.ts";

/** The token of the page after this one; undefined = there is none. */
export function nextWith(
  { part, scopeOf }: OwnPart,
  scope: Scope,
  size: number,
  token: PlainValue,
): PlainValue {
  const page: CustomPage = {
    document: scope.response,
    headers: scope.headers as Scope,
    size,
    lastRecord: scope.last_record as CustomPage["lastRecord"],
    token,
  };
  const next = toPlain(part, part.call("next", page, scopeOf(scope)));
  return truth(next) ? next : undefined;
}

const answerOf = (answer: HttpResponse, { response, headers }: Scope): CustomAnswer => ({
  status: answer.status,
  headers: (headers ?? {}) as Scope,
  document: response,
});

/** @param seen with `response` and `headers` of the answer */
export function waitWith(
  { part, scopeOf }: OwnPart,
  answer: HttpResponse,
  seen: Scope,
  attempt: number,
): number | undefined {
  if (!part.has("waitSeconds")) return undefined;
  const seconds = part.call("waitSeconds", answerOf(answer, seen), attempt, scopeOf(seen));
  if (seconds === undefined || seconds === null) return undefined;
  if (typeof seconds === "number" && seconds >= 0) return seconds;
  throw part.wrong("gives a wait that is no number of seconds");
}

/** The meaning of an answer; undefined where its status says it. */
export function judgeWith<Action extends string>(
  { part, scopeOf }: OwnPart,
  answer: HttpResponse,
  seen: Scope,
  actions: readonly Action[],
): Action | undefined {
  const given = part.call("judge", answerOf(answer, seen), scopeOf(seen));
  if (given === undefined || given === null) return undefined;
  const known = actions.find((one) => one === given);
  if (known) return known;
  throw part.wrong(`gives an action that is none of ${actions.join(", ")}`);
}
