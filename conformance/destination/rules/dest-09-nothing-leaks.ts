import { ConnectorError } from "svc-connectors/host";
import type { DatabaseError } from "../../contract/database.ts";
import { textEvidence } from "../../contract/evidence.ts";
import type { Reporter } from "../../contract/rule.ts";
import { createLeakSearch } from "../../derive/leaks/leaks.ts";
import { canaryValue } from "../../fixtures/canaries.ts";
import {
  type DestinationLab,
  defineDestinationRule,
  type Place,
  type Trouble,
} from "../contract.ts";
import { describeStream, integer, scriptOf, text } from "../streams.ts";

export default defineDestinationRule({
  id: "DEST-09",
  profile: "resilient",
  title:
    "No error or log holds a secret, a value of a row or a path of the machine, whatever goes wrong; no table or state holds a secret; the next run makes everything good.",
  why: "Databases repeat the row that they refuse, and drivers the connection string. Errors are mailed and kept for years; the rows are personal data.",
  fix: "Throw a ConnectorError with a code and a reason from a list of your own; use of a foreign error only its code.",
  good: 'throw new ConnectorError("OUTPUT_FAILED", { reason: reasons[sqlState] ?? "the server refused it" });',
  bad: 'throw new ConnectorError("OUTPUT_FAILED", { reason: error.message });',
  async run(lab, report) {
    const place = await lab.emptyPlace();
    await using open = place;
    const value = canaryValue(lab.seed, "value of a row");
    await failing(lab, report, place, value);
    await tryQueries(lab, report, open, value);
    for (const unwritable of await place.unwritable()) {
      await using own = unwritable;
      await own.check();
    }
    search(lab, report, value);
    await searchTables(lab, report, place);
  },
});

/** Everything that goes wrong while rows are written; afterwards a run brings them all. */
async function failing(
  lab: DestinationLab,
  report: Reporter,
  place: Place,
  value: string,
): Promise<void> {
  const { owner, name } = lab.fresh();
  const described = { name, into: "overwrite", mode: "full_refresh", key: ["id"] } as const;
  const stream = describeStream({ id: integer, text }, described);
  const rows = Array.from({ length: 20 }, (_, id) => ({ id, text: `${value} ${id}` }));
  let fence = 0;
  const script = () => {
    fence += 1;
    return scriptOf({ owner, fence }, [{ stream, batches: [rows.slice(0, 10), rows.slice(10)] }]);
  };
  const failures: string[] = [];
  const attempt = async (what: string, trouble: Trouble) => {
    report.checked(what);
    await place.run(script(), trouble).then(
      () => undefined,
      (error: unknown) =>
        failures.push(error instanceof ConnectorError ? error.code : "an error without a code"),
    );
  };
  const whole = await place.process(script());
  if (lab.egress !== "file") {
    await attempt("a wrong password", { password: canaryValue(lab.seed, "another password") });
    await attempt("nobody listens", { connection: "refused" });
    const random = lab.random("DEST-09");
    const all = Array.from({ length: whole.queryCount }, (_, index) => index);
    for (const [turn, at] of random.sample(all, lab.effort(9, 200)).entries()) {
      const type = troubles(value)[turn % 3] ?? "reset";
      await attempt(
        `${lab.egress === "s3" ? "request" : "statement"} ${at + 1} ${type === "reset" ? "loses its connection" : `is answered ${type.sqlState}`}`,
        { fault: { at, type } },
      );
    }
  }
  if (lab.egress !== "postgres") {
    report.checked("the disk is full");
    const big = script();
    const many = { do: "many", stream: 0, from: 1_000, count: 20_000, rowBytes: 400 } as const;
    const steps = [...big.steps.slice(0, 2), many, ...big.steps.slice(2)];
    const full = await place.process(
      { command: big.command, steps },
      { maxFileBytes: 1024 * 1024 },
    );
    if (full.error) failures.push(full.error.code);
    else report.fail("A writer whose file could not grow says that all went well.");
  }
  if (failures.length === 0)
    report.missing("Nothing of what stood in the way made a run fail, so that no error was seen.");
  const vague = failures.filter((code) => code === "INTERNAL" || code.startsWith("an error"));
  if (vague.length > 0)
    report.fail(
      `${vague.length} of ${failures.length} failures have no code that says what to do (${vague[0]}).`,
    );
  const [location = ""] = await place.run(script());
  const found = (await place.rows(location)).map((row) => `${row.id} ${row.text}`).sort();
  const expected = rows.map((row) => `${row.id} ${row.text}`).sort();
  if (found.join() !== expected.join())
    report.fail(
      `After everything that went wrong, a run to its end leaves ${found.length} rows where ${expected.length} were read.`,
    );
}

/** Errors of servers that quote the row. */
const troubles = (value: string): readonly ("reset" | DatabaseError)[] => [
  "reset",
  {
    sqlState: "53100",
    severity: "ERROR",
    message: `could not extend file: No space left on device while writing ${value}`,
    detail: `Failing row contains (1, ${value}).`,
  },
  {
    sqlState: "42501",
    severity: "ERROR",
    message: `permission denied for ${value}`,
    detail: `Key (text)=(${value}).`,
  },
];

async function tryQueries(
  lab: DestinationLab,
  report: Reporter,
  place: Place,
  value: string,
): Promise<void> {
  const { owner, name } = lab.fresh();
  const stream = describeStream({ id: integer, text }, { name });
  const [location = ""] = await place.run(
    scriptOf({ owner, fence: 1 }, [{ stream, batches: [[{ id: 1, text: value }]] }]),
  );
  for (const sql of [
    `SELECT CAST("text" AS integer) FROM ${location}`,
    `SELECT * FROM ${location} WHERE "text" = 7`,
    `SELECT no_such_column FROM ${location}`,
  ]) {
    report.checked("a query that fails");
    await place.query(sql).catch(() => undefined);
  }
}

/**
 * The runtime's mark in place of secrets, paths and stack frames: where it stands, the text had
 * one.
 */
const takenOut = /\[(?:hidden|redacted)\]/;

/** In all that was said since the lab was opened, by the runs of other rules too. */
function search(lab: DestinationLab, report: Reporter, value: string): void {
  const leaks = createLeakSearch([...lab.canaries, { name: "a value of a row", value }]);
  const reported = new Set<string>();
  for (const { where, text: said } of lab.said) {
    report.checked(where);
    const [leak] = leaks.find(said);
    const what = leak
      ? `${leak.canary.name} (${leak.encoding})`
      : takenOut.test(said) && "a path, a stack or a secret that the runtime had to take out";
    if (!what || reported.has(`${where} ${what}`)) continue;
    reported.add(`${where} ${what}`);
    report.fail(
      `${where[0]?.toUpperCase()}${where.slice(1)} holds ${what}.`,
      textEvidence("What was said", said),
    );
  }
}

async function searchTables(lab: DestinationLab, report: Reporter, place: Place): Promise<void> {
  const leaks = createLeakSearch(lab.canaries);
  for (const table of await place.tables()) {
    const quoted = table
      .split(".")
      .map((part) => `"${part.replaceAll('"', '""')}"`)
      .join(".");
    const { rows } = await place.query(`SELECT * FROM ${quoted}`).catch(() => ({ rows: [] }));
    report.checked("the tables");
    const [leak] = leaks.find(JSON.stringify(rows));
    if (leak) report.fail(`The table ${table} holds ${leak.canary.name} (${leak.encoding}).`);
  }
}
