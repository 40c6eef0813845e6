import type { Database } from "../contract/database.ts";
import { exchangeEvidence, textEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import type { Exchange } from "../contract/network.ts";
import type { Command, Observation } from "../contract/observation.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import { isTokenRequest } from "../derive/auth/credentials.ts";
import { statementsText } from "../derive/database/faults.ts";
import { runWatchingWrites } from "./check-06.database-writes.ts";

const maxRequests = 10;
/** Rows of each listing, one a page, with which a check that pages is seen. */
const manyRows = 25;

export default defineRule({
  id: "CHECK-06",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "check only reads, sends ten requests at most, and does not page through whole listings; a database is written to by no verb.",
  why: "Checks run at every edit of a form and every few minutes in monitors. One that writes leaves traces in the customer's account; one that reads everything uses up his rate limit.",
  fix: "Ask for one small thing that needs the right to read (one row, one page). Declare POST paths that only read in conformance.yaml under capabilities.safe_posts.",
  good: "await get('/notes?limit=1');",
  bad: "await post('/contacts', { email: 'test@example.com' }); // to see whether the token may write",
  async run(lab, report) {
    if (lab.database) return await watchDatabase(lab, lab.database, report);
    const golden = (await lab.golden()).filter(({ recording }) => recording.run.verb === "check");
    for (const { recording, observation } of golden)
      reportWrites(lab, `check as recorded in ${recording.name}.yaml`, observation, report);

    const provider = lab.learned.provider({
      rows: (_, rows) =>
        Array.from(
          { length: rows.length > 0 ? manyRows : 0 },
          (_row, index) => rows[index % rows.length] ?? {},
        ),
      pageSize: () => 1,
    });
    const seen = await lab.run({ verb: "check", config: lab.config }, { provider });
    const name = "check of a large account";
    reportWrites(lab, name, seen, report);
    const pages = Map.groupBy(seen.exchanges, ({ request }) => lab.learned.listingOf(request)?.id);
    for (const [listing, exchanges] of pages) {
      if (listing === undefined || exchanges.length < 3) continue;
      report.fail(
        `${name} asked for ${exchanges.length} pages of ${listing}; the first row is enough to know that it can be read.`,
        exchangeEvidence("Requests", seen.exchanges.slice(0, maxRequests), (one) =>
          exchanges.includes(one),
        ),
      );
    }
  },
});

/** check asks little, and no verb writes, whatever its role may do. */
async function watchDatabase(lab: Lab, database: Database, report: Reporter): Promise<void> {
  const { config } = lab;
  const commands: readonly (readonly [string, Command])[] = [
    ["check", { verb: "check", config }],
    ["discover", lab.first.discover.command],
    ...lab.streams.map((stream): [string, Command] => [
      `a read of ${stream.label}`,
      lab.readCommand([stream]),
    ]),
  ];
  for (const [name, command] of commands) {
    report.checked(`${name}, as a role that may write`);
    const { observation, writeCount } = await runWatchingWrites(lab, database, command);
    const statements = textEvidence("Statements", statementsText(observation));
    if (writeCount > 0)
      report.fail(
        `${name[0]?.toUpperCase()}${name.slice(1)} wrote to the database, in ${writeCount === 1 ? "a transaction" : `${writeCount} transactions`}; a source only reads.`,
        statements,
      );
    const { length } = observation.traces.queries;
    if (command.verb === "check" && length > maxRequests)
      report.fail(
        `${name} sent ${length} statements; ${maxRequests} at most are expected.`,
        statements,
      );
  }
}

function reportWrites(lab: Lab, name: string, { exchanges }: Observation, report: Reporter): void {
  report.checked(name);
  const writes = exchanges.filter((exchange) => !isReading(lab, exchange));
  for (const exchange of writes.slice(0, 3)) {
    const { method, url } = exchange.request;
    report.fail(
      `${name} sent ${method} ${url.pathname}, which may change something: only GET, HEAD, OPTIONS and declared query or token endpoints are read-only.`,
      exchangeEvidence("Requests", exchanges, (one) => one === exchange),
    );
  }
  if (exchanges.length > maxRequests)
    report.fail(
      `${name} sent ${exchanges.length} requests; ${maxRequests} at most are expected.`,
      exchangeEvidence("Requests", exchanges.slice(0, maxRequests + 5)),
    );
}

function isReading({ manifest, settings }: Lab, { request }: Exchange): boolean {
  const { method, url } = request;
  if (["GET", "HEAD", "OPTIONS"].includes(method)) return true;
  if (method !== "POST") return false;
  const egress = manifest?.egress;
  if (egress?.kind === "http" && egress.isPostSafe === true) return true;
  return isTokenRequest(request) || settings.capabilities.safe_posts.includes(url.pathname);
}
