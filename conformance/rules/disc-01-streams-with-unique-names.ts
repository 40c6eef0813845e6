import type { DatabaseSql } from "../contract/database-sql.ts";
import { messageEvidence, textEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import type { Observation } from "../contract/observation.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import { hostileNames, hostileTables } from "../derive/database/hostile-names.ts";
import { withTables } from "../derive/database/tables.ts";
import { newWarnings } from "../derive/rows/news.ts";
import { discoverRenamed } from "./disc-01.listed-names.ts";

export default defineRule({
  id: "DISC-01",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "Discover lists at least one stream, and every name is whole and unique, also without regard to case.",
  why: "Two streams whose names differ only in case share one table in most warehouses, and overwrite each other. A name that was cut or cleaned up belongs to another table at the next change.",
  fix: "Give each stream the provider's own name as it is, and a namespace where names repeat.",
  good: '{ name: "Orders", namespace: "public" }, { name: "orders", namespace: "archive" }',
  bad: '{ name: "Orders" }, { name: "orders" }',
  async run(lab, report) {
    const { messages, outcome } = lab.first.discover;
    const catalogs = messages.filter(({ message }) => message.type === "CATALOG");
    report.checked("the catalog");
    if (catalogs.length !== 1)
      report.fail(
        `Discover wrote ${catalogs.length} CATALOG messages; it has to write one. ${outcome.failures[0]?.message ?? ""}`.trim(),
        textEvidence("Outcome", JSON.stringify(outcome, null, 2)),
      );
    else if (lab.streams.length === 0)
      report.fail("The catalog lists no stream, so that there is nothing to read.");
    const seen = new Map<string, string>();
    for (const { label, stream } of lab.streams) {
      report.checked(label);
      if (typeof stream.name !== "string" || stream.name.trim() === "")
        report.fail(
          `A stream has the name ${JSON.stringify(stream.name)}: people cannot select it.`,
        );
      // Parts are kept apart: "a.b" + "c" is not "a" + "b.c".
      const folded = JSON.stringify([stream.namespace ?? "", stream.name]).toLowerCase();
      const other = seen.get(folded);
      if (other !== undefined)
        report.fail(
          `The streams "${other}" and "${label}" have the same name${other === label ? "" : " but for upper and lower case"}.`,
        );
      seen.set(folded, label);
    }
    if (lab.database) await tryTableNames(lab, lab.database.sql, report);
    for (const { names, observation } of await discoverRenamed(lab))
      tryNames(lab, report, names, observation);
  },
});

/**
 * Each name that the provider gives is a stream's name, to the letter, or a warning says why not.
 */
function tryNames(
  lab: Lab,
  report: Reporter,
  names: ReadonlyMap<string, string>,
  observation: Observation,
): void {
  const { outcome, exchanges, messages } = observation;
  // Requests that were made of the names in another way than by encoding them find no answer here.
  if (exchanges.some(({ unmatched }) => unmatched !== undefined)) return;
  const listed = messages.flatMap(({ message }) =>
    message.type === "CATALOG" ? message.catalog.streams.map(({ name }) => name) : [],
  );
  const known = new Set<string>([
    ...names.values(),
    ...lab.streams.map(({ stream }) => stream.name),
  ]);
  const others = listed.filter((name) => !known.has(name));
  const evidence = messageEvidence("The run", observation, []);
  for (const name of names.values()) {
    const text = JSON.stringify(name);
    report.checked(`the provider lists ${text}`);
    if (outcome.status !== "succeeded")
      report.fail(
        `The provider lists ${text}, and discover ${outcome.status}: ${outcome.failures[0]?.message ?? "it says nothing"}.`,
        evidence,
      );
    else if (!listed.includes(name) && newWarnings(observation, lab.first.discover).length === 0)
      report.fail(
        `The provider lists ${text}, and the catalog has no such stream${others.length > 0 ? `, but ${others.map((other) => JSON.stringify(other)).join(", ")}` : ""}.`,
        evidence,
      );
  }
}

/** Tables of hard names are streams of those names. */
async function tryTableNames(lab: Lab, sql: DatabaseSql, report: Reporter): Promise<void> {
  const { discover, streams } = await withTables(lab, "of hostile names", hostileTables(sql));
  const listed = new Set(streams.map(({ stream }) => stream.name));
  const { outcome } = discover;
  for (const name of hostileNames(sql)) {
    const text = JSON.stringify(name);
    report.checked(`the table ${text}`);
    if (outcome.status !== "succeeded")
      report.fail(
        `The database has the table ${text}, and discover ${outcome.status}: ${outcome.failures[0]?.message ?? "it says nothing"}.`,
      );
    else if (!listed.has(name))
      report.fail(`The database has the table ${text}, and the catalog has no such stream.`);
  }
}
