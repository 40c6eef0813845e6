/**
 * Checks whose provider answers 200 with an error in a member that says, in the recordings, that
 * there is none: `"error": null`, `"errors": []`.
 */
import { valueAt } from "svc-connectors/host";
import type { Lab } from "../../contract/lab.ts";
import type { Exchange, Provider } from "../../contract/network.ts";
import type { Command } from "../../contract/observation.ts";
import { jsonLeaves, nameOf, withValue } from "../../learn/json.ts";
import { withAnswers } from "../../replay/strict.ts";
import { plantedError } from "../leaks/plants.ts";
import { requestPlaces } from "../requests/rate-limits.ts";
import { withTree } from "../rows/half-answers.ts";
import { treeOf } from "./pages.ts";

export interface ErrorMember {
  /** "check, an error of an unknown code in /item/error of POST /item/get". */
  readonly name: string;
  readonly command: Command;
  /** It has the error there whenever it is asked. */
  readonly provider: Provider;
  isAnsweredBy(exchange: Exchange): boolean;
}

/** Members that a default certification tries. */
const sampledMembers = 4;

/** Each once. Members inside of lists are data of their rows, and left out. */
export async function errorMembers(lab: Lab): Promise<readonly ErrorMember[]> {
  if (lab.egress !== "http") return [];
  const all = (await requestPlaces(lab))
    .filter(
      ({ command, whole }) => command.verb === "check" && whole.outcome.status === "succeeded",
    )
    .flatMap(({ command, exchange }) =>
      emptyErrors(exchange).map((pointer) => memberOf(lab, command, exchange, pointer)),
    );
  const members = new Map(all.map((member) => [member.name, member]));
  return lab.sample([...members.values()], sampledMembers);
}

/** Pointers to members for errors that hold none. */
const emptyErrors = ({ answer }: Exchange): readonly string[] =>
  answer?.status === 200
    ? [...jsonLeaves(treeOf({ answer }))].flatMap(([pointer, value]) =>
        /^errors?$/.test(nameOf(pointer)) && isEmpty(value) ? [pointer] : [],
      )
    : [];

const isEmpty = (value: unknown) => value === null || (Array.isArray(value) && value.length === 0);

function memberOf(
  lab: Lab,
  command: Command,
  { request, answer }: Exchange,
  pointer: string,
): ErrorMember {
  const { method, url } = request;
  const isList = Array.isArray(valueAt(treeOf({ answer }), pointer));
  const error = plantedError(lab);
  const value = isList || nameOf(pointer) === "errors" ? [error] : error;
  const isAsked = (other: Exchange["request"]) =>
    other.method === method &&
    other.url.origin === url.origin &&
    other.url.pathname === url.pathname;
  return {
    name: `check, an error of an unknown code in ${pointer} of ${method} ${url.pathname}`,
    command,
    provider: withAnswers(lab.learned.provider(), (given, other) => {
      const tree = treeOf({ answer: given });
      return isAsked(other) && isEmpty(valueAt(tree, pointer))
        ? withTree(given, withValue(tree, pointer, value))
        : given;
    }),
    isAnsweredBy: (exchange) => isAsked(exchange.request),
  };
}
