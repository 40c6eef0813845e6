/** The same on PostgreSQL, and what only several processes can show. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  findPostgres,
  type PostgresServer,
  startPostgres,
} from "../../simulators/postgres-server.ts";
import {
  firstLine,
  killed,
  type ServerProcess,
  startProgram,
  startServerProcess,
} from "../../tests/control-process.ts";
import { describeDatabase } from "../../tests/database-behaviour.ts";
import { choose, skipUnlessWhole } from "../../tests/effort.ts";
import { prepareInstance } from "../../tests/instance.ts";
import { openDatabase } from "./database.ts";

const installed = findPostgres() !== undefined;

let postgres: PostgresServer;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-store-"));
  if (installed) postgres = await startPostgres();
});
afterAll(async () => {
  await postgres?.stop();
  await rm(folder, { recursive: true, force: true });
});

describe.skipIf(!installed)("on PostgreSQL", () => {
  describeDatabase("two servers' databases", async () => {
    const { url } = await postgres.createDatabase();
    // They start together: the tables are made once.
    const [one, other] = await Promise.all([openDatabase({ url }), openDatabase({ url })]);
    return {
      one,
      other,
      close: async () =>
        void (await Promise.all([one[Symbol.asyncDispose](), other[Symbol.asyncDispose]()])),
    };
  });

  test("eight servers that start together on an empty database all come up", async () => {
    const { url, query } = await postgres.createDatabase();
    const opened = await Promise.all(
      Array.from({ length: 8 }, () => openDatabase({ url, maxConnections: 2 })),
    );
    for (const one of opened) expect(await one.isReady()).toBe(true);
    const names = await query("SELECT name FROM kysely_migration ORDER BY name");
    expect(new Set(names.map(({ name }) => name)).size).toBe(names.length);
    await Promise.all(opened.map((one) => one[Symbol.asyncDispose]()));
  });

  test("a lock ends with its process", async () => {
    const { url } = await postgres.createDatabase();
    await using database = await openDatabase({ url });
    const holder = startProgram("lock-holder.ts", { url, key: "held" });
    expect(await firstLine(holder)).toBe("held");
    let isOurs = false;
    const waiting = database.exclusively("held", async () => {
      isOurs = true;
    });
    await database.exclusively("another", async () => undefined);
    expect(isOurs).toBe(false);
    await killed(holder);
    await waiting;
    expect(isOurs).toBe(true);
  });

  test("connections that the server cuts, idle or in a transaction, end nothing but what used them", async () => {
    const { url, query } = await postgres.createDatabase();
    await using database = await openDatabase({ url });
    const cut = () =>
      query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()",
      );
    const inTransaction = database.db.transaction().execute(async (tx) => {
      await tx.selectFrom("workspaces").selectAll().execute();
      await cut();
      await tx.selectFrom("workspaces").selectAll().execute();
    });
    await expect(inTransaction).rejects.toBeDefined();
    await database.exclusively("cut", async () => void (await cut()));
    await cut();
    expect(await database.db.selectFrom("workspaces").selectAll().execute()).toEqual([]);
  });

  test("a listener is called back for what others notify, and again after its connection was cut", async () => {
    const { url, query } = await postgres.createDatabase();
    await using database = await openDatabase({ url });
    await using other = await openDatabase({ url });
    let heard = Promise.withResolvers<void>();
    await using _listening = database.notifications.listen("some_channel", () => heard.resolve());
    // It begins with a call: something may have been missed before.
    await heard.promise;
    for (const isCut of [false, true]) {
      heard = Promise.withResolvers<void>();
      if (isCut) {
        await query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'svc notifications'",
        );
        await heard.promise;
        heard = Promise.withResolvers<void>();
      }
      await other.notifications.notify("some_channel");
      await heard.promise;
    }
  });

  test("when all connections are taken, who waits too long is told that the server is busy", async () => {
    const { url } = await postgres.createDatabase();
    await using database = await openDatabase({ url, maxConnections: 1 });
    const end = Promise.withResolvers<void>();
    const holding = database.db.transaction().execute(() => end.promise);
    await expect(database.db.selectFrom("workspaces").selectAll().execute()).rejects.toMatchObject({
      code: "ECONNBUSY",
    });
    end.resolve();
    await holding;
  });

  test("of two servers one is killed in the middle of requests: nothing is lost and nothing doubled", async (context) => {
    skipUnlessWhole(context);
    const { url, query } = await postgres.createDatabase();
    const options = { database: { url }, keyFile: join(folder, "two.json") };
    await using first = await startServerProcess({ ...options, fill: true });
    await using second = await startServerProcess(options);
    const token = first.token ?? "";
    const names = Array.from({ length: 200 }, (_, index) => `Credential ${index}`);
    const acknowledged = new Set<string>();
    let isKilled = false;
    await inParallel(names, 8, async (name, index) => {
      // Half of them ask the one that dies, and the other one when they get no answer, with the
      // same key.
      const order = index % 2 ? [first, second] : [second, first];
      for (const server of order) {
        const answer = await create(server, token, name);
        if (answer === 201) {
          acknowledged.add(name);
          break;
        }
      }
      if (acknowledged.size === 60 && !isKilled) {
        isKilled = true;
        await first.kill();
      }
    });
    expect(isKilled).toBe(true);
    const rows = await query("SELECT name, id FROM credentials");
    const found = rows.map(({ name }) => String(name));
    expect(new Set(found).size).toBe(found.length);
    expect([...acknowledged].filter((name) => !found.includes(name))).toEqual([]);
    // Who got no answer from either asks again: what was done is told, what was not is done.
    const left = names.filter((name) => !acknowledged.has(name));
    await query("UPDATE idempotency_keys SET locked_until = 'epoch' WHERE status IS NULL");
    for (const name of left) expect([name, await create(second, token, name)]).toEqual([name, 201]);
    const all = await query("SELECT name FROM credentials ORDER BY created_at");
    expect(all.map(({ name }) => String(name)).sort()).toEqual([...names].sort());
    const audit = await query("SELECT resource_id FROM audit_logs WHERE outcome = 'success'");
    expect(audit).toHaveLength(names.length);
    const secrets = await query("SELECT owner_id FROM secrets WHERE kind = 'credential'");
    expect(secrets).toHaveLength(names.length);
  });
});

/** Rounds of kills. */
const rounds = choose({ quick: 1, whole: 4 });

