/**
 * The output of a discovery besides its streams: what it skipped, and about how many rows there
 * are.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommand } from "../../tests/command.ts";
import { systemClock } from "../host/clock.ts";
import { createHost } from "../host/create-host.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-skipped-"));
  await writeFile(join(folder, "c.json"), JSON.stringify({ token: "canary-Zq7-Token" }));
  await writeFile(
    join(folder, "tables.mts"),
    `import { bearer, defineSource, http, records, secret, Type } from "svc-connectors";
const skipped = { small: ["tables.Small", "tables.SMALL"], closed: ["tables.closed"] };
export default defineSource({
  id: "conn_tables",
  version: "1.0.0",
  title: "Tables",
  spec: Type.Object({ token: secret(Type.String({ title: "Token", description: "Any." })) }),
  egress: http({ baseUrl: "https://tables.example.com", auth: bearer("token") }),
  async check() {},
  async *discover(ctx) {
    for (const stream of skipped.small)
      ctx.log.warn("This table is skipped.", { stream, reason: "its name differs by case" });
    for (const stream of skipped.closed)
      ctx.log.warn("This table is skipped.", { stream, reason: "no right to select" });
    const schema = Type.Object({ id: Type.Integer() });
    yield { name: "small", namespace: "tables", schema, estimatedRows: 12_000 };
    yield { name: "other", namespace: "tables", schema };
  },
  async *read() {
    yield records([{ id: 1 }]);
  },
});
`,
  );
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Time enough passes between any two looks at it that each is worth a line of progress. */
function impatientClock() {
  let nowMs = 0;
  return {
    ...systemClock,
    now() {
      nowMs += 11_000;
      return nowMs;
    },
  };
}

const svc = (...args: string[]) =>
  runCommand([...args, "--config", "c.json"], {
    cwd: folder,
    createHost: (options) => createHost({ ...options, sandbox: "inline", clock: systemClock }),
    clock: impatientClock(),
  });

const small = "This table is skipped (its name differs by case): tables.Small, tables.SMALL\n";
const closed = "This table is skipped (no right to select): tables.closed\n";

test("discover tells what is skipped, and about how many rows there are", async () => {
  const { code, stdout, stderr } = await svc("discover", "./tables.mts");
  expect({ code, stderr }).toEqual({ code: 0, stderr: small + closed });
  expect(stdout).toMatch(
    /cursor +rows, about\ntables\.small .* 12,000\ntables\.other .*refresh\n$/,
  );
});

test("read shows how much has come of what discover has estimated", async () => {
  const { code, stderr } = await svc("read", "./tables.mts", "--out", "some", "--streams", "small");
  expect(code).toBe(0);
  expect(stderr).toMatch(/^tables\.small 0 % {2}1 of about 12,000 rows {2}/m);
  const both = await svc("read", "./tables.mts", "--out", "both");
  expect(both.stderr).toMatch(/^tables\.small 0 % {2}1 rows {2}/m);
});

test("read tells it once, and of streams that are named only what was asked for", async () => {
  const all = await svc("read", "./tables.mts", "--out", "all");
  expect(all.code).toBe(0);
  expect(all.stderr.match(/skipped/g)).toHaveLength(2);
  const one = await svc("read", "./tables.mts", "--out", "one", "--streams", "other");
  expect(one.code).toBe(0);
  expect(one.stderr).not.toContain("skipped");
  const missed = await svc("read", "./tables.mts", "--out", "none", "--streams", "other,closed");
  expect(missed).toMatchObject({ code: 2, stderr: expect.stringContaining(closed) });
  expect(missed.stderr).toContain('svc: there is no stream "closed"');
});
