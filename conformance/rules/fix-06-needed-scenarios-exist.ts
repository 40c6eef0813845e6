import type { Lab } from "../contract/lab.ts";
import type { Listing } from "../contract/learned.ts";
import { defineRule } from "../contract/rule.ts";

/** First, middle, last. */
const pagesToSee = 3;
const groups = [
  { name: "401", is: (status: number) => status === 401, why: "wrong credentials" },
  { name: "429", is: (status: number) => status === 429, why: "a used-up rate limit" },
  {
    name: "500 or another 5xx",
    is: (status: number) => status >= 500 && status < 600,
    why: "an outage",
  },
];

export default defineRule({
  id: "FIX-06",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "The recordings show what the other rules need: each stream read, each way of paging with a first, a middle and a last page, and how the provider says 401, 429 and 5xx.",
  why: "What was never recorded is not tried, or tried with a guess. Empty listings and other page sizes are derived from the recordings, but how pages hang together and how this provider words its errors is not.",
  fix: "Record every stream with a small page size and an account of some rows, so that three pages come. `svc record` writes answers.yaml; errors that cannot be provoked are written after the provider's documentation, with synthetic: true.",
  good: "svc record my-connector --config three-pages.json # page_size: 2, five rows",
  bad: "# one page of everything, from an empty test account",
  notApplicable: (lab) => (lab.egress === "http" ? undefined : "it speaks no HTTP"),
  async run(lab, report) {
    for (const { label, recording } of lab.streams) {
      report.checked(label);
      if (!recording)
        report.missing(
          `No recording of a successful read of ${label} from its beginning. Record the stream.`,
        );
    }
    for (const listing of lab.learned.listings) {
      report.checked(listing.id);
      const { paging } = listing;
      if (paging.style === "unknown") report.missing(`${listing.id}: ${paging.problem}`);
      else if (
        paging.style !== "single" &&
        lab.settings.paging[listing.path] === undefined &&
        !isSeen(lab, listing)
      )
        report.missing(
          `${listing.id} (${paging.style}, ${"parameter" in paging ? (paging.parameter ?? "") : ""}): ${pageCount(lab, listing)} of its pages ${pageCount(lab, listing) === 1 ? "is" : "are"} recorded, and no listing of ${new URL(listing.origin).host} with the same paging shows a first, a middle and a last one. Record it with a smaller page size or more rows, or declare its paging in conformance.yaml.`,
        );
    }
    const statuses = [
      ...lab.recordings.flatMap(({ interactions }) =>
        interactions.map(({ response }) => response.status),
      ),
      ...Object.keys(lab.answers?.answers ?? {}).map(Number),
    ];
    for (const { name, is, why } of groups) {
      report.checked(`an answer ${name}`);
      if (!statuses.some(is))
        report.missing(
          `No recording and no answers.yaml shows how the provider answers ${name} (${why}). Write it into answers.yaml beside the recordings.`,
        );
    }
  },
});

/** In this listing or in one of the same provider whose pages are asked for in the same way. */
const isSeen = (lab: Lab, listing: Listing) =>
  lab.learned.listings.some(
    (other) =>
      other.origin === listing.origin &&
      wayOf(other) === wayOf(listing) &&
      pageCount(lab, other) >= pagesToSee,
  );

const wayOf = ({ paging }: Listing) =>
  JSON.stringify([
    paging.style,
    "parameter" in paging ? paging.parameter : "",
    "next" in paging ? paging.next : "",
  ]);

/** Most pages of it in one recording. */
function pageCount(lab: Lab, listing: Listing): number {
  const counts = lab.recordings.map(({ interactions }) => {
    const pages = interactions.filter(
      ({ request, response }) =>
        response.status < 300 &&
        lab.learned.listingOf({
          method: request.method,
          url: new URL(request.url),
          body: request.body ?? "",
        }) === listing,
    );
    return new Set(pages.map(({ request }) => `${request.url} ${request.body ?? ""}`)).size;
  });
  return Math.max(0, ...counts);
}
