import { ConnectorError } from "svc-connectors/host";
import { defineDestinationRule, type Place, type Script } from "../contract.ts";
import { describeStream, integer, scriptOf } from "../streams.ts";

export default defineDestinationRule({
  id: "DEST-10",
  title:
    "A table of another connection, or one that somebody made by hand, is named and never touched: TABLE_CONFLICT.",
  why: "Two pipelines with one prefix empty each other's tables in turn; a table that an analyst built for a year is gone after the first sync.",
  fix: "Keep which tables are whose beside the state; refuse any other that is there already, before a row is read.",
  good: "if (exists && !isOwn) throw new ConnectorError('TABLE_CONFLICT', { name });",
  bad: "CREATE OR REPLACE TABLE …",
  async run(lab, report) {
    await using place = await lab.emptyPlace();
    const theirs = describeStream({ id: integer }, { name: "theirs", table: "_svc_theirs" });
    const [location = ""] = await place.run(
      scriptOf({ owner: "pipe_theirs", fence: 1 }, [{ stream: theirs, batches: [[{ id: 1 }]] }]),
    );
    const cases = [
      {
        what: "a table of another connection",
        table: "_svc_theirs",
        location,
        column: "id",
        value: 1,
      },
    ];
    if (place.sql) {
      const own = location.replace("_svc_theirs", "_svc_by_hand");
      await place.sql(`CREATE TABLE ${own} (answer integer)`);
      await place.sql(`INSERT INTO ${own} VALUES (42)`);
      cases.push({
        what: "a table that somebody made by hand",
        table: "_svc_by_hand",
        location: own,
        column: "answer",
        value: 42,
      });
    }
    for (const { what, table, location: there, column, value } of cases)
      for (const into of lab.manifest.syncModes) {
        report.checked(`${what}, ${into}`);
        const { owner, name } = lab.fresh();
        const stream = describeStream(
          { id: integer },
          {
            name,
            table,
            into,
            key: ["id"],
            mode: into === "overwrite" ? "full_refresh" : "incremental",
          },
        );
        const code = await codeOf(
          place,
          scriptOf({ owner, fence: 1 }, [{ stream, batches: [[{ id: 7 }]] }]),
        );
        if (code !== "TABLE_CONFLICT")
          report.fail(
            `${into} into ${what} ${code === undefined ? "was taken" : `failed with ${code}`}; TABLE_CONFLICT is expected.`,
          );
        const rows = (await place.rows(there).catch(() => [])).map((row) => row[column]);
        if (rows.join() !== String(value))
          report.fail(
            `${into} changed ${what}: it holds ${JSON.stringify(rows)} where [${value}] was.`,
          );
      }
  },
});

async function codeOf(place: Place, script: Script): Promise<string | undefined> {
  try {
    await place.run(script);
    return undefined;
  } catch (error) {
    return error instanceof ConnectorError ? error.code : "an error without a code";
  }
}
