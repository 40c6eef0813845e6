import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { takingLines } from "../../fixtures/taking-lines.ts";
import type { ConfiguredStream } from "../contract/catalog.ts";
import { systemClock } from "../host/clock.ts";
import { openHashKey, readHashKey } from "./hash-key.ts";
import { choosePlace } from "./place.ts";
import { openAsBefore } from "./read-before.ts";

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "svc-read-before-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const key = Buffer.from("a key of somebody's own, and long");
const plain: ConfiguredStream = {
  stream: {
    name: "people",
    json_schema: {
      type: "object",
      properties: { at: { type: "integer" }, email: { type: "string" } },
    },
    supported_sync_modes: ["full_refresh", "incremental"],
    source_defined_cursor: false,
    default_cursor_field: [],
    source_defined_primary_key: [],
    is_resumable: false,
  },
  sync_mode: "incremental",
  cursor_field: ["at"],
};
const hashed = { ...plain, hashed_fields: ["email"] };

/** One run that writes a line and says how far it came; gives the state from which it went on. */
async function run(out: string, configured: ConfiguredStream, line: string, hashKey = key) {
  const nowhere = { write: () => Promise.reject(new Error()) } as never;
  const place = await choosePlace(out, { cwd: root, stdout: nowhere });
  const options = { connectorId: "conn_test", clock: systemClock, streams: [configured] };
  const sink = takingLines(await openAsBefore(place, options, hashKey), [configured]);
  const { stream } = configured;
  const from = sink.savedState().map(({ state }) => state);
  await sink.open([configured]);
  await sink.status(stream, "started");
  await sink.write(stream, Buffer.from(`${line}\n`), 1);
  await sink.checkpoint(stream, { cursor: line }, 1);
  await sink.status(stream, "complete");
  await sink.close();
  return { from, restarted: sink.restarted.map(({ name }) => name) };
}

test.each([
  "folder",
  "file.duckdb",
])("rows in plain and rows with hashes never stand side by side in a %s", async (out) => {
  const first = '{"at":1,"email":"a@b.c"}';
  const second = '{"at":2,"email":"f00d"}';
  expect(await run(out, plain, first)).toEqual({ from: [], restarted: [] });
  expect(await run(out, plain, first)).toEqual({ from: [{ cursor: first }], restarted: [] });
  expect(await run(out, hashed, second)).toEqual({ from: [], restarted: ["people"] });
  expect(await run(out, hashed, second)).toEqual({ from: [{ cursor: second }], restarted: [] });
  if (out === "folder")
    expect(await readFile(join(root, out, "people.jsonl"), "utf8")).toBe(`${second}\n${second}\n`);
  const another = Buffer.from("another key that is as long as it");
  expect((await run(out, hashed, second, another)).restarted).toEqual(["people"]);
  const filtered = { ...plain, row_filter: [{ column: "at", operator: ">", value: 1 } as const] };
  expect((await run(out, filtered, first)).restarted).toEqual(["people"]);
  expect((await run(out, filtered, first)).from).toEqual([{ cursor: first }]);
  expect((await run(out, plain, first)).restarted).toEqual(["people"]);
});

test("a key is made once beside the configuration, for its owner alone", async () => {
  const made = await openHashKey("my-db.yaml", root);
  expect(made).toMatchObject({ madeIn: join(root, "svc-hash.key") });
  expect(await openHashKey("my-db.yaml", root)).toEqual({ key: made.key });
  expect(await readHashKey("svc-hash.key", root)).toEqual(made.key);
});

test("a key that is named has to be there, and to be one", async () => {
  await expect(readHashKey("no.key", root)).rejects.toThrow(/does not exist/);
  await writeFile(join(root, "short.key"), "secret\n");
  await expect(readHashKey("short.key", root)).rejects.toThrow(/too short/);
});
