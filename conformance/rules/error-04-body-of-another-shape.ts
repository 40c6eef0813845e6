import { exchangeEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import { defineRule } from "../contract/rule.ts";
import {
  edgeRequests,
  mostRefusals,
  refuse,
  reportNoReads,
} from "../derive/requests/rate-limits.ts";
import { quietLoss } from "../derive/rows/losses.ts";
import { wrongBodies, wrongShapes } from "../derive/rows/wrong-bodies.ts";

/** Requests of reads that are tried, with every wrong body. */
const sampledPlaces = 6;

export default defineRule({
  id: "ERROR-04",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "A 200 with a web page, an empty body, cut off JSON or JSON of another shape is an error, not an empty page.",
  why: "Login pages, proxies and changed APIs answer 200. A connector that finds no rows in them ends its sync as complete, and rows that exist are deleted at the destination.",
  fix: "Parse strictly, and fail when the rows are not a list where they belong.",
  good: 'const { items } = JSON.parse(text);\nif (!Array.isArray(items)) throw new ConnectorError("RESPONSE_INVALID");',
  bad: "try { return JSON.parse(text).items ?? []; } catch { return []; }",
  notApplicable: (lab: Lab) =>
    lab.egress === "http" ? undefined : "this connector speaks to a database",
  async run(lab, report) {
    const places = await edgeRequests(lab, sampledPlaces);
    if (places.length === 0) return await reportNoReads(lab, report);
    for (const place of places) {
      for (const { name: what, text, contentType } of [
        ...wrongBodies(place.exchange),
        ...wrongShapes(lab, place.exchange),
      ]) {
        const name = `${place.name} answered 200 with ${what}`;
        report.checked(name);
        const answer = {
          status: 200,
          headers: { "content-type": contentType },
          body: Buffer.from(text),
        };
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
