/**
 * Reads whose provider answers 200 with an error: alone, beside a part of the rows, or in place of
 * one.
 */
import type { Lab } from "../../contract/lab.ts";
import type { Answer } from "../../contract/network.ts";
import { ownErrors } from "../requests/own-errors.ts";
import {
  edgeRequests,
  mostRefusals,
  type RequestPlace,
  refuse,
  requestPlaces,
} from "../requests/rate-limits.ts";
import { halfAnswers } from "../rows/half-answers.ts";
import { keyedAnswers } from "../rows/keyed-answers.ts";
import { listingWithoutRows } from "../rows/wrong-bodies.ts";
import type { WrongAnswerRun } from "./wrong-answers.ts";

/** Requests of reads that are tried with every envelope, and as many with a part of their rows. */
const sampledPlaces = 6;
/** Requests that are answered by id, with every error in place of an entry. */
const sampledKeyed = 3;

const envelopes: readonly object[] = [
  { ok: false, error: "internal_error" },
  { success: false, errors: [{ code: 1000, message: "Something failed." }] },
  { data: null, errors: [{ message: "Something failed.", path: ["rows"] }] },
  { error: { code: 500, message: "Something failed.", status: "INTERNAL" } },
  { ok: false, error_code: 500, description: "Something failed." },
  { status: "error", code: "internal", message: "Something failed." },
];

/** Done once for all rules. */
export function errorAnswers(lab: Lab): Promise<readonly WrongAnswerRun[]> {
  return lab.once("error answers", async () => {
    const runs: WrongAnswerRun[] = [];
    if (lab.egress !== "http") return runs;
    const own = ownErrors(lab);
    const places = await edgeRequests(lab, Number.POSITIVE_INFINITY);
    const halves = places
      .map((place) => ({ place, answers: halfAnswers(lab, place, own) }))
      .filter(({ answers }) => answers.length > 0);
    const whole = lab.sample(places, sampledPlaces).map((place) => ({
      place,
      answers: [...envelopes, ...ownEnvelopes(lab, place, own)].map(inside200),
    }));
    for (const { place, answers } of [...whole, ...lab.sample(halves, sampledPlaces)]) {
      for (const { name: what, answer } of answers) {
        const { observation, tries } = await refuse(lab, place, answer, mostRefusals);
        runs.push({ name: `${place.name} answered ${what}`, place, observation, tries });
      }
    }
    for (const { place, answers } of lab.sample(await keyedPlaces(lab, own), sampledKeyed)) {
      for (const { name: what, answer } of answers) {
        const { observation, tries } = await refuse(lab, place, answer);
        runs.push({ name: `${place.name} answered ${what}`, place, observation, tries });
      }
    }
    return runs;
  });
}

/** Requests of reads that are answered by id. They are seldom the first or the last of a read. */
const keyedPlaces = async (lab: Lab, own: readonly object[]) =>
  (await requestPlaces(lab))
    .filter(({ command, whole }) => command.verb === "read" && whole.outcome.status === "succeeded")
    .map((place) => ({ place, answers: keyedAnswers(place.exchange, own) }))
    .filter(({ answers }) => answers.length > 0);

function inside200(body: object): { readonly name: string; readonly answer: Answer } {
  const text = JSON.stringify(body);
  return {
    name: `200 with ${text}`,
    answer: {
      status: 200,
      headers: { "content-type": "application/json" },
      body: Buffer.from(text),
    },
  };
}

/** Errors as this provider reports them, alone and beside a list without rows. */
function ownEnvelopes(lab: Lab, place: RequestPlace, own: readonly object[]): object[] {
  const empty = listingWithoutRows(lab, place.exchange);
  return own.flatMap((error) => [error, ...(empty ? [{ ...empty, ...error }] : [])]);
}