test("an embedded database that is killed keeps what was acknowledged", async () => {
  await prepareInstance(folder, "embedded");
  const data = join(folder, "embedded");
  const options = { database: { folder: data }, keyFile: join(data, "keys.json") };
  let server: ServerProcess = await startServerProcess({ ...options, fill: true });
  const token = server.token ?? "";
  const acknowledged: string[] = [];
  const keys = new Set<string>();
  for (let round = 0; round < rounds; round += 1) {
    const names = Array.from({ length: 40 }, (_, index) => `Credential ${round}-${index}`);
    const killAt = 5 + round * 8;
    await inParallel(names, 4, async (name) => {
      keys.add(name);
      if ((await create(server, token, name)) === 201) acknowledged.push(name);
      if (acknowledged.length % 40 === killAt) await server.kill();
    });
    await server.kill();
    server = await startServerProcess(options);
  }
  // Keys of requests that died are free at once: nobody else can have them.
  for (const name of keys) expect([name, await create(server, token, name)]).toEqual([name, 201]);
  const listed = await list(server, token);
  expect([...acknowledged].filter((name) => !listed.includes(name))).toEqual([]);
  expect(listed.sort()).toEqual([...keys].sort());
  await server.kill();
});

/** Stores a credential, once for its name. Undefined: no answer. */
async function create(
  { port }: ServerProcess,
  token: string,
  name: string,
): Promise<number | undefined> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/control/v1/credentials/mailer/api-token`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        "idempotency-key": name,
      },
      body: JSON.stringify({ api_token: "a-token-of-nobody", name }),
    });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return undefined;
  }
}

async function list({ port }: ServerProcess, token: string): Promise<string[]> {
  const names: string[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const query: string = cursor === "" ? "" : `&cursor=${cursor}`;
    const answer = await fetch(`http://127.0.0.1:${port}/control/v1/credentials?limit=50${query}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const { data } = (await answer.json()) as {
      data: { items: { name: string }[]; next_cursor: string | null };
    };
    names.push(...data.items.map(({ name }) => name));
    cursor = data.next_cursor;
  }
  return names;
}

async function inParallel<T>(
  items: readonly T[],
  width: number,
  work: (item: T, index: number) => Promise<void>,
) {
  const queue = [...items.entries()];
  await Promise.all(
    Array.from({ length: width }, async () => {
      for (let next = queue.shift(); next; next = queue.shift()) await work(next[1], next[0]);
    }),
  );
}
