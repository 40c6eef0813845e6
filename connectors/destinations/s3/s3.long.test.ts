/** The destination through the host, into a store that proves signatures and takes conditions. */

import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createDestinationHost,
  type DestinationHost,
  type JsonObject,
  type JsonValue,
} from "svc-connectors/host";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { takingLines } from "../../../fixtures/taking-lines.ts";
import { describeStream } from "../../../tests/destination-behaviour.ts";
import { type S3Server, s3Host, startS3 } from "../../../tests/s3-server.ts";

const reference = { name: "s3", url: new URL("index.ts", import.meta.url).href };
const clock = { now: () => Date.now(), sleep: async () => {} };
let folder: string;
let server: S3Server | string;
let host: DestinationHost;
let config: JsonObject;
let count = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-s3-"));
  server = await startS3(folder);
});
beforeEach(({ skip }) => {
  if (typeof server === "string") return skip(server);
  const { bucket, accessKeyId, secretAccessKey, seams } = server;
  host = createDestinationHost({ seams, clock });
  config = {
    bucket,
    prefix: `test/${++count}`,
    endpoint: `https://${s3Host}`,
    access_key_id: accessKeyId,
    secret_access_key: secretAccessKey,
  };
});
afterAll(async () => {
  if (typeof server !== "string") await server?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const stream = describeStream(
  { id: { type: "integer" }, note: { type: "string" } },
  { name: "things", into: "append_dedup", key: ["id"] },
);
const name = { name: "things" };
const options = () => ({ folder: join(folder, "warehouses") });

async function open(fence: number) {
  const command = { owner: "pipe", jobId: `job_${fence}`, fence, streams: [stream] };
  return await host.write(reference, config, command, options());
}
async function put(opened: Awaited<ReturnType<typeof open>>, ids: readonly number[], note: string) {
  const lines = ids.map((id) => `${JSON.stringify({ id, note })}\n`).join("");
  await opened.sink.status(name, "started");
  await takingLines(opened.sink, [stream.configured]).write(name, Buffer.from(lines), ids.length);
  await opened.sink.checkpoint(name, { note }, ids.length);
}
async function rows(sql: string): Promise<readonly (readonly JsonValue[])[]> {
  const query = { sql, maxRows: 1_000, timeoutMs: 60_000 };
  await using found = await host.query(reference, config, query, options());
  const all: (readonly JsonValue[])[] = [];
  for await (const page of found.result.pages) all.push(...page);
  return all;
}

test("rows and state are there after each commit, and a writer that was fenced off adds nothing", async () => {
  expect(await host.check(reference, config, options())).toMatchObject({ status: "succeeded" });
  await using one = await open(1);
  await put(one, [1, 2], "a");
  await one.sink.status(name, "complete");
  await put(one, [3], "late");
  await using two = await open(2);
  expect(two.sink.savedState()).toEqual([{ stream: name, state: { note: "a" } }]);
  await expect(one.sink.status(name, "complete")).rejects.toMatchObject({ code: "OUTPUT_FENCED" });
  await put(two, [2, 4], "b");
  await two.sink.status(name, "complete");
  await two.sink.close();
  expect(await rows("SELECT id, note FROM _svc_things ORDER BY id")).toEqual([
    [1, "a"],
    [2, "b"],
    [4, "b"],
  ]);
});

test("a wrong key, a wrong bucket and a wrong region are told, and no secret is in what is said", async () => {
  const secret = "canary/of+a+secret/access/key/0123456789";
  const cases = [
    [{ secret_access_key: secret }, { code: "CREDENTIALS_REJECTED" }],
    [{ access_key_id: "AKIAUNKNOWN0123456789" }, { code: "CREDENTIALS_REJECTED" }],
    [{ bucket: "no-such-bucket" }, { code: "CONFIG_INVALID", details: { path: "bucket" } }],
  ] as const;
  for (const [wrong, error] of cases) {
    const result = await host.check(reference, { ...config, ...wrong }, options());
    expect(result).toMatchObject({ status: "failed", error });
    expect(JSON.stringify(result)).not.toContain(secret.slice(0, 12));
    expect(JSON.stringify(result)).not.toContain(String(config.secret_access_key));
  }
});

const storeOf = (settings: JsonObject = {}) => {
  if (typeof server === "string") throw new Error(server);
  return server.store(`test/${count}`, settings);
};

test("objects are encrypted with the key that the settings name: small ones, those that are replaced, and those that go in parts", async () => {
  if (typeof server === "string") return;
  const key = "arn:aws:kms:us-east-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab";
  await using store = storeOf({ encryption: "sse-kms", kms_key_id: key });
  for (const [path, size] of [
    ["small", 10],
    ["large", 9 * 1024 * 1024],
  ] as const) {
    await writeFile(join(folder, path), randomBytes(size));
    await store.put(join(folder, path), path);
  }
  await store.replace("replaced", Buffer.from("1"), undefined);
  for (const path of ["small", "large", "replaced"])
    expect(await server.encryptionOf(`test/${count}`, path)).toEqual(["aws:kms", key]);
});

test("a large file goes in parts and comes back as it was; of two who replace an object one is told", async () => {
  await using store = storeOf();
  const bytes = randomBytes(40 * 1024 * 1024);
  const [from, to] = [join(folder, "large"), join(folder, "back")];
  await writeFile(from, bytes);
  await store.put(from, "a/large.parquet");
  await store.fetch("a/large.parquet", to);
  expect((await readFile(to)).equals(bytes)).toBe(true);
  expect(await store.read("a/nothing")).toBeUndefined();
  const tag = await store.replace("a/one", Buffer.from("0"), undefined);
  expect(await store.replace("a/one", Buffer.from("1"), undefined)).toBeUndefined();
  const next = await store.replace("a/one", Buffer.from("2"), tag);
  expect(await store.replace("a/one", Buffer.from("3"), tag)).toBeUndefined();
  expect(await store.read("a/one")).toEqual({ bytes: Buffer.from("2"), tag: next });
});

test("a listing has every object below a prefix, however many pages it takes, and names as they are", async () => {
  await using store = storeOf();
  const odd = "b/with %41 & <percent>+plus/x";
  const paths = Array.from({ length: 1_050 }, (_, index) => `b/${String(index).padStart(4, "0")}`);
  for (let from = 0; from < paths.length; from += 50)
    await Promise.all(
      paths.slice(from, from + 50).map((path) => store.replace(path, Buffer.from("x"), undefined)),
    );
  await store.replace(odd, Buffer.from("x"), undefined);
  expect(await store.list("b/")).toEqual([...paths, odd].sort());
  await store.remove([odd, "b/never"]);
  expect(await store.list("b/w")).toEqual([]);
});
