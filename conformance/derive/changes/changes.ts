/** Reads of a server's log of changes, and the tables that come of them. */
import type { JsonObject, JsonValue } from "svc-connectors";
import { streamLabel } from "svc-connectors/host";
import { withSetting } from "../../contract/config-setting.ts";
import type { DatabaseCopy } from "../../contract/database.ts";
import type { DatabaseLog } from "../../contract/database-log.ts";
import type { DatabaseSql } from "../../contract/database-sql.ts";
import { messageEvidence } from "../../contract/evidence.ts";
import type { Lab, RunOptions, StreamFacts } from "../../contract/lab.ts";
import type { Observation } from "../../contract/observation.ts";
import type { Reporter } from "../../contract/rule.ts";
import { copyOnce } from "../database/copies.ts";
import { compareWithTable } from "../database/rows.ts";
import { createReplayedTable, deletedAtField, type ReplayedTable } from "./replayed-table.ts";

/** The path of the setting that names the slot; undefined: the connector reads no log. */
const slotSetting = ({ manifest }: Lab): readonly string[] | undefined =>
  manifest?.egress.kind === "postgres" ? manifest.egress.replicationSlot?.split(".") : undefined;

export const noLog = (lab: Lab): string | undefined =>
  slotSetting(lab) === undefined ? "it reads no log of changes" : undefined;

/** A slot of its own, and what was read of it. Whoever works with it works alone. */
export interface Changes extends AsyncDisposable {
  readonly copy: DatabaseCopy;
  readonly log: DatabaseLog;
  readonly slot: string;
  /**
   * The tables that are read: the kit's two; behind them, where asked for, all others of the log.
   */
  readonly tables: readonly ReplayedTable[];
  /** Statements of the kit's, once for each of its two tables, which stands as `{}`. */
  change(sql: string): Promise<void>;
  /** Tables that were made since may be read, too. */
  grant(): Promise<void>;
  /** The streams have the columns that their tables have now. */
  discoverAgain(): Promise<void>;
  /** One run from the states that were saved last. `isForgotten`: what it writes is not saved. */
  read(options?: RunOptions & { readonly isForgotten?: boolean | undefined }): Promise<Observation>;
  /** Reads until a run succeeds: one that has to begin anew says so first. Gives the last one. */
  catchUp(): Promise<Observation>;
}

/** Each table may have to begin anew once, and one more in the meantime. */
const catchUpTries = 4;

/** Undefined, after a report, where the settings or discover do not say how the log is read. */
export async function openChanges(
  lab: Lab,
  report: Reporter,
  { hasAllTables = false } = {},
): Promise<Changes | undefined> {
  const { database, settings } = lab;
  const path = slotSetting(lab);
  const log = database?.sql.log;
  if (!database || !path || !log) return undefined;
  if (settings.changes === undefined) {
    report.missing(
      `conformance.yaml does not say with which settings the connector reads the log. Write, for instance, changes: { replication: { publication: svc_conformance } }; the kit fills in ${path.join(".")}.`,
    );
    return undefined;
  }
  const copy = await copyOnce(lab, "with a log", log.prepare(database.role));
  const grant = database.sql.statements.grantTables(database.role);
  await copy.execute(`${log.makeTables}${grant}`);
  const slot = `${copy.name}_log`;
  const config = withSetting({ ...lab.config, ...settings.changes }, path, slot) as JsonObject;
  const found = await lab.once("tables of the log", () => discoverTables(lab, copy, config, log));
  if (found.length < log.tables.length) {
    report.missing(
      `With these settings discover lists ${log.tables.join(" and ")} not as incremental streams with ${deletedAtField}: nothing is read from the log.`,
    );
    return undefined;
  }
  const tables = found
    .slice(0, hasAllTables ? found.length : log.tables.length)
    .map(createReplayedTable);
  const read: Changes["read"] = async ({ isForgotten = false, ...options } = {}) => {
    await log.settle(copy);
    const state = Object.fromEntries(
      tables.flatMap((table): [string, JsonValue][] =>
        table.state === undefined ? [] : [[table.facts.label, structuredClone(table.state)]],
      ),
    );
    const facts = tables.map((table) => table.facts);
    const command = lab.readCommand(facts, { syncMode: "incremental", state, config });
    const observation = await lab.run(command, { ...options, database: { on: copy } });
    if (!isForgotten) for (const table of tables) table.take(observation.messages);
    return observation;
  };
  return {
    copy,
    log,
    slot,
    tables,
    change: (sql) =>
      copy.execute(log.tables.map((table) => sql.replaceAll("{}", table)).join(";\n")),
    grant: () => copy.execute(grant),
    async discoverAgain() {
      const again = await discoverTables(lab, copy, config, log);
      for (const table of tables) {
        const facts = again.find(({ label }) => label === table.facts.label);
        if (facts) table.describe(facts);
      }
    },
    read,
    async catchUp() {
      for (let tries = 1; ; tries++) {
        const last = await read();
        if (last.outcome.status === "succeeded" || tries === catchUpTries) return last;
      }
    },
    [Symbol.asyncDispose]: () => log.release(copy),
  };
}

