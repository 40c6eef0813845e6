import { valueAt } from "svc-connectors/host";
import { exchangeEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import type { Listing, ProviderChanges } from "../contract/learned.ts";
import { defineRule } from "../contract/rule.ts";
import { givenKeys, keyText, rowKeyOf } from "../derive/rows/page-rows.ts";
import { outputRows } from "../derive/rows/rows.ts";
import {
  endText,
  handsOutTokens,
  informativeListings,
  missingReads,
  missingText,
  only,
  type PagedRead,
  pagedReads,
  readPages,
  treeOf,
  withoutPages,
} from "../derive/sweeps/pages.ts";
import { toText, withValue } from "../learn/json.ts";

const sampledReads = 6;

interface ShortPages {
  readonly name: string;
  readonly changes: ProviderChanges;
  /** The row that is on no page; by its key. */
  readonly leftOut?: string | undefined;
}

export default defineRule({
  id: "PAGE-03",
  level: "MUST",
  profile: "resilient",
  since: "0.1.0",
  title: "A page with fewer rows than asked for that names a next page is not the end.",
  why: "Providers cap page sizes, and leave out rows that the user may not see after they have cut the page. A connector that takes a short page for the last one loses all that follow.",
  fix: "Let the next token, link or page count decide when to stop, never the number of rows.",
  good: "while (next !== null) …",
  bad: "if (page.rows.length < limit) break;",
  async notApplicable(lab) {
    const reads = await pagedReads(lab);
    const reason = withoutPages(lab);
    if (reason !== undefined || reads.length === 0) return reason;
    const isInformative = reads.some((read) => informativeListings(lab, read).length > 0);
    return isInformative
      ? undefined
      : "no answer of its provider says that more pages follow: the number of rows is all there is";
  },
  async run(lab, report) {
    const reads = await pagedReads(lab);
    if (reads.length === 0) return report.missing(missingReads(lab));
    for (const read of lab.sample(
      reads.filter((one) => informativeListings(lab, one).length > 0),
      sampledReads,
    )) {
      for (const listing of lab.sample(informativeListings(lab, read), 3)) {
        for (const { name, changes, leftOut } of shortPages(lab, read, listing)) {
          report.checked(`${read.name}: ${name}`);
          const { observation, isEndless } = await readPages(
            lab,
            read,
            changes,
            only(lab, [listing]),
          );
          const { status } = observation.outcome;
          const given = new Set(keysOf(lab, read, observation));
          const missing = keysOf(lab, read, read.whole).filter(
            (key) => key !== leftOut && !given.has(key),
          );
          // A connector that counts the rows against a total of the provider may well refuse one
          // row too few.
          const isRefused = status === "failed" && leftOut !== undefined && !isEndless;
          if (isRefused || (status === "succeeded" && missing.length === 0)) continue;
          const end = isEndless
            ? "goes on without end"
            : status === "succeeded"
              ? `succeeds, but ${missingText(missing)}`
              : `is ${endText(observation)}`;
          report.fail(
            `${read.name}: ${name} in ${listing.id}, and more follow: the read ${end}. Expected: it goes on to the end.`,
            exchangeEvidence(
              "Requests",
              observation.exchanges.slice(0, 40),
              ({ request }) => request.index === observation.exchanges.length - 1,
            ),
          );
        }
      }
    }
  },
});

/** The keys of the records: the part of the key that the rows hold, or the whole record. */
function keysOf(lab: Lab, read: PagedRead, observation: PagedRead["whole"]): readonly string[] {
  const key = rowKeyOf(lab, read);
  return key
    ? [...givenKeys(read, key, observation)]
    : outputRows(observation.messages, read.stream).map((row) => row.key);
}

function shortPages(lab: Lab, read: PagedRead, listing: Listing): ShortPages[] {
  const { rows, pageSize, paging } = listing;
  if (handsOutTokens(listing)) {
    let pageCount = 0;
    return [
      ...(rows.length > 1
        ? [{ name: "one row on every page", changes: { pageSize: () => 1 } }]
        : []),
      ...(rows.length > 2 && pageSize > 1
        ? [
            {
              name: "one row on the first page, full ones behind it",
              changes: { pageSize: () => (pageCount++ === 0 ? 1 : undefined) },
            },
          ]
        : []),
    ];
  }
  const field = rowKeyOf(lab, read)?.fields.get(listing);
  const last = rows[Math.min(pageSize, rows.length) - 1];
  const leftOut = field === undefined ? undefined : keyText(last, field);
  if (leftOut === undefined || rows.length <= pageSize || !("rows" in paging)) return [];
  let isDone = false;
  const answer: ProviderChanges["answer"] = (given) => {
    if (isDone) return given;
    isDone = true;
    const tree = treeOf({ answer: given });
    const page = valueAt(tree, paging.rows);
    if (!Array.isArray(page)) return given;
    return { ...given, body: Buffer.from(toText(withValue(tree, paging.rows, page.slice(0, -1)))) };
  };
  return [
    {
      name: "the first page without its last row, which the provider keeps to itself",
      changes: { answer },
      leftOut,
    },
  ];
}
