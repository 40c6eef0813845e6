/** Changes from the log on their way into destinations, in runs that are cut off anywhere. */
import type { Output, SelectedStream } from "svc-connectors";
import { systemClock } from "svc-connectors/host";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { DeleteMode, DestinationStream } from "../runtime/contract/destination.ts";
import { toCatalogStream } from "../runtime/worker/load.ts";
import {
  findPostgres,
  type PostgresDatabase,
  type PostgresServer,
  startPostgres,
} from "../simulators/postgres-server.ts";
import type { DestinationPlace } from "./destination-behaviour.ts";
import { openDuckdbPlace } from "./duckdb-place.ts";
import { choose } from "./effort.ts";
import { openPostgresPlace } from "./postgres-place.ts";
import { createPostgresRun, type PostgresSettings, type PostgresState } from "./postgres-run.ts";

let server: PostgresServer;
beforeAll(async () => {
  if (findPostgres() === undefined) return;
  server = await startPostgres({
    settings: { wal_level: "logical", max_replication_slots: "20", max_wal_senders: "20" },
  });
});
afterAll(() => server?.stop());

const places: Readonly<Record<string, () => Promise<DestinationPlace>>> = {
  duckdb: () => openDuckdbPlace(systemClock),
  postgres: () => openPostgresPlace(server),
};

/** One run of all streams, as a job has it. `cut` says after which output it is killed. */
async function sync(
  database: PostgresDatabase,
  settings: PostgresSettings,
  place: DestinationPlace,
  fence: number,
  { cut = () => false, deletes }: { cut?: () => boolean; deletes?: DeleteMode | undefined } = {},
) {
  const login = { username: "postgres", password: server.password };
  await using run = createPostgresRun(server, database, login, settings);
  const streams: SelectedStream[] = [];
  for await (const stream of run.discover())
    if (stream.cursorField) streams.push({ ...stream, syncMode: "incremental" });
  const ordered = streams.map(
    (stream): DestinationStream => ({
      configured: {
        stream: toCatalogStream(stream),
        sync_mode: "incremental",
        destination_sync_mode: "append_dedup",
      },
      table: `of_${stream.name}`,
      ...(deletes ? { detectDeletes: deletes } : {}),
    }),
  );
  const sink = await place.write({ owner: "cdc", jobId: "job", fence, streams: ordered });
  await sink.open(ordered.map(({ configured }) => configured));
  const states = new Map(sink.savedState().map(({ stream, state }) => [stream.name, state]));
  const selection = streams.map((stream) => {
    const state = states.get(stream.name) as PostgresState | undefined;
    return { stream, state: state && Object.keys(state).length > 0 ? state : undefined };
  });
  const failures: string[] = [];
  for (const { stream, state } of selection) {
    const of = { name: stream.name, namespace: "public" };
    await sink.status(of, "started");
    try {
      let since = 0;
      for await (const output of run.readBatches(stream, state, {
        streams: selection,
        isPart: false,
      } as never)) {
        if (output.type === "batch")
          for (const batch of output.batches) {
            await sink.writeBatch?.(of, batch);
            since += batch.rowCount;
          }
        else if (output.type === "checkpoint") {
          await sink.checkpoint(of, (output as Output & { state: never }).state, since);
          since = 0;
        }
        // Killed: nobody closes the sink, and the next one has another fence.
        if (cut()) return { failures, locations: [], isCut: true };
      }
      await sink.status(of, "complete");
    } catch (error) {
      failures.push(String((error as { code?: string }).code));
      await sink.status(of, "incomplete");
    }
  }
  await sink.close();
  return {
    failures,
    isCut: false,
    locations: streams.map(({ name }) => sink.location({ name, namespace: "public" })),
  };
}

