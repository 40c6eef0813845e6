import type { Lab } from "../contract/lab.ts";
import { isOfClass } from "../contract/lab.ts";
import type { Listing, ProviderRow } from "../contract/learned.ts";
import type { Provider } from "../contract/network.ts";
import { defineRule } from "../contract/rule.ts";
import { exchangeEvidence, messageEvidence } from "../evidence.ts";
import { leavesOf, scalarText, withValue } from "../learn/json.ts";

/** As many tables as svc takes at a time. */
const mostTables = 6_000;
const mostSeconds = 60;
const mostBytes = 512 * 1024 * 1024;
/** Requests beyond those for the pages, after which it is clear that there is one for each table. */
const mostOthers = 200;
/** How the names of further tables begin. */
const madeUp = "table_";

export default defineRule({
  id: "LIMIT-01",
  level: "MUST",
  profile: "scale",
  since: "0.1.0",
  title:
    "Discover of 6,000 tables takes no request for each of them, less than a minute and 512 MB; svc connectors refuse 6,001.",
  why: "Large accounts are where a connector is needed most. One request for each table is an hour at the usual rate limits, and the catalog is asked for each time somebody opens a page.",
  fix: "Ask for all tables and their columns at once, page by page, and hand the streams on as they come.",
  good: "SELECT table_name, column_name, data_type FROM information_schema.columns ORDER BY 1",
  bad: "for (const table of tables) columns.push(await query(`… WHERE table_name = $1`, [table]));",
  notApplicable(lab) {
    if (lab.egress === "postgres") return "a database is tried with a server of its own, which the kit does not start";
    return tableListing(lab)
      ? undefined
      : "its streams are the same for every account: discover asks for no listing of them";
  },
  async run(lab, look) {
    const found = tableListing(lab);
    if (!found) return;
    const { listing, field } = found;
    const order = lab.first.discover.order;
    const usual = lab.first.discover.exchanges.length;
    const sizes = lab.manifest ? [mostTables, mostTables + 1] : [mostTables];
    for (const count of sizes) {
      look.at(`${count} tables in ${listing.id}`);
      const rows = () => manyTables(listing, field, count);
      const startMs = performance.now();
      const most = Math.ceil(count / Math.max(1, listing.pageSize)) + usual + mostOthers;
      const provider = endingAfter(
        lab.learned.provider({ rows: (one, own) => (one === listing ? rows() : own) }),
        most,
      );
      const observation = await lab.run(order, { provider, deadlineMs: 2 * mostSeconds * 1_000 });
      const seconds = (performance.now() - startMs) / 1_000;
      const { status, failures } = observation.outcome;
      const log = messageEvidence("Messages", { messages: observation.messages.slice(-5) }, []);
      const single = observation.exchanges.find(
        ({ request, unmatched }) => unmatched !== undefined && request.url.href.includes(madeUp),
      );
      if (single && observation.exchanges.length < most) {
        look.fail(
          `${count} tables: discover asked for one of them by itself (${single.request.method} ${single.request.url.pathname}): that is a request for each table.`,
          exchangeEvidence("The last requests", observation.exchanges.slice(-10)),
        );
        continue;
      }
      if (observation.exchanges.length >= most) {
        look.fail(
          `${count} tables: discover sent ${observation.exchanges.length} requests and had not done: one for each table, as it seems. ${usual} were enough for ${listing.rows.length} tables.`,
          exchangeEvidence("The last requests", observation.exchanges.slice(-10)),
        );
        continue;
      }
      const listed = observation.messages.flatMap(({ message }) =>
        message.type === "CATALOG" ? message.catalog.streams : [],
      ).length;
      if (count > mostTables) {
        if (status === "succeeded" || !failures.some((failure) => isOfClass(failure, "config")))
          look.fail(
            `${count} tables: discover ${status} with ${listed} streams; a configuration error is expected that says how to narrow the selection.`,
            log,
          );
        continue;
      }
      if (status !== "succeeded" || listed < count)
        look.fail(
          `${count} tables: discover ${status} with ${listed} streams${failures[0] ? `: ${failures[0].message}` : ""}.`,
          log,
        );
      if (seconds > mostSeconds)
        look.fail(`${count} tables: discover took ${Math.round(seconds)} s; ${mostSeconds} s are allowed.`);
      const { peakBytes = 0 } = observation.traces;
      if (peakBytes > mostBytes)
        look.fail(
          `${count} tables: discover took ${Math.round(peakBytes / 2 ** 20)} MB of memory; 512 MB are allowed.`,
        );
    }
  },
});

/** The listing that discover makes streams of, and the field of its rows that names them. */
function tableListing(lab: Lab): { readonly listing: Listing; readonly field: string } | undefined {
  const names = new Set(lab.streams.map(({ stream }) => stream.name));
  for (const { request } of lab.first.discover.exchanges) {
    const listing = lab.learned.listingOf(request);
    if (!listing || listing.rows.length === 0) continue;
    const [field] = [...leavesOf(listing.rows[0])].find(([, value]) => names.has(scalarText(value) ?? "")) ?? [];
    if (field !== undefined) return { listing, field };
  }
  return undefined;
}

function manyTables({ rows }: Listing, field: string, count: number): readonly ProviderRow[] {
  return Array.from({ length: count }, (_, at) => {
    const row = rows[at % rows.length] ?? {};
    return at < rows.length ? row : (withValue(row, field, `${madeUp}${String(at).padStart(5, "0")}`) as ProviderRow);
  });
}

/** Answers no more than so many requests. */
function endingAfter(provider: Provider, most: number): Provider {
  return {
    answer: (request) =>
      request.index < most ? provider.answer(request) : { unmatched: "more requests than all tables take together" },
    unused: () => [],
  };
}