/** The kit's tables first. */
async function discoverTables(
  lab: Lab,
  copy: DatabaseCopy,
  config: JsonObject,
  log: DatabaseLog,
): Promise<readonly StreamFacts[]> {
  const { messages } = await lab.run({ verb: "discover", config }, { database: { on: copy } });
  const own = new Set<string>(log.tables);
  return messages
    .flatMap(({ message }) => (message.type === "CATALOG" ? message.catalog.streams : []))
    .filter(
      ({ json_schema: schema, supported_sync_modes: modes }) =>
        modes?.includes("incremental") &&
        Object.hasOwn((schema.properties ?? {}) as object, deletedAtField),
    )
    .map(
      (stream): StreamFacts => ({
        label: streamLabel(stream),
        stream,
        primaryKey: (stream.source_defined_primary_key ?? []).map(([field = ""]) => field),
        cursorField: stream.default_cursor_field?.[0],
        isIncremental: true,
      }),
    )
    .toSorted(
      (one, other) => Number(own.has(other.stream.name)) - Number(own.has(one.stream.name)),
    );
}

/**
 * Reports where the kit's tables are not what was read of them; columns that came later do not
 * count.
 */
export async function expectSame(
  { sql }: { readonly sql: DatabaseSql },
  { copy, tables, log }: Changes,
  report: Reporter,
  what: string,
  run: Observation,
): Promise<void> {
  for (const { facts, rows } of tables.slice(0, log.tables.length)) {
    const { properties = {} } = facts.stream.json_schema;
    report.checked(`${facts.label}: ${what}`);
    const declared: DatabaseSql = {
      ...sql,
      async tableRows(of, stream) {
        const all = await sql.tableRows(of, stream);
        const isKnown = all.columns.map(({ name }) => Object.hasOwn(properties as object, name));
        return {
          columns: all.columns.filter((_, at) => isKnown[at]),
          rows: all.rows.map((row) => row.filter((_, at) => isKnown[at])),
        };
      },
    };
    const faults = await compareWithTable(declared, copy, facts, rows());
    if (faults.length > 0)
      report.fail(
        `${facts.label}: ${what}, and what was read, applied in its order, is not the table: ${faults.join("; ")}.`,
        messageEvidence("The last read", run, []),
      );
  }
}

/** Reports a read that was to succeed. True: it has. */
export function expectSuccess(report: Reporter, what: string, run: Observation): boolean {
  const { status, failures } = run.outcome;
  if (status === "succeeded") return true;
  report.fail(
    `${what}, and the read ${status}: ${failures[0]?.message ?? "it says nothing"}`,
    messageEvidence("The read", run, []),
  );
  return false;
}

/**
 * Changes the kit's two tables step by step, and reads after each: what was read is what the tables
 * have. Ends at the first read that fails.
 *
 * @param steps SQL by what it does, in the words of a report; `{}` is the table
 * @param read of what a step has changed; default: until nothing begins anew
 */
export async function expectSteps(
  lab: Lab,
  report: Reporter,
  steps: Readonly<Record<string, string>>,
  read: (changes: Changes) => Promise<Observation> = (changes) => changes.catchUp(),
): Promise<void> {
  const { database } = lab;
  await using changes = await openChanges(lab, report);
  if (!changes || !database) return;
  if (!expectSuccess(report, "the tables are read whole", await changes.read())) return;
  for (const [what, sql] of Object.entries(steps)) {
    await changes.change(sql);
    const run = await read(changes);
    if (!expectSuccess(report, what, run)) return;
    await expectSame(database, changes, report, what, run);
  }
}
