import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRandom } from "../../../fixtures/random.ts";
import {
  findPostgres,
  type PostgresDatabase,
  type PostgresServer,
  startPostgres,
} from "../../../simulators/postgres-server.ts";
import type { Described } from "../../../tests/destination-behaviour.ts";
import { sourceRow, type WriterCommand } from "../../../tests/postgres-writer.ts";

// A real kill -9 of a real process, before or right after a statement that a seed chooses; then
// another goes on, until one comes through. KILLS says how many there are in all, SEED where.

const killCount = Number(process.env.KILLS ?? 20);
const seed = Number(process.env.SEED ?? 20_261_121);
const rowCount = 1_000;

let server: PostgresServer;
let database: PostgresDatabase;
beforeAll(async () => {
  server = await startPostgres();
  database = await server.createDatabase();
});
afterAll(() => server?.stop());

const writer = fileURLToPath(new URL("../../../tests/postgres-writer.ts", import.meta.url));

/** How many moments there were when it came to its end; undefined when it was killed. */
async function write(
  command: Omit<WriterCommand, "server" | "database">,
): Promise<number | undefined> {
  const child = spawn(process.execPath, ["--conditions=svc-source", writer], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const { host, port, password } = server;
  const { name, url } = database;
  child.stdin.end(
    JSON.stringify({ ...command, server: { host, port, password }, database: { name, url } }),
  );
  const printed = await text(child.stdout);
  return printed === "" ? undefined : (JSON.parse(printed) as { momentCount: number }).momentCount;
}

const all = Array.from({ length: rowCount }, (_, id) => id);

/** The rows that append_dedup must leave: the newest of each key, unless that deletes it. */
function deduplicated(): number[] {
  const newest = new Map<number, ReturnType<typeof sourceRow>>();
  for (const row of all.map(sourceRow)) {
    const known = newest.get(row.key);
    if (!known || row.at >= known.at) newest.set(row.key, row);
  }
  return [...newest.values()].filter((row) => row._svc_deleted_at === null).map(({ id }) => id);
}

const modes: readonly (readonly [
  what: string,
  described: Described,
  expected: readonly number[],
])[] = [
  ["incremental, append", { mode: "incremental", into: "append" }, all],
  [
    "incremental, append_dedup",
    { mode: "incremental", into: "append_dedup", key: ["key"], cursor: "at" },
    deduplicated(),
  ],
  [
    "full_refresh, append_dedup",
    { mode: "full_refresh", into: "append_dedup", key: ["key"], cursor: "at" },
    deduplicated(),
  ],
  ["full_refresh, overwrite", { mode: "full_refresh", into: "overwrite" }, all],
  [
    "full_refresh, overwrite, resumable",
    { mode: "full_refresh", into: "overwrite", isResumable: true },
    all,
  ],
  [
    "full_refresh, append, resumable",
    { mode: "full_refresh", into: "append", isResumable: true },
    all,
  ],
];

describe.skipIf(findPostgres() === undefined)("a writer that is killed", () => {
  test.each(
    modes.map((mode, index) => [...mode, index] as const),
  )("%s: the table equals the truth", async (_, mode, expected, index) => {
    const described = { ...mode, name: `kills_${index}` };
    const random = createRandom(seed + index);
    const ids = async () =>
      (await database.query(`SELECT id FROM public._svc_${described.name}`))
        .map(({ id }) => Number(id))
        .sort((a, b) => a - b);
    const command = { described, rowCount, pageRows: 50, fence: 1, killAt: 0, isLate: false };
    // In the modes that replace or merge, a complete run before.
    const momentCount = await write(command);
    if (momentCount === undefined) throw new Error("nothing killed it");
    expect(await ids()).toEqual([...expected].sort((a, b) => a - b));

    const share = Math.ceil(killCount / modes.length);
    let fence = 2;
    let isRestart = true;
    for (let kills = 0; kills < share; fence++) {
      const killAt = 1 + Math.floor(random() * momentCount);
      // A write that came to its end is ordered anew; one that was killed goes on.
      const ordered: Described =
        isRestart && described.mode === "incremental" ? { ...described, isRestart } : described;
      isRestart =
        (await write({ ...command, described: ordered, fence, killAt, isLate: random() < 0.5 })) !==
        undefined;
      if (!isRestart) kills++;
      if (described.into !== "append_dedup") expect(await ids()).toEqual(all);
    }
    expect(await write({ ...command, fence })).toBeDefined();
    expect(await ids()).toEqual([...expected].sort((a, b) => a - b));
    expect(await database.query(`SELECT 1 FROM pg_class WHERE relname LIKE 'svc:next:%'`)).toEqual(
      [],
    );
  });
});
