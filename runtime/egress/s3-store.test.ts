/**
 * The store's client on a store that fails, redirects, forgets or is not to be reached. The
 * protocol itself: connectors/destinations/s3.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  type SimulatedRequest,
  type SimulatorServer,
  startServer,
} from "../../simulators/simulator/server.ts";
import type { JsonObject } from "../contract/json.ts";
import { createS3Store } from "./s3-store.ts";

const declaration = {
  kind: "s3",
  bucket: "bucket",
  prefix: "prefix",
  region: "region",
  endpoint: "endpoint",
  accessKeyId: "access_key_id",
  secretAccessKey: "secret_access_key",
  sessionToken: "session_token",
  encryption: "encryption",
  kmsKeyId: "kms_key_id",
} as const;
const secret = "canary/of+a+secret/access/key/0123456789";
const hostname = "s3.example.com";
const slept: number[] = [];
const clock = {
  now: () => Date.parse("2026-03-31T12:00:00Z"),
  sleep: async (durationMs: number) => void slept.push(durationMs),
};

type Reply = { status: number; headers?: Record<string, string>; body?: string };
let reply: (request: SimulatedRequest, index: number) => Reply;
let seen: SimulatedRequest[];
let server: SimulatorServer;
beforeAll(async () => {
  server = await startServer({
    hostname,
    answer(request) {
      seen.push(request);
      const { status, headers = {}, body = "" } = reply(request, seen.length - 1);
      return { status, headers, body: Buffer.from(body) };
    },
  });
});
afterAll(() => server?.close());
beforeEach(() => {
  seen = [];
  slept.length = 0;
  server.faults.clear();
});

const open = (
  config: JsonObject = {},
  { allowNetworks = [] as string[], resolve = server.seams.resolve } = {},
) =>
  createS3Store({
    declaration,
    config: {
      bucket: "lake",
      prefix: "a/b",
      region: "eu-central-1",
      endpoint: `https://${hostname}`,
      access_key_id: "AKIAEXAMPLE",
      secret_access_key: secret,
      ...config,
    },
    clock,
    settings: { approvedHosts: [], allowNetworks },
    seams: { ...server.seams, resolve },
    signal: new AbortController().signal,
    random: () => 0.5,
  });
const fault = (code: string) => `<Error><Code>${code}</Code><Message>${secret}</Message></Error>`;
test("a session token goes with each request, signed; without one there is no such header", async () => {
  reply = () => ({ status: 404, body: fault("NoSuchKey") });
  for (const config of [{ session_token: "token/of+a=session" }, { session_token: "" }, {}]) {
    await using store = open(config);
    await store.read("x");
  }
  expect(seen.map(({ headers }) => headers["x-amz-security-token"])).toEqual([
    "token/of+a=session",
    undefined,
    undefined,
  ]);
  expect(seen[0]?.headers.authorization).toContain(";x-amz-security-token,");
});

const written = { status: 200, headers: { etag: '"1"' } };

test.each([
  [{}, undefined, undefined],
  [{ encryption: "bucket", kms_key_id: "" }, undefined, undefined],
  [{ encryption: "sse-s3" }, "AES256", undefined],
  [{ encryption: "sse-kms", kms_key_id: "" }, "aws:kms", undefined],
  [{ encryption: "sse-kms", kms_key_id: "alias/lake" }, "aws:kms", "alias/lake"],
])("with %j each new object asks for its encryption, and nothing else does", async (config, kind, key) => {
  const folder = await mkdtemp(join(tmpdir(), "svc-s3-"));
  try {
    await using store = open(config);
    const upload =
      "<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>";
    reply = ({ method }) => (method === "POST" ? { status: 200, body: upload } : written);
    await store.replace("m.json", Buffer.from("ours"), undefined);
    for (const [name, size] of [
      ["small", 10],
      ["large", 9 * 1024 * 1024],
    ] as const) {
      await writeFile(join(folder, name), Buffer.alloc(size));
      await store.put(join(folder, name), name);
    }
    await store.remove(["small"]);
    const asked = seen.map(({ method, query, headers }) => [
      `${method} ${query.has("partNumber") ? "part" : query.has("uploadId") ? "end" : ""}`,
      headers["x-amz-server-side-encryption"],
      headers["x-amz-server-side-encryption-aws-kms-key-id"],
    ]);
    const none = [undefined, undefined];
    expect(asked).toEqual([
      ["PUT ", kind, key],
      ["PUT ", kind, key],
      ["POST ", kind, key],
      ["PUT part", ...none],
      ["PUT part", ...none],
      ["POST end", ...none],
      ["DELETE ", ...none],
    ]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test.each([
  [{ kms_key_id: "alias/lake" }, "kms_key_id"],
  [{ encryption: "sse-s3", kms_key_id: "alias/lake" }, "kms_key_id"],
  [{ encryption: "sse-kms", kms_key_id: "alias/lake\r\nx: y" }, "kms_key_id"],
  [{ encryption: "aws:kms" }, "encryption"],
])("%j is refused before anything is asked", (config, path) => {
  expect(() => open(config)).toThrow(
    expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining(path) }),
  );
});

describe("a conditional write", () => {
  const bytes = Buffer.from("ours");

  test("says what it replaces: nothing, or the object of a tag", async () => {
    await using store = open();
    reply = () => written;
    await store.replace("m.json", bytes, undefined);
    await store.replace("m.json", bytes, '"0"');
    expect(
      seen.map(({ method, path, headers }) => [
        method,
        path,
        headers["if-none-match"],
        headers["if-match"],
      ]),
    ).toEqual([
      ["PUT", "/lake/a/b/m.json", "*", undefined],
      ["PUT", "/lake/a/b/m.json", undefined, '"0"'],
    ]);
    for (const { headers } of seen) expect(JSON.stringify(headers)).not.toContain(secret);
  });

  test("whose answer was lost is not taken for another one's", async () => {
    await using store = open();
    server.faults.inject({ type: "reset" });
    reply = ({ method }) => (method === "PUT" ? { status: 412 } : { ...written, body: "ours" });
    expect(await store.replace("m.json", bytes, undefined)).toBe('"1"');
    expect(slept).toHaveLength(1);
  });

  test("that another one was faster with is told, and so is it when both were sent at once", async () => {
    await using store = open();
    for (const status of [412, 409]) {
      reply = ({ method }) => (method === "PUT" ? { status } : { ...written, body: "theirs" });
      expect(await store.replace("m.json", bytes, '"0"')).toBeUndefined();
    }
  });

  test("of an object that is gone is told as one that has changed", async () => {
    await using store = open();
    reply = () => ({ status: 404, body: fault("NoSuchKey") });
    expect(await store.replace("m.json", bytes, '"0"')).toBeUndefined();
  });
});

test.each([
  [{ status: 403, body: fault("SignatureDoesNotMatch") }, "CREDENTIALS_REJECTED"],
  [{ status: 403, body: fault("AccessDenied") }, "PERMISSION_DENIED"],
  [{ status: 404, body: fault("NoSuchBucket") }, "CONFIG_INVALID"],
  [{ status: 301, headers: { location: "https://169.254.169.254/" } }, "CONFIG_INVALID"],
  [{ status: 501, body: fault("NotImplemented") }, "OUTPUT_FAILED"],
  [{ status: 200, headers: {} }, "RESPONSE_INVALID"],
] as const)("%j is %s, once, and nothing of it is passed on", async (given, code) => {
  await using store = open();
  reply = () => given as Reply;
  const error = await store.replace("m.json", Buffer.from("x"), undefined).catch((one) => one);
  expect(error).toMatchObject({ code });
  expect(JSON.stringify([error.message, error.details])).not.toContain(secret);
  expect(seen).toHaveLength(1);
});

test("a store that is busy is asked again, later and later", async () => {
  await using store = open();
  reply = (_, index) =>
    index < 3 ? { status: 503, body: fault("SlowDown") } : { ...written, body: "x" };
  expect(await store.read("m.json")).toEqual({ bytes: Buffer.from("x"), tag: '"1"' });
  expect(slept).toHaveLength(3);
  expect(slept).toEqual(slept.toSorted((one, other) => one - other));
});

test("addresses are judged like those of every connection", async () => {
  const resolve = async () => [{ address: "10.1.2.3", family: 4 as const }];
  await using closed = open({}, { resolve });
  await expect(closed.read("m.json")).rejects.toMatchObject({ code: "ADDRESS_REFUSED" });
  expect(seen).toEqual([]);
  await using opened = open({}, { resolve, allowNetworks: ["10.1.0.0/16"] });
  reply = () => ({ status: 404, body: fault("NoSuchKey") });
  expect(await opened.read("m.json")).toBeUndefined();
});

test.each([
  [{ endpoint: "http://s3.example.com" }, "endpoint"],
  [{ endpoint: "https://user:word@s3.example.com" }, "endpoint"],
  [{ endpoint: "https://s3.example.com/path" }, "endpoint"],
  [{ endpoint: "https://169.254.169.254" }, "endpoint"],
  [{ endpoint: "https://[::1]" }, "endpoint"],
  [{ endpoint: "https://2130706433" }, "endpoint"],
  [{ endpoint: "https://s3.example.com:99999" }, "endpoint"],
  [{ bucket: "../other" }, "bucket"],
  [{ bucket: "a..b" }, "bucket"],
  [{ region: "eu/central" }, "region"],
  [{ region: "x.example.com" }, "region"],
  [{ prefix: "a/../b" }, "prefix"],
  [{ prefix: "/a" }, "prefix"],
])("%j is refused before anything is looked up", (config, path) => {
  expect(() => open(config)).toThrow(
    expect.objectContaining({ code: "CONFIG_INVALID", details: expect.objectContaining({ path }) }),
  );
});

test("without an endpoint the bucket is Amazon's, by its own name where a certificate covers it", async () => {
  const hosts: string[] = [];
  const resolve = async (host: string) => {
    hosts.push(host);
    return [];
  };
  for (const bucket of ["lake", "my.lake"]) {
    await using store = open({ endpoint: "", bucket }, { resolve });
    await expect(store.read("m.json")).rejects.toMatchObject({ code: "HOST_UNKNOWN" });
  }
  expect(hosts).toEqual(["lake.s3.eu-central-1.amazonaws.com", "s3.eu-central-1.amazonaws.com"]);
});
