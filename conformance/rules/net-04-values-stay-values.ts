import type { DatabaseCopy } from "../contract/database.ts";
import type { DatabaseSql } from "../contract/database-sql.ts";
import { exchangeEvidence, textEvidence } from "../contract/evidence.ts";
import type { Lab, StreamFacts } from "../contract/lab.ts";
import type { Exchange } from "../contract/network.ts";
import type { Observation } from "../contract/observation.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import { pathOf } from "../derive/auth/token-endpoint.ts";
import { statementsText } from "../derive/database/faults.ts";
import { hostileNames, hostileTables } from "../derive/database/hostile-names.ts";
import { readTable, withTables } from "../derive/database/tables.ts";
import { hostSettings, withSetting } from "../derive/requests/host-settings.ts";
import { compareRows, describeDifference, outputRows, statesOf } from "../derive/rows/rows.ts";
import { type PathValue, pathValues, placeOf, runWithValue } from "./net-04.path-values.ts";

const injectedHeader = "x-svc-injected";
/** Values that leave their segment when they are put into a path as they are. */
const paths = [
  "../../me",
  "..",
  "x/y",
  "x?admin=1",
  "x#part",
  "a%2f..%2fb",
  `x\r\n${injectedHeader}: 1`,
];
/** URLs of other schemes and with other parts than a base URL has. */
const urls = [
  "file:///etc/passwd",
  "data:application/json,{}",
  "ftp://files.example.net/",
  "gopher://files.example.net/",
  "javascript:0",
];
const userInfo = "user:word@";
/** Values that are tried in each place. */
const sampledPlaces = 6;

export default defineRule({
  id: "NET-04",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "Values stay values: an id with ../ ? # %2f or a line break is encoded or refused, only plain https URLs are taken, and names and values are quoted in SQL.",
  why: "An id that somebody else chose, put into a path as it is, reads or deletes other things with the customer's credentials. A line break in a header adds headers.",
  fix: 'Encode each path segment (encodeURIComponent), refuse "." and "..", let a URL class write queries, and take a base URL apart before it is used. In SQL quote every name (escapeIdentifier) and every value (escapeLiteral, or parameters).',
  good: "await http.get(['folders', id, 'items'])",
  bad: "await fetch(base + '/folders/' + id + '/items')",
  async run(lab, report) {
    if (lab.database) return await tryTables(lab, lab.database.sql, report);
    for (const place of lab.sample(await pathValues(lab), sampledPlaces))
      for (const value of paths) await tryPath(lab, place, value, report);
    await tryHeaders(lab, report);
    for (const setting of await hostSettings(lab)) {
      if (setting.kind === "part") continue;
      const hosts = lab.recordings.flatMap(({ interactions }) =>
        interactions.map(({ request }) => new URL(request.url).host),
      );
      const own = setting.write(hosts[0] ?? "api.example.net");
      const withUser = own.replace(/^(https?:\/\/)?/, (scheme) => `${scheme}${userInfo}`);
      const withBreak = `${own}\r\n${injectedHeader}: 1`;
      for (const value of [...urls, withUser, withBreak])
        await tryUrl(lab, setting.path, value, report);
    }
  },
});

async function tryPath(lab: Lab, place: PathValue, value: string, report: Reporter): Promise<void> {
  const name = `${place.name} = ${JSON.stringify(value)} (${place.recording.name})`;
  report.checked(name);
  const observation = await runWithValue(lab, place, value);
  const known = new Set(
    lab.recordings.flatMap(({ interactions }) =>
      interactions.map(({ request }) => pathOf(new URL(request.url))),
    ),
  );
  // A path that was recorded is asked for rightly, but not in place of the one with the value.
  const wrong = observation.exchanges.find(
    ({ request }) =>
      placeOf(request, place.places, value) === undefined &&
      (!known.has(pathOf(request.url)) || isShortened(request.url, place, value, observation)),
  );
  if (wrong)
    report.fail(
      `${name}: the request ${wrong.request.method} ${wrong.request.url.pathname}${wrong.request.url.search} was sent. The value has to ${value === ".." ? "be refused: no encoding helps" : `stay in its segment, encoded (${encodeURIComponent(value)}), or be refused`}.`,
      exchangeEvidence("Requests", observation.exchanges.slice(0, 30), (one) => one === wrong),
    );
  lookForHeader(name, observation.exchanges, report);
}

