import { exchangeEvidence } from "../contract/evidence.ts";
import { defineRule } from "../contract/rule.ts";
import {
  endText,
  informativeListings,
  missingReads,
  missingRows,
  missingText,
  only,
  pagedReads,
  readPages,
  withoutPages,
} from "../derive/sweeps/pages.ts";

const sampledReads = 6;
/** Pages that come without rows, from 0. */
const cases: readonly (readonly number[])[] = [[0], [1], [1, 2]];

export default defineRule({
  id: "PAGE-02",
  level: "MUST",
  profile: "resilient",
  since: "0.1.0",
  title: "A page without rows that names a next page is not the end.",
  why: "Providers filter after they have cut pages: a page may be empty and the next one full. Who stops there loses everything behind it, and only for some users.",
  fix: "Let the next token, link or page count decide when to stop, never the number of rows.",
  good: "while (next !== null) …",
  bad: "if (page.rows.length === 0) break;",
  async notApplicable(lab) {
    const reads = await pagedReads(lab);
    const reason = withoutPages(lab);
    if (reason !== undefined || reads.length === 0) return reason;
    const isInformative = reads.some((read) =>
      informativeListings(lab, read).some(({ paging }) => paging.style !== "offset"),
    );
    return isInformative
      ? undefined
      : "no answer of its provider says that more pages follow: the number of rows is all there is";
  },
  async run(lab, report) {
    const reads = await pagedReads(lab);
    if (reads.length === 0) return report.missing(missingReads(lab));
    const informative = reads.filter((read) =>
      informativeListings(lab, read).some(({ paging }) => paging.style !== "offset"),
    );
    for (const read of lab.sample(informative, sampledReads)) {
      const listings = informativeListings(lab, read).filter(
        ({ paging }) => paging.style !== "offset",
      );
      for (const emptyPages of cases) {
        const name = `${read.name}: page ${emptyPages.map((page) => page + 1).join(" and ")} without rows`;
        report.checked(name);
        const { observation, isEndless } = await readPages(
          lab,
          read,
          { emptyPages },
          only(lab, listings),
        );
        const missing = missingRows(read, observation);
        if (observation.outcome.status === "succeeded" && missing.length === 0) continue;
        const end = isEndless
          ? "goes on without end"
          : observation.outcome.status === "succeeded"
            ? `succeeds, but ${missingText(missing)}`
            : endText(observation);
        report.fail(
          `${name}, though more follow: the read ${end}. Expected: all ${listings.map(({ rows }) => rows.length).join(" + ")} rows of ${listings
            .map(({ id }) => id)
            .slice(0, 2)
            .join(", ")}.`,
          exchangeEvidence(
            "Requests",
            observation.exchanges.slice(0, 40),
            ({ request }) => request.index === observation.exchanges.length - 1,
          ),
        );
      }
    }
  },
});
