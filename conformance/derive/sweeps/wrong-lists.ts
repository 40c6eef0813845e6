/**
 * Reads whose provider answers 200 with what is no list in place of one of an answer's lists, where
 * it has others beside its rows: "liabilities" by their kind, folders beside goals.
 */
import { isPlainObject, parsePointer, streamLabel, valueAt } from "svc-connectors/host";
import type { Lab } from "../../contract/lab.ts";
import type { Exchange } from "../../contract/network.ts";
import type { Observation } from "../../contract/observation.ts";
import {
  arrayLeaves,
  jsonLeaves,
  nameOf,
  readJson,
  scalarText,
  withValue,
} from "../../learn/json.ts";
import { withAnswers } from "../../replay/strict.ts";
import { type RequestPlace, requestPlaces } from "../requests/rate-limits.ts";
import { errorsOfParts, withTree } from "../rows/half-answers.ts";
import { isQuietSuccess, quietlyMissing } from "../rows/losses.ts";
import { outputRows } from "../rows/rows.ts";
import { treeOf } from "./pages.ts";
import type { WrongAnswerRun } from "./wrong-answers.ts";

export interface WrongListRun extends WrongAnswerRun {
  /** Rows lost by a run that calls itself successful; undefined where there are none. */
  readonly loss: string | undefined;
}

export interface WrongLists {
  readonly runs: readonly WrongListRun[];
  /** Lists that could not be tried, and why. */
  readonly untried: readonly string[];
}

/** An array in the answers of one endpoint, outside of any row. */
interface ListPlace {
  /** "liabilities, /liabilities/credit of POST /liabilities/get". */
  readonly name: string;
  readonly place: RequestPlace;
  readonly endpoint: string;
  readonly pointer: string;
  readonly items: readonly unknown[];
}

/** Lists with items that are tried, each with one wrong value, and empty ones with all of these. */
const sampledFilled = 10;
const sampledEmpty = 1;

interface WrongValue {
  readonly name: string;
  readonly value: unknown;
}

const wrongValues: readonly WrongValue[] = [
  ...errorsOfParts.slice(0, 1).map((value) => ({ name: "an object with an error", value })),
  { name: "a text", value: "unavailable" },
];

/** Lists that a provider has for what went wrong: that they hold nothing is no loss. */
const errorNames = /error|warning|fault|failure|problem|message/;

/** Done once for all rules. */
export function wrongLists(lab: Lab): Promise<WrongLists> {
  return lab.once("wrong lists", async () => {
    const runs: WrongListRun[] = [];
    const untried: string[] = [];
    if (lab.egress !== "http") return { runs, untried };
    const found = await listPlaces(lab);
    const filled = found.filter(({ items }) => items.length > 0);
    const cases = filled
      .filter((one) => holdsKeys(lab, one) && !isRows(lab, one))
      .flatMap((list) => wrongValues.map((wrong) => ({ list, wrong })));
    for (const { list, wrong } of lab.sample(cases, sampledFilled))
      runs.push(await tryList(lab, list, wrong, quietlyMissing));
    const empty = found.filter(
      (one) =>
        one.items.length === 0 &&
        parsePointer(one.pointer).length === 1 &&
        !errorNames.test(nameOf(one.pointer)) &&
        siblingOf(one, filled) !== undefined,
    );
    for (const list of lab.sample(empty, sampledEmpty)) {
      const doubt = await doubtOf(lab, list, siblingOf(list, filled));
      if (doubt !== undefined) untried.push(`${list.name}: ${doubt}`);
      else for (const wrong of wrongValues) runs.push(await tryList(lab, list, wrong, lossOfEmpty));
    }
    return { runs, untried };
  });
}

/** Of each read and endpoint each list once, with items where some answer has them. */
async function listPlaces(lab: Lab): Promise<readonly ListPlace[]> {
  const all = (await requestPlaces(lab))
    .filter(({ command, whole }) => command.verb === "read" && whole.outcome.status === "succeeded")
    .flatMap((place) => listsOf(place));
  const groups = Map.groupBy(all, ({ name }) => name).values();
  return [...groups].flatMap((group) => {
    const [first] = group;
    if (!first || !isAlwaysList(lab, first)) return [];
    return [group.find(({ items }) => items.length > 0) ?? first];
  });
}

