import type { JsonObject } from "svc-connectors";
import type { DatabaseCopy } from "../contract/database.ts";
import type { DatabaseSql } from "../contract/database-sql.ts";
import { exchangeEvidence, messageEvidence, textEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import { isOfClass } from "../contract/lab.ts";
import type { Listing, ProviderRow } from "../contract/learned.ts";
import type { Provider } from "../contract/network.ts";
import type { Reporter } from "../contract/rule.ts";
import { defineRule } from "../contract/rule.ts";
import { statementsText } from "../derive/database/faults.ts";
import { jsonLeaves, scalarText, withValue } from "../learn/json.ts";
import { gaugeMemory, gaugeWorkers } from "../replay/gauges.ts";
import { madeUpTable, openManyTables } from "./limit-01.many-tables.ts";

/** As many tables as svc takes at a time. */
const mostTables = 6_000;
const mostSeconds = 60;
const mostBytes = 512 * 1024 * 1024;
/** Statements beyond those for a few tables. */
const mostOtherStatements = 20;
/** Rows of all statements together, when only their number is asked for. */
const mostCountedRows = 500;
/**
 * Requests beyond those for the pages, after which it is clear that there is one for each table.
 */
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
    return lab.database || tableListing(lab)
      ? undefined
      : "its streams are the same for every account: discover asks for no listing of them";
  },
  async run(lab, report) {
    if (lab.database) return await tryDatabase(lab, lab.database.sql, report);
    const found = tableListing(lab);
    if (!found) return;
    const { listing, field } = found;
    const command = lab.first.discover.command;
    const usual = lab.first.discover.exchanges.length;
    const sizes = lab.manifest ? [mostTables, mostTables + 1] : [mostTables];
    for (const count of sizes) {
      report.checked(`${count} tables in ${listing.id}`);
      const rows = () => manyTables(listing, field, count);
      const startMs = performance.now();
      const most = Math.ceil(count / Math.max(1, listing.pageSize)) + usual + mostOthers;
      const provider = endingAfter(
        lab.learned.provider({ rows: (one, own) => (one === listing ? rows() : own) }),
        most,
      );
      const observation = await lab.run(command, { provider, deadlineMs: 2 * mostSeconds * 1_000 });
      const seconds = (performance.now() - startMs) / 1_000;
      const { status, failures } = observation.outcome;
      const log = messageEvidence("Messages", { messages: observation.messages.slice(-5) }, []);
      const single = observation.exchanges.find(
        ({ request, unmatched }) => unmatched !== undefined && request.url.href.includes(madeUp),
      );
      if (single && observation.exchanges.length < most) {
        report.fail(
          `${count} tables: discover asked for one of them by itself (${single.request.method} ${single.request.url.pathname}): that is a request for each table.`,
          exchangeEvidence("The last requests", observation.exchanges.slice(-10)),
        );
        continue;
      }
      if (observation.exchanges.length >= most) {
        report.fail(
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
          report.fail(
            `${count} tables: discover ${status} with ${listed} streams; a configuration error is expected that says how to narrow the selection.`,
            log,
          );
        continue;
      }
      if (status !== "succeeded" || listed < count)
        report.fail(
          `${count} tables: discover ${status} with ${listed} streams${failures[0] ? `: ${failures[0].message}` : ""}.`,
          log,
        );
      if (seconds > mostSeconds)
        report.fail(
          `${count} tables: discover took ${Math.round(seconds)} s; ${mostSeconds} s are allowed.`,
        );
      const { peakBytes = 0 } = observation.traces;
      if (peakBytes > mostBytes)
        report.fail(
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
    const [field] =
      [...jsonLeaves(listing.rows[0])].find(([, value]) => names.has(scalarText(value) ?? "")) ??
      [];
    if (field !== undefined) return { listing, field };
  }
  return undefined;
}

function manyTables({ rows }: Listing, field: string, count: number): readonly ProviderRow[] {
  return Array.from({ length: count }, (_, at) => {
    const row = rows[at % rows.length] ?? {};
    return at < rows.length
      ? row
      : (withValue(row, field, `${madeUp}${String(at).padStart(5, "0")}`) as ProviderRow);
  });
}

/** Answers no more than so many requests. */
function endingAfter(provider: Provider, most: number): Provider {
  return {
    answer: (request) =>
      request.index < most
        ? provider.answer(request)
        : { unmatched: "more requests than all tables take together" },
    unused: () => [],
  };
}

/** The tables are there: made in batches, discovered, and one more. */
async function tryDatabase(
  lab: Lab,
  { patternPrefix }: DatabaseSql,
  report: Reporter,
): Promise<void> {
  await using many = await openManyTables(lab);
  await many.grow(mostTables);
  await discoverAll(lab, report, many.copy);
  await many.grow(mostTables + 1);
  await refuseOneMore(lab, report, many.copy);
  const narrowed: readonly (readonly [string, string, number])[] = [
    ["exclude_tables", `${patternPrefix}${madeUpTable}00001`, mostTables],
    ["include_tables", `${patternPrefix}${madeUpTable}0001*`, 10],
  ];
  for (const [setting, pattern, expected] of narrowed) {
    if (!hasSetting(lab, setting)) continue;
    const name = `${mostTables + 1} tables with ${setting}: ["${pattern}"]`;
    report.checked(name);
    const config = { ...lab.config, [setting]: [pattern] };
    const { status, failures, listed } = await discoverIn(lab, many.copy, config);
    if (status !== "succeeded" || listed !== expected)
      report.fail(
        `${name}: discover ${status} with ${listed} streams${failures[0] ? `: ${failures[0].message}` : ""}; ${expected} are expected.`,
      );
  }
}

async function discoverAll(lab: Lab, report: Reporter, on: DatabaseCopy): Promise<void> {
  const name = `${mostTables} tables`;
  report.checked(`${name} in a database`);
  const own = lab.can("inside") ? gaugeMemory() : undefined;
  const workers = gaugeWorkers();
  const { observation, status, failures, listed, seconds } = await discoverIn(lab, on, lab.config);
  const bytes = Math.max(own?.stop() ?? 0, workers.stop());
  const { queries } = observation.traces;
  const most = lab.first.discover.traces.queries.length + mostOtherStatements;
  if (status !== "succeeded" || listed !== mostTables)
    report.fail(
      `${name}: discover ${status} with ${listed} streams${failures[0] ? `: ${failures[0].message}` : ""}; all of them are expected.`,
      messageEvidence("Messages", { messages: observation.messages.slice(-5) }, []),
    );
  if (queries.length > most)
    report.fail(
      `${name}: discover sent ${queries.length} statements, one for each table as it seems; ${lab.first.discover.traces.queries.length} were enough for ${lab.streams.length} tables.`,
      textEvidence("The first statements", statementsText(observation)),
    );
  if (seconds > mostSeconds)
    report.fail(`${name}: discover took ${Math.round(seconds)} s; ${mostSeconds} s are allowed.`);
  if (bytes > mostBytes)
    report.fail(
      `${name}: discover took ${Math.round(bytes / 2 ** 20)} MB of memory; 512 MB are allowed.`,
    );
}

async function refuseOneMore(lab: Lab, report: Reporter, on: DatabaseCopy): Promise<void> {
  const count = mostTables + 1;
  const name = `${count} tables`;
  report.checked(`${name} in a database`);
  const { observation, status, failures, listed } = await discoverIn(lab, on, lab.config);
  const log = messageEvidence("Messages", { messages: observation.messages.slice(-5) }, []);
  const [refusal] = failures.filter((failure) => isOfClass(failure, "config"));
  if (status === "succeeded" || !refusal)
    return report.fail(
      `${name}: discover ${status} with ${listed} streams; a configuration error is expected that says how to narrow the selection.`,
      log,
    );
  const digits = refusal.message.replaceAll(/(?<=\d)[,.\u00a0\u202f' ](?=\d{3}\b)/g, "");
  const unsaid = [String(count), String(mostTables)].filter((number) => !digits.includes(number));
  if (unsaid.length > 0)
    report.fail(
      `${name}: the error does not say how many there are and how many may be (${unsaid.join(", ")} is missing): "${refusal.message}"`,
      log,
    );
  const settings = ["include_tables", "exclude_tables"].filter((setting) =>
    hasSetting(lab, setting),
  );
  if (settings.length > 0 && !settings.some((setting) => refusal.message.includes(setting)))
    report.fail(
      `${name}: the error does not name the settings that narrow the selection (${settings.join(", ")}): "${refusal.message}"`,
      log,
    );
  const rows = observation.traces.queries.reduce((sum, { rowCount }) => sum + rowCount, 0);
  if (rows > mostCountedRows)
    report.fail(
      `${name}: discover was sent ${rows} rows of the catalog before it refused; count the tables before they are listed.`,
      textEvidence("Statements", statementsText(observation)),
    );
}

async function discoverIn(lab: Lab, on: DatabaseCopy, config: JsonObject) {
  const startMs = performance.now();
  const observation = await lab.run(
    { verb: "discover", config },
    { database: { on }, deadlineMs: 2 * mostSeconds * 1_000 },
  );
  const seconds = (performance.now() - startMs) / 1_000;
  const listed = observation.messages.flatMap(({ message }) =>
    message.type === "CATALOG" ? message.catalog.streams : [],
  ).length;
  return { observation, seconds, listed, ...observation.outcome };
}

const hasSetting = ({ spec }: Lab, name: string) =>
  Object.hasOwn((spec.properties ?? {}) as object, name);
