import { exchangeEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import type { Listing } from "../contract/learned.ts";
import type { Exchange } from "../contract/network.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import { credentialHeaders, findCredentials } from "../derive/auth/credential-places.ts";
import {
  endText,
  handsOutTokens,
  missingReads,
  missingRows,
  missingText,
  type PagedRead,
  type PageRun,
  pagedReads,
  readPages,
  withoutTokens,
} from "../derive/sweeps/pages.ts";
import { endsWithEmptyToken, withEmptyToken, withLinks } from "./page-07.page-tokens.ts";

const sampledReads = 4;

const elsewhere = "files.storage-elsewhere.net";

/**
 * One to one: different tokens stay different. `mayFail`: whoever refuses it is right as well.
 */
const spellings: readonly {
  readonly name: string;
  change(token: string): string;
  readonly mayFail?: boolean;
}[] = [
  { name: "+, / and =", change: (token) => `${token}+a/b==` },
  { name: "% and what looks like an escape", change: (token) => `100%25${token}%2B%zz` },
  { name: "?, & and #", change: (token) => `?${token}&limit=1#end` },
  { name: "spaces", change: (token) => `of ${token} no 1` },
  { name: "letters beyond ASCII", change: (token) => `ключ-${token}-ü-\u{1F511}` },
  { name: "quotes and backslashes", change: (token) => `"${token}\\n'<b>` },
  {
    name: "the URL of another host",
    change: (token) => `https://${elsewhere}/v1/notes?after=${token}`,
    mayFail: true,
  },
];

const userinfo = "reader:of-the-link";
const detours: readonly { readonly name: string; change(link: URL): string }[] = [
  {
    name: "leads to another host",
    change: (link) => changed(link, { hostname: elsewhere, port: "" }),
  },
  {
    name: "leads to the same host without TLS",
    change: (link) => changed(link, { protocol: "http:" }),
  },
  { name: "leads to another port", change: (link) => changed(link, { port: "8443" }) },
  {
    name: "has a user name and password in it",
    change: (link) => link.href.replace("://", `://${userinfo}@`),
  },
];

const changed = (link: URL, parts: Partial<Pick<URL, "hostname" | "port" | "protocol">>) =>
  Object.assign(new URL(link), parts).href;

export default defineRule({
  id: "PAGE-07",
  level: "MUST",
  profile: "resilient",
  since: "0.1.0",
  title:
    "A page token goes back as it came, escaped once, the empty one too; a next link is followed to the provider only.",
  why: "Tokens look harmless until one has a plus sign or a percent sign in it; then a page is refused, or another one comes. A link that an answer names may lead anywhere, and takes the credential along.",
  fix: "Give the token to what builds the query, and do not escape it yourself. Compare with null, not with false. Check scheme and origin of a link before you follow it, or take only its token.",
  good: "url.searchParams.set('cursor', next); // while (next !== null)",
  bad: "url += '&cursor=' + next; // while (next)",
  notApplicable: withoutTokens,
  async run(lab, report) {
    const reads = (await pagedReads(lab)).filter(({ listings }) => listings.some(handsOutTokens));
    if (reads.length === 0) return report.missing(missingReads(lab));
    for (const read of lab.sample(reads, sampledReads)) {
      const listings = read.listings.filter(
        (listing) => handsOutTokens(listing) && listing.rows.length > 1,
      );
      // Where one page was recorded, several small ones have tokens.
      const pageSize = (listing: Listing) =>
        listings.includes(listing) && listing.rows.length <= listing.pageSize ? 1 : undefined;
      for (const { name, change, mayFail } of spellings)
        reportProblem(
          report,
          read,
          `tokens with ${name} in them`,
          await readPages(lab, read, { token: change, pageSize }),
          mayFail,
        );
      const cursors = listings.filter(
        (listing) => listing.paging.style === "cursor" && !endsWithEmptyToken(lab, listing),
      );
      // In Airbyte's interpreter an empty token is the end, whatever a manifest says.
      if (cursors.length > 0 && !lab.target.document)
        reportProblem(
          report,
          read,
          "the empty text as its first token",
          await readPages(lab, read, { pageSize }, withEmptyToken(lab, cursors)),
          true,
        );
      const links = listings.filter(({ paging }) => paging.style === "link");
      if (links.length > 0)
        for (const detour of detours) await follow(lab, report, read, links, detour);
    }
  },
});

/**
 * `mayFail`: some providers say something else with the empty text, so that refusing it is right;
 * taking it for the end is not.
 */
function reportProblem(
  report: Reporter,
  read: PagedRead,
  what: string,
  { observation, isEndless }: PageRun,
  mayFail = false,
) {
  report.checked(`${read.name}: ${what}`);
  const evidence = (marked: Exchange | undefined) =>
    exchangeEvidence("Requests", observation.exchanges.slice(0, 12), (one) => one === marked);
  const stray = observation.exchanges.find(({ request }) => request.url.hostname === elsewhere);
  if (stray)
    return report.fail(
      `${read.name}: the provider gives ${what}, and request ${stray.request.index + 1} went to ${elsewhere}. Expected: the token comes back as it is, or an error.`,
      evidence(stray),
    );
  const missing = missingRows(read, observation);
  const { status } = observation.outcome;
  if (
    !isEndless &&
    ((status === "succeeded" && missing.length === 0) || (mayFail && status === "failed"))
  )
    return;
  const end = isEndless
    ? "goes on without end"
    : status === "succeeded"
      ? `succeeds, but ${missingText(missing)}`
      : `is ${endText(observation)}`;
  const refused =
    observation.exchanges.find(({ answer }) => answer === undefined || answer.status >= 400) ??
    observation.exchanges.at(-1);
  report.fail(
    `${read.name}: the provider gives ${what}, and the read ${end}. Expected: the token comes back as it is, and all rows come.`,
    evidence(refused),
  );
}

async function follow(
  lab: Lab,
  report: Reporter,
  read: PagedRead,
  links: readonly Listing[],
  { name, change }: (typeof detours)[number],
) {
  const subject = `${read.name}: the link to the next page ${name}`;
  report.checked(subject);
  const { observation } = await readPages(lab, read, {}, withLinks(lab, links, change));
  const origins = new Set(read.whole.exchanges.map(({ request }) => request.url.origin));
  const login = Buffer.from(userinfo).toString("base64");
  const stray = observation.exchanges.find(({ request }) => {
    if (request.url.username !== "" || (request.headers.authorization ?? "").includes(login))
      return true;
    const hasCredential =
      findCredentials(request, lab.canaries).length > 0 || credentialHeaders(request).length > 0;
    return !origins.has(request.url.origin) && hasCredential;
  });
  const evidence = exchangeEvidence(
    "Requests",
    observation.exchanges.slice(0, 12),
    (exchange) => exchange === stray,
  );
  if (stray)
    return report.fail(
      `${subject}, and request ${stray.request.index + 1} followed it with a credential: ${stray.request.url.origin}. Expected: an error, or a request to ${[...origins].join(", ")}.`,
      evidence,
    );
  const missing = missingRows(read, observation);
  if (observation.outcome.status === "succeeded" && missing.length > 0)
    report.fail(
      `${subject}: the read succeeds, but ${missingText(missing)}. Expected: all rows, or an error.`,
      evidence,
    );
}
