import { exchangeEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import type { Changes, Listing, ProviderRow } from "../contract/learned.ts";
import { defineRule } from "../contract/rule.ts";
import {
  expectedKeys,
  givenKeys,
  type RowKey,
  resized,
  rowKeyOf,
} from "../derive/rows/page-rows.ts";
import {
  handsOutTokens,
  missingReads,
  missingText,
  type PagedRead,
  pagedReads,
  readPages,
  withoutPages,
} from "../derive/sweeps/pages.ts";

const sampledReads = 5;

interface Mutation {
  readonly name: string;
  /** The rows after the first page was given. */
  edit(rows: readonly ProviderRow[], listing: Listing, field: string): readonly ProviderRow[];
  /**
   * Where pages are counted, this moves rows to a page that was read already: nobody can see them
   * there.
   */
  readonly needsTokens: boolean;
}

const mutations: readonly Mutation[] = [
  {
    name: "a row is added in front",
    needsTokens: false,
    edit: (rows, _, field) => [...copyOf(rows[0], field), ...rows],
  },
  {
    name: "a row is added at the end",
    needsTokens: false,
    edit: (rows, _, field) => [...rows, ...copyOf(rows.at(-1), field)],
  },
  {
    name: "a row that was not read yet is deleted",
    needsTokens: false,
    edit: (rows, { pageSize }) => rows.filter((_, at) => at !== pageSize),
  },
  { name: "a row of the first page is deleted", needsTokens: true, edit: (rows) => rows.slice(1) },
];

/** Far from the numbers of other made-up keys. */
const copyNumber = 77_777;

function copyOf(row: ProviderRow | undefined, field: string): readonly ProviderRow[] {
  return row ? resized([row], 2, field, copyNumber).slice(1) : [];
}

export default defineRule({
  id: "PAGE-06",
  level: "MUST",
  profile: "resilient",
  since: "0.1.0",
  title:
    "Rows that are there before and after a read are in it, though others are added or deleted between its pages.",
  why: "Live accounts change while they are read. Tokens keep their place; numbered pages and offsets move: an added row shows another one twice, which is no loss, unless the connector takes it for the end. A deleted row pulls one back onto a page that was read: by numbers nobody can see that, so that the rule asks it of tokens and links only.",
  fix: "Go on behind a row that was seen before; write it again rather than stop. Keep to the provider's tokens. If rows may be lost, say so: capabilities: { loses_on_mutation: true } in conformance.yaml.",
  good: "yield records(page.rows); // a row may come twice",
  bad: "if (seen.has(row.id)) return; // 'we know the rest'",
  notApplicable: (lab) =>
    lab.settings.capabilities.loses_on_mutation
      ? "conformance.yaml declares that rows may be lost when the provider's data changes"
      : withoutPages(lab),
  async run(lab, report) {
    const reads = await pagedReads(lab);
    if (reads.length === 0) return report.missing(missingReads(lab));
    for (const read of lab.sample(reads, sampledReads)) {
      const key = rowKeyOf(lab, read);
      if (key === undefined) continue;
      for (const mutation of mutations) {
        const changed = [...key.fields.keys()].filter(
          (listing) =>
            read.listings.includes(listing) &&
            (handsOutTokens(listing) || !mutation.needsTokens) &&
            hasPages(listing, key),
        );
        if (changed.length === 0) continue;
        const { observation, isEndless, isBeyondRecordings } = await readPages(
          lab,
          read,
          changesFor(mutation, key, changed),
        );
        // A copied row may have details that nobody recorded.
        if (isBeyondRecordings) continue;
        const subject = `${read.name}: after the first page of ${changed[0]?.id}${changed.length > 1 ? ` and ${changed.length - 1} more` : ""} ${mutation.name}`;
        report.checked(subject);
        const given = givenKeys(read, key, observation);
        const missing = stillThere(read, key, changed, mutation).filter((one) => !given.has(one));
        // A read that fails loses nothing.
        if (!isEndless && (observation.outcome.status !== "succeeded" || missing.length === 0))
          continue;
        if (!isEndless && (await isLostAnyway(lab, read, key, changed, mutation, missing)))
          continue;
        report.fail(
          `${subject}, and the read ${isEndless ? "goes on without end" : `succeeds, but ${missingText(missing)}`}. Expected: all rows that were there before and after.`,
          exchangeEvidence("Requests", observation.exchanges.slice(0, 20)),
        );
      }
    }
  },
});

/** Made-up rows of one listing at most. */
const maxRows = 2_000;
const pageSizeOf = (listing: Listing) =>
  handsOutTokens(listing) && listing.rows.length <= listing.pageSize
    ? Math.ceil(listing.rows.length / 2)
    : listing.pageSize;

/**
 * Two pages of rows: the recorded ones, in smaller pages where the provider says what comes next,
 * with copies elsewhere.
 */
function rowsBefore(listing: Listing, { fields }: RowKey): readonly ProviderRow[] {
  const { rows } = listing;
  return rows.length > pageSizeOf(listing)
    ? rows
    : resized(rows, Math.min(2 * listing.pageSize, maxRows), fields.get(listing) ?? "", 1);
}

const hasPages = (listing: Listing, key: RowKey) =>
  listing.rows.length > 0 && rowsBefore(listing, key).length > pageSizeOf(listing);

function changesFor({ edit }: Mutation, key: RowKey, changed: readonly Listing[]): Changes {
  return {
    pageSize: (listing) => (changed.includes(listing) ? pageSizeOf(listing) : undefined),
    rows(listing, rows, requestCount) {
      if (!changed.includes(listing)) return rows;
      const before = rowsBefore(listing, key);
      return requestCount > 0
        ? edit(before, { ...listing, pageSize: pageSizeOf(listing) }, key.fields.get(listing) ?? "")
        : before;
    },
  };
}

/** A read of the rows as they are in the end loses the same: other rules report that. */
async function isLostAnyway(
  lab: Lab,
  read: PagedRead,
  key: RowKey,
  changed: readonly Listing[],
  mutation: Mutation,
  missing: readonly string[],
): Promise<boolean> {
  const { rows, pageSize } = changesFor(mutation, key, changed);
  const { observation } = await readPages(lab, read, {
    rows: (listing, all) => rows?.(listing, all, 1) ?? all,
    pageSize,
  });
  const given = givenKeys(read, key, observation);
  return missing.every((one) => !given.has(one));
}

/** Keys of rows that are there from the beginning to the end, and become records. */
function stillThere(
  read: PagedRead,
  key: RowKey,
  changed: readonly Listing[],
  mutation: Mutation,
): readonly string[] {
  const { rows } = changesFor(mutation, key, changed);
  const expectedAt = (requestCount: number) =>
    expectedKeys(read, key, { rows: (listing, all) => rows?.(listing, all, requestCount) ?? all });
  const after = expectedAt(1);
  return [...expectedAt(0)].filter((one) => after.has(one));
}