/** "../../me" leads to a path that exists: one that this run has no reason to ask for. */
function isShortened(
  url: URL,
  { recording }: PathValue,
  value: string,
  { exchanges }: Observation,
): boolean {
  if (!value.includes("..")) return false;
  const own = recording.interactions.map(({ request }) => pathOf(new URL(request.url)));
  const times = (paths: readonly string[]) => paths.filter((path) => path === pathOf(url)).length;
  return (
    times(own) === 0 || times(exchanges.map(({ request }) => pathOf(request.url))) > times(own) + 1
  );
}

/** Secrets travel in headers; one with a line break must not become two of them. */
async function tryHeaders(lab: Lab, report: Reporter): Promise<void> {
  for (const pointer of lab.secretPaths) {
    const path = pointer.slice(1).split("/");
    const name = `${path.join(".")} with a line break`;
    report.checked(name);
    const config = withSetting(lab.config, path, `abcdefgh\r\n${injectedHeader}: 1`);
    const { exchanges } = await lab.run({ verb: "check", config });
    lookForHeader(name, exchanges, report);
  }
  if (lab.secretPaths.length === 0) report.untried("its configuration has no secrets");
}

function lookForHeader(name: string, exchanges: readonly Exchange[], report: Reporter): void {
  const injected = exchanges.find(({ request }) => Object.hasOwn(request.headers, injectedHeader));
  if (injected)
    report.fail(
      `${name}: the line break came through, and request ${injected.request.index + 1} has a header of its own making.`,
      exchangeEvidence("Requests", exchanges, (one) => one === injected),
    );
}

async function tryUrl(
  lab: Lab,
  path: readonly string[],
  value: string,
  report: Reporter,
): Promise<void> {
  const name = `${path.join(".")} = ${JSON.stringify(value)}`;
  report.checked(name);
  const { exchanges, outcome } = await lab.run({
    verb: "check",
    config: withSetting(lab.config, path, value),
  });
  if (exchanges.length > 0)
    report.fail(
      `With ${name}, check sent ${exchanges[0]?.request.method} ${exchanges[0]?.request.url.href}; the value has to be refused.`,
      exchangeEvidence("Requests", exchanges),
    );
  else if (outcome.status === "succeeded")
    report.fail(`With ${name}, check succeeded; the value has to be refused.`);
}

/**
 * Tables, columns and keys that end quotations and statements: read whole, and resumed after each
 * page.
 */
async function tryTables(lab: Lab, sql: DatabaseSql, report: Reporter): Promise<void> {
  const { copy, discover, streams } = await withTables(lab, "of hostile names", hostileTables(sql));
  if (discover.outcome.status !== "succeeded")
    report.fail(
      `With names like ${JSON.stringify(hostileNames(sql)[1])} in the database, discover ${discover.outcome.status}: ${discover.outcome.failures[0]?.message ?? "it says nothing"}.`,
      textEvidence("Statements", statementsText(discover)),
    );
  for (const stream of streams) {
    const name = `The table ${JSON.stringify(stream.stream.name)}`;
    report.checked(name);
    const { observation, faults } = await readTable(lab, copy, stream);
    for (const fault of faults)
      report.fail(
        `${name}: ${fault}. Names have to be quoted.`,
        textEvidence("Statements", statementsText(observation)),
      );
    if (faults.length === 0) await resume(lab, report, copy, stream, observation);
  }
  report.checked("a table beside them");
  if (!(await sql.hasOwnTable(copy, "kept")))
    report.fail(
      "A table beside those that were read is gone: a name or a value was run as a statement.",
    );
}

/** Goes on from states that hold the values of keys. */
async function resume(
  lab: Lab,
  report: Reporter,
  on: DatabaseCopy,
  stream: StreamFacts,
  whole: Observation,
): Promise<void> {
  const expected = outputRows(whole.messages, stream);
  for (const { index, state } of lab.sample(statesOf(whole, stream.label), sampledPlaces)) {
    const command = lab.readCommand([stream], { state: { [stream.label]: state } });
    const resumed = await lab.run(command, { database: { on } });
    const name = `The table ${JSON.stringify(stream.stream.name)}, resumed from ${JSON.stringify(state)}`;
    report.checked(name);
    const rows = [
      ...outputRows(whole.messages.slice(0, index), stream),
      ...outputRows(resumed.messages, stream),
    ];
    const { missing } = compareRows(expected, rows);
    const { status, failures } = resumed.outcome;
    if (status !== "succeeded" || missing.length > 0)
      report.fail(
        `${name}: the read ${status === "succeeded" ? `ends with ${describeDifference({ missing, changed: [], extra: [] })}` : `${status}: ${failures[0]?.message ?? "it says nothing"}`}. Values have to be quoted.`,
        textEvidence("Statements", statementsText(resumed)),
      );
  }
}
