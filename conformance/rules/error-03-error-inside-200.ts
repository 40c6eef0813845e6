import { exchangeEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import type { Answer } from "../contract/network.ts";
import { defineRule } from "../contract/rule.ts";
import { ownErrors } from "../derive/requests/own-errors.ts";
import {
  edgeRequests,
  mostRefusals,
  type RequestPlace,
  refuse,
  reportNoReads,
} from "../derive/requests/rate-limits.ts";
import { halfAnswers } from "../derive/rows/half-answers.ts";
import { quietLoss } from "../derive/rows/losses.ts";
import { listingWithoutRows } from "../derive/rows/wrong-bodies.ts";

/** Requests of reads that are tried, with every envelope. */
const sampledPlaces = 6;

const envelopes: readonly object[] = [
  { ok: false, error: "internal_error" },
  { success: false, errors: [{ code: 1000, message: "Something failed." }] },
  { data: null, errors: [{ message: "Something failed.", path: ["rows"] }] },
  { error: { code: 500, message: "Something failed.", status: "INTERNAL" } },
  { ok: false, error_code: 500, description: "Something failed." },
  { status: "error", code: "internal", message: "Something failed." },
];

export default defineRule({
  id: "ERROR-03",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "An answer of status 200 that carries an error is an error, also beside a part of the rows or in place of one.",
  why: "Many providers report failures inside a 200, and some give the rows that they could get beside it. A connector that looks for rows only finds none, or half of them, and calls the sync complete.",
  fix: 'Look for the provider\'s error fields before the rows, also in answers that have some, and fail when the rows are not where they belong or one of them is none. In svc: egress errors { status: 200, pointer: "/error", code }.',
  good: 'if (!Array.isArray(body.items)) throw new ConnectorError("RESPONSE_INVALID");',
  bad: "for (const row of body.items ?? []) yield record(row);",
  notApplicable: (lab: Lab) =>
    lab.egress === "http" ? undefined : "this connector speaks to a database",
  async run(lab, report) {
    const places = await edgeRequests(lab, sampledPlaces);
    if (places.length === 0) return await reportNoReads(lab, report);
    const own = ownErrors(lab);
    if (own.length === 0)
      report.untried(
        "a part of the rows beside an error, with status 200 or 206: how this provider reports one is not known (answers.yaml with an answer 200, or egress errors)",
      );
    for (const place of places) {
      const half = halfAnswers(lab, place, own);
      if (half.length === 0)
        report.untried(
          `${place.name}: a part of its rows: they are no records, or there is one alone`,
        );
      for (const { name: what, answer } of [
        ...[...envelopes, ...ownEnvelopes(lab, place, own)].map(inside200),
        ...half,
      ]) {
        const name = `${place.name} answered ${what}`;
        report.checked(name);
        const { observation, tries } = await refuse(lab, place, answer, mostRefusals);
        const loss = quietLoss(lab, observation, place.whole);
        if (loss !== undefined)
          report.fail(
            `${name}: the read calls itself successful, with ${loss}. Expected: a failure.`,
            exchangeEvidence("Requests", observation.exchanges, (exchange) =>
              tries.includes(exchange),
            ),
          );
      }
    }
  },
});

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
