import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findPostgres } from "../../simulators/postgres-server.ts";
import type { Database, QueryFault } from "../contract/database.ts";
import type { ConnectionFault } from "../contract/network.ts";
import { type DatabaseServer, startDatabase } from "../target/database.ts";
import { type DatabaseNetwork, openDatabaseNetwork } from "./database.ts";

const login = { database: 'the "shop"', role: "o'reader", password: "pä ss'word\\" };

describe.skipIf(findPostgres() === undefined)("a database between the kit and a client", () => {
  let server: DatabaseServer;
  let database: Database;
  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), "seed-"));
    const seed = join(folder, "seed.sql");
    await writeFile(
      seed,
      `CREATE TABLE notes (id int PRIMARY KEY, text json); INSERT INTO notes VALUES (1, '{"a":\n 12345678901234567890}');`,
    );
    const started = await startDatabase("postgres", seed);
    if ("missing" in started) throw new Error(started.missing);
    server = started;
    database = await server.open(login);
    await rm(folder, { recursive: true });
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  const open = (
    options: {
      fault?: QueryFault;
      database?: string;
      connection?: { fault: ConnectionFault };
    } = {},
  ) => openDatabaseNetwork({ server, now: () => 7, ...options });

  /** As a connector's host does: through the seams, to a name that leads nowhere else. */
  async function connect({ network }: DatabaseNetwork): Promise<Client> {
    const [found] = (await network.seams.resolve?.("database.example.net")) ?? [];
    const socket = network.seams.dial?.({
      host: "database.example.net",
      address: found?.address ?? "",
      port: 5432,
    });
    // It is connecting already; `pg` would do it again.
    const stream = Object.assign(socket as object, { connect() {} });
    const client = new Client({
      stream: () => stream as never,
      user: login.role,
      password: login.password,
      database: login.database,
      ssl: false,
    });
    client.on("error", () => {});
    await client.connect();
    return client;
  }

  test("the role reads what the seed made, and writes nothing", async () => {
    await using network = await open();
    const client = await connect(network);
    expect((await client.query("SELECT id FROM notes")).rows).toEqual([{ id: 1 }]);
    await expect(client.query("INSERT INTO notes VALUES (2)")).rejects.toMatchObject({
      code: "42501",
    });
    await expect(client.query("CREATE TABLE public.more (id int)")).rejects.toMatchObject({
      code: "42501",
    });
    await client.end();
    expect(network.queries.map(({ sql, rowCount, error }) => [sql, rowCount, error])).toEqual([
      ["SELECT id FROM notes", 1, undefined],
      ["INSERT INTO notes VALUES (2)", 0, "42501"],
      ["CREATE TABLE public.more (id int)", 0, "42501"],
    ]);
  });

  test("rows of the kit's own queries keep line breaks and every digit", async () => {
    const [row] = await database.rows("SELECT text FROM notes");
    expect(row?.text).toEqual({ a: 12345678901234567890n });
  });

  test("a copy has the seed's rows and changes of its own, and leads there whatever is asked for", async () => {
    await using copy = await database.copy("DELETE FROM notes");
    await using network = await open({ database: copy.name });
    const client = await connect(network);
    expect(
      (await client.query("SELECT current_database() AS name, count(*)::int FROM notes")).rows,
    ).toEqual([{ name: copy.name, count: 0 }]);
    await client.end();
    expect(await database.rows("SELECT id FROM notes")).toEqual([{ id: 1 }]);
  });

  test("another password holds for its work only", async () => {
    await using network = await open();
    await database.withPassword("other", async () => {
      await expect(connect(network)).rejects.toMatchObject({ code: "28P01" });
    });
    await (await connect(network)).end();
  });

  const error = { severity: "ERROR", sqlState: "42501", message: "no", detail: "why" } as const;
  const second = ["SELECT 1", "SELECT $1::int AS n", "SELECT 3"] as const;

  test("a statement is refused in the server's place, with parameters too, and the session goes on", async () => {
    await using network = await open({ fault: { at: 1, type: error } });
    const client = await connect(network);
    await client.query(second[0]);
    await expect(client.query(second[1], [5])).rejects.toMatchObject({
      code: "42501",
      message: "no",
      detail: "why",
    });
    expect((await client.query(second[1], [5])).rows).toEqual([{ n: 5 }]);
    await client.end();
    expect(network.queries.map((query) => query.error)).toEqual([undefined, "42501", undefined]);
  });

  test("a transaction in which a statement was refused says that it has failed", async () => {
    await using network = await open({ fault: { at: 1, isLasting: true, type: error } });
    const client = await connect(network);
    await client.query("BEGIN");
    await expect(client.query(second[0])).rejects.toMatchObject({ code: "42501" });
    await expect(client.query(second[2])).rejects.toMatchObject({ code: "42501" });
    client.end().catch(() => {});
  });

  test.each<[QueryFault["type"], string | undefined]>([
    ["reset", undefined],
    [{ ...error, severity: "FATAL", sqlState: "57P01" }, "57P01"],
  ])("%o ends the session", async (type, code) => {
    await using network = await open({ fault: { at: 0, type } });
    const client = await connect(network);
    await expect(client.query(second[0])).rejects.toMatchObject(
      code === undefined ? { message: /terminated/ } : { code },
    );
    expect(await network.openRequests?.()).toBe(0);
  });

  test("a statement that is never answered is no activity, and its session counts until it is closed", async () => {
    await using network = await open({ fault: { at: 0, type: "hang" } });
    const client = await connect(network);
    const answer = client.query(second[0]).catch(() => "given up");
    await expect.poll(() => network.queries.length).toBe(1);
    expect([network.inFlight(), network.openConnections()]).toEqual([0, 1]);
    (
      client as unknown as { connection: { stream: { destroy(): void } } }
    ).connection.stream.destroy();
    expect(await answer).toBe("given up");
    expect(await network.openRequests?.()).toBe(0);
  });

  test("names that mean this machine lead there, and a name without an address to nobody", async () => {
    await using network = await open({ connection: { fault: "unknown-host" } });
    expect(await network.network.seams.resolve?.("localhost")).toEqual([
      { address: "127.0.0.1", family: 4 },
    ]);
    await expect(network.network.seams.resolve?.("db.example.net")).rejects.toMatchObject({
      code: "ENOTFOUND",
    });
  });
});