function listsOf(place: RequestPlace): ListPlace[] {
  const { request, answer } = place.exchange;
  const tree = answer?.status === 200 ? treeOf(place.exchange) : undefined;
  const { command } = place.whole;
  if (!isPlainObject(tree) || command.verb !== "read") return [];
  const streams = command.catalog.streams.map(({ stream }) => streamLabel(stream)).join(", ");
  const endpoint = endpointOf(request.method, request.url);
  return [...jsonLeaves(tree)].flatMap(([pointer, items]) =>
    Array.isArray(items)
      ? [{ name: `${streams}, ${pointer} of ${endpoint}`, place, endpoint, pointer, items }]
      : [],
  );
}

/** Whether its place is an array in every recorded answer of the endpoint. */
const isAlwaysList = (lab: Lab, { endpoint, pointer }: ListPlace) =>
  lab.recordings
    .flatMap(({ interactions }) => interactions)
    .filter(
      ({ request, response }) =>
        response.status === 200 && endpointOf(request.method, new URL(request.url)) === endpoint,
    )
    .every(({ response }) => Array.isArray(valueAt(readJson(response.body ?? ""), pointer)));

/** Ids in a path are all alike. */
const endpointOf = (method: string, url: URL) =>
  `${method} ${url.pathname
    .split("/")
    .map((step) => (/\d/.test(step) && !/^v\d/.test(step) ? "{id}" : step))
    .join("/")}`;

/** The rows that paging knows: other shapes than these are tried in their place as well. */
function isRows(lab: Lab, { place, pointer }: ListPlace): boolean {
  const paging = lab.learned.listingOf(place.exchange.request)?.paging;
  return paging !== undefined && "rows" in paging && paging.rows === pointer;
}

/** Whether its items hold keys of the read's records: others are data that any record may have. */
function holdsKeys(lab: Lab, { place: { whole }, items }: ListPlace): boolean {
  const given = new Set([...arrayLeaves(items).values()].map(scalarText));
  return lab.streams.some((stream) =>
    outputRows(whole.messages, stream).some(({ data }) => {
      const names = stream.primaryKey.length > 0 ? stream.primaryKey : Object.keys(data);
      const texts = names.flatMap((name) => scalarText(data[name]) ?? []);
      return texts.some((text) => given.has(text));
    }),
  );
}

/** A list beside it in the same answer that has items. */
const siblingOf = (list: ListPlace, filled: readonly ListPlace[]) =>
  filled.find(
    ({ place, endpoint, pointer }) =>
      place.recording === list.place.recording &&
      endpoint === list.endpoint &&
      parsePointer(pointer).length === 1,
  );

/**
 * Why nothing follows from a list that is empty in all recordings; undefined where the read looks
 * at the items of this one, and refuses what is no list in place of another.
 */
async function doubtOf(
  lab: Lab,
  list: ListPlace,
  sibling: ListPlace | undefined,
): Promise<string | undefined> {
  const withItem = await runWith(lab, list, [{}]);
  if (withItem.outcome.status !== "failed")
    return "it is empty in all recordings, and nothing shows that its items become records";
  const [wrong] = wrongValues;
  const beside = sibling && (await runWith(lab, sibling, wrong?.value));
  return beside?.outcome.status === "failed"
    ? undefined
    : "it is empty in all recordings, and the list beside it may be of any shape";
}

/** An item that is no row makes the read fail: so it reads them. */
const lossOfEmpty = (_lab: Lab, seen: Observation, whole: Observation): string | undefined =>
  isQuietSuccess(seen, whole) ? "whatever this list had left out" : undefined;

async function tryList(
  lab: Lab,
  list: ListPlace,
  { name: what, value }: WrongValue,
  lossOf: typeof quietlyMissing,
): Promise<WrongListRun> {
  const observation = await runWith(lab, list, value);
  return {
    name: `${list.name}: ${what} in its place`,
    place: list.place,
    observation,
    tries: observation.exchanges.filter(({ request }) => isOf(list, request)),
    loss: lossOf(lab, observation, list.place.whole),
  };
}

/** Every answer of the endpoint has the value in place of the list. */
function runWith(lab: Lab, list: ListPlace, value: unknown): Promise<Observation> {
  const provider = withAnswers(lab.learned.provider(), (answer, request) => {
    if (answer.status !== 200 || !isOf(list, request)) return answer;
    const tree = treeOf({ answer });
    return Array.isArray(valueAt(tree, list.pointer))
      ? withTree(answer, withValue(tree, list.pointer, value))
      : answer;
  });
  return lab.run(list.place.command, { provider });
}

const isOf = ({ endpoint }: ListPlace, { method, url }: Exchange["request"]) =>
  endpointOf(method, url) === endpoint;