describe
  .skipIf(findPostgres() === undefined)
  .each(choose({ quick: ["postgres"], whole: Object.keys(places) }))("into %s", (kind) => {
  let place: DestinationPlace;
  beforeAll(async () => {
    place = await (places[kind] as () => Promise<DestinationPlace>)();
  });
  afterAll(() => place?.close());

  const columns = "concat_ws('/', id, v, length(body), md5(body))";
  const rowsOf = async (database: PostgresDatabase, name: string) =>
    (await database.query(`SELECT ${columns} AS row FROM ${name} ORDER BY id`)).map(
      ({ row }) => row,
    );

  test("a table is what the source's is after every run that comes to its end", async () => {
    const database = await server.createDatabase();
    await database.query(`
      CREATE TABLE one (id int PRIMARY KEY, v int, body text); ALTER TABLE one ALTER body SET STORAGE EXTERNAL;
      CREATE TABLE two (id int PRIMARY KEY, v int, body text);
      INSERT INTO one SELECT i, 0, repeat(md5(i::text), 300) FROM generate_series(1, 60) i; INSERT INTO two SELECT * FROM one;
      CREATE PUBLICATION svc FOR TABLE one, two`);
    const settings = {
      page_size: 10,
      replication: { publication: "svc", slot: `svc_${kind}` },
    };
    const works = [
      "UPDATE one SET v = v + 1 WHERE id % 3 = 0; DELETE FROM one WHERE id % 5 = 0; INSERT INTO two VALUES (100, 1, 'x')",
      "UPDATE one SET id = id + 1000 WHERE id < 10; INSERT INTO one VALUES (5, 5, 'back'); UPDATE two SET body = NULL WHERE id > 50",
      "TRUNCATE two; INSERT INTO two SELECT i, i, 'after' FROM generate_series(1, 5) i; DELETE FROM one WHERE id = 5",
      "INSERT INTO one VALUES (5, 6, 'again'); BEGIN; DELETE FROM one; INSERT INTO one SELECT i, i, md5(i::text) FROM generate_series(1, 50) i; COMMIT",
    ];
    let fence = 0;
    for (const [round, work] of ["SELECT 1", ...works].entries()) {
      await database.query(work);
      for (let cutAfter = 1 + round; cutAfter < 9; cutAfter += 3) {
        let left = cutAfter;
        await sync(database, settings, place, ++fence, { cut: () => left-- <= 0 });
      }
      let done = await sync(database, settings, place, ++fence);
      if (done.failures.length > 0) {
        expect(done.failures).toEqual(["CHANGES_LOST"]);
        done = await sync(database, settings, place, ++fence);
      }
      expect(done.failures).toEqual([]);
      for (const [index, name] of ["one", "two"].entries()) {
        const found = await place.sql(
          `SELECT ${columns} FROM ${done.locations[index]} ORDER BY id`,
        );
        expect(
          found.map(([row]) => row),
          `${name} in round ${round}`,
        ).toEqual(await rowsOf(database, name));
      }
    }
  });

  test("with soft deletes a row stays as it was, says when it was deleted, and loses that when it is back", async () => {
    const database = await server.createDatabase();
    await database.query(`
      CREATE TABLE gone (id int PRIMARY KEY, v int, body text); INSERT INTO gone VALUES (1, 1, 'a'), (2, 2, 'b'), (3, 3, 'c');
      CREATE PUBLICATION svc FOR TABLE gone`);
    const settings = { replication: { publication: "svc", slot: `svc_soft_${kind}` } };
    let fence = 1_000;
    const rows = async () => {
      const { failures, locations } = await sync(database, settings, place, ++fence, {
        deletes: "soft",
      });
      expect(failures).toEqual([]);
      const found = await place.sql(
        `SELECT concat_ws('/', id, v, body, _ab_cdc_deleted_at IS NOT NULL) FROM ${locations[0]} ORDER BY id`,
      );
      return found.map(([row]) => row?.replace("true", "t").replace("false", "f"));
    };
    expect(await rows()).toEqual(["1/1/a/f", "2/2/b/f", "3/3/c/f"]);
    await database.query("DELETE FROM gone WHERE id = 1; UPDATE gone SET id = 4 WHERE id = 3");
    expect(await rows()).toEqual(["1/1/a/t", "2/2/b/f", "3/3/c/t", "4/3/c/f"]);
    await database.query(
      "INSERT INTO gone VALUES (1, 9, 'back'), (7, 7, 'short'); DELETE FROM gone WHERE id = 7",
    );
    expect(await rows()).toEqual(["1/9/back/f", "2/2/b/f", "3/3/c/t", "4/3/c/f", "7/7/short/t"]);
  });

  test("with soft deletes a table that is built anew keeps the rows that were deleted while they were copied", async () => {
    const database = await server.createDatabase();
    await database.query(`
      CREATE TABLE anew (id int PRIMARY KEY, v int, body text); INSERT INTO anew SELECT i, i, 'x' FROM generate_series(1, 6) i;
      CREATE PUBLICATION svc FOR TABLE anew`);
    const settings = {
      page_size: 2,
      replication: { publication: "svc", slot: `svc_anew_${kind}` },
    };
    let fence = 2_000;
    const run = (options: Parameters<typeof sync>[4] = {}) =>
      sync(database, settings, place, ++fence, { ...options, deletes: "soft" });
    expect((await run()).failures).toEqual([]);
    await database.query(
      "TRUNCATE anew; INSERT INTO anew SELECT i, i, 'y' FROM generate_series(1, 6) i",
    );
    expect((await run()).failures).toEqual(["CHANGES_LOST"]);
    // Two pages are copied; what happens then is read from the log, beside the old table.
    let left = 4;
    expect((await run({ cut: () => --left === 0 })).isCut).toBe(true);
    await database.query(`
      UPDATE anew SET v = 20 WHERE id = 2; DELETE FROM anew WHERE id IN (1, 2, 6); INSERT INTO anew VALUES (8, 8, 'short'), (9, 9, 'z');
      DELETE FROM anew WHERE id >= 8; INSERT INTO anew VALUES (9, 10, 'back'), (1, 11, 'back'); DELETE FROM anew WHERE id = 1`);
    const { failures, locations } = await run();
    expect(failures).toEqual([]);
    const found = await place.sql(
      `SELECT concat_ws('/', id, v, body, CASE WHEN _ab_cdc_deleted_at IS NULL THEN 'there' ELSE 'gone' END) FROM ${locations[0]} ORDER BY id`,
    );
    // Of 6 nothing was ever known here but that it is gone.
    expect(found.map(([row]) => row)).toEqual([
      "1/11/back/gone",
      "2/20/y/gone",
      "3/3/y/there",
      "4/4/y/there",
      "5/5/y/there",
      "8/8/short/gone",
      "9/10/back/there",
    ]);
    await database.query("UPDATE anew SET v = 0 WHERE id = 9; DELETE FROM anew WHERE id = 3");
    expect((await run()).failures).toEqual([]);
    const after = await place.sql(
      `SELECT count(*), count(_ab_cdc_deleted_at), min(v) FROM ${locations[0]}`,
    );
    expect(after.map((row) => row.map(Number))).toEqual([[7, 4, 0]]);
  });
});
