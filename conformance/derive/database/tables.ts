/** Tables of the kit's own making, discovered and read like the connector's others. */

import { streamLabel } from "svc-connectors/host";
import type { DatabaseCopy } from "../../contract/database.ts";
import type { Lab, RunOptions, StreamFacts } from "../../contract/lab.ts";
import type { Observation } from "../../contract/observation.ts";
import { outputRows } from "../rows/rows.ts";
import { copyOnce } from "./copies.ts";
import { compareWithTable } from "./rows.ts";

export interface MadeTables {
  readonly copy: DatabaseCopy;
  readonly discover: Observation;
  /** The streams that were not there before. */
  readonly streams: readonly StreamFacts[];
}

/**
 * A copy of the database with more tables, and what discover makes of it. Done once for each name.
 */
export const withTables = (lab: Lab, name: string, sql: string): Promise<MadeTables> =>
  lab.once(`tables ${name}`, async () => {
    const { database } = lab;
    const grant = database?.sql.statements.grantTables(database.role) ?? "";
    const copy = await copyOnce(lab, name, `${sql}\n${grant}`);
    const discover = await lab.run(lab.first.discover.command, { database: { on: copy } });
    const known = new Set(lab.streams.map(({ label }) => label));
    const streams = discover.messages
      .flatMap(({ message }) => (message.type === "CATALOG" ? message.catalog.streams : []))
      .filter((stream) => !known.has(streamLabel(stream)))
      .map(
        (stream): StreamFacts => ({
          label: streamLabel(stream),
          stream,
          primaryKey: (stream.source_defined_primary_key ?? []).map(([field = ""]) => field),
          isIncremental: false,
        }),
      );
    return { copy, discover, streams };
  });

/** A whole read of a table, and how it differs from the table. */
export async function readTable(
  lab: Lab,
  copy: DatabaseCopy,
  stream: StreamFacts,
  runOptions: RunOptions = {},
): Promise<{ readonly observation: Observation; readonly faults: readonly string[] }> {
  const observation = await lab.run(lab.readCommand([stream]), {
    database: { on: copy },
    ...runOptions,
  });
  const { status, failures } = observation.outcome;
  if (status !== "succeeded")
    return {
      observation,
      faults: [`the read ${status}: ${failures[0]?.message ?? "it says nothing"}`],
    };
  return {
    observation,
    faults: lab.database
      ? await compareWithTable(
          lab.database.sql,
          copy,
          stream,
          outputRows(observation.messages, stream),
        )
      : [],
  };
}
