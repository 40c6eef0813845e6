/**
 * An S3-compatible store, as a destination gets it: guarded connections, signed requests, closed
 * errors. The destination has neither the key nor a socket.
 */
import { open, rm } from "node:fs/promises";
import { ConnectorError } from "../contract/errors.ts";
import type { ObjectStore, StoredObject } from "../contract/object-store.ts";
import { elements } from "./s3-answers.ts";
import {
  createS3Client,
  type S3Call,
  type S3Client,
  type S3Options,
  type S3Reply,
} from "./s3-client.ts";
import type { Incoming } from "./transport.ts";

/** Of a part; the store wants at least 5 MiB of each but the last, and at most 10,000 of them. */
const partBytes = 8 * 1024 * 1024;
const mostParts = 10_000;
/** Objects of one request to remove are one each: a removal of many has to be signed twice. */
const removedAtOnce = 16;

/** @throws CONFIG_INVALID, BASE_URL_REFUSED */
export function createS3Store(options: S3Options): ObjectStore & AsyncDisposable {
  const client = createS3Client(options);
  const { call, encryption, errorOf, prefix } = client;

  /** Requires of an answer "no such thing" that it means an object, not the bucket. */
  function requireBucket(reply: S3Reply): void {
    if (elements(reply.body.toString("utf8"), "Code").includes("NoSuchBucket"))
      throw errorOf(reply);
  }

  async function read(path: string): Promise<StoredObject | undefined> {
    const reply = await call({ method: "GET", path, accept: [404] });
    if (reply.status !== 404) return { bytes: reply.body, tag: tagOf(reply.headers) };
    requireBucket(reply);
    return undefined;
  }

  async function replace(
    path: string,
    bytes: Buffer,
    tag: string | undefined,
  ): Promise<string | undefined> {
    const condition = tag === undefined ? { "if-none-match": "*" } : { "if-match": tag };
    const one: S3Call = {
      method: "PUT",
      path,
      headers: { ...condition, ...encryption },
      body: bytes,
      accept: [404, 409, 412],
    };
    let isAgain = false;
    return await client.withRetries(async () => {
      try {
        const reply = await client.once(one);
        if (reply.status < 300) return tagOf(reply.headers);
        if (reply.status === 404) requireBucket(reply);
        // An earlier try may have written it, whose answer was lost.
        return isAgain ? await isThere(path, bytes) : undefined;
      } catch (error) {
        isAgain = true;
        throw error;
      }
    });
  }

  /** The tag of the object when it has these bytes: each manifest is another one. */
  async function isThere(path: string, bytes: Buffer): Promise<string | undefined> {
    const found = await read(path);
    return found?.bytes.equals(bytes) ? found.tag : undefined;
  }

  return {
    read,
    replace,
    async put(file, path) {
      await putParts(client, file, path);
      await rm(file, { force: true });
    },
    fetch: (path, file) => fetchParts(client, path, file),
    async list(below) {
      const paths: string[] = [];
      for (let token: string | undefined; ; ) {
        const more = token === undefined ? {} : { "continuation-token": token };
        const query = { "list-type": "2", prefix: `${prefix}${below}`, ...more };
        const { body } = await call({ method: "GET", query });
        const xml = body.toString("utf8");
        for (const key of elements(xml, "Key")) paths.push(key.slice(prefix.length));
        [token] = elements(xml, "NextContinuationToken");
        if (token === undefined) return paths.sort();
      }
    },
    async remove(paths) {
      for (let from = 0; from < paths.length; from += removedAtOnce)
        await Promise.all(
          paths
            .slice(from, from + removedAtOnce)
            .map((path) => call({ method: "DELETE", path, accept: [404] })),
        );
    },
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}

/** The file as one object: in parts when it is longer than one. */
async function putParts(
  { call, encryption, errorOf }: S3Client,
  file: string,
  path: string,
): Promise<void> {
  await using handle = await open(file, "r");
  const { size } = await handle.stat();
  const length = Math.max(partBytes, Math.ceil(size / mostParts));
  const part = async (index: number) => {
    const bytes = Buffer.alloc(Math.min(length, size - index * length));
    for (let at = 0; at < bytes.length; ) {
      const { bytesRead } = await handle.read(bytes, at, bytes.length - at, index * length + at);
      if (bytesRead === 0)
        throw new ConnectorError("OUTPUT_FAILED", { reason: "a file was cut off" });
      at += bytesRead;
    }
    return bytes;
  };
  if (size <= length)
    return void (await call({ method: "PUT", path, headers: encryption, body: await part(0) }));
  const begun = await call({ method: "POST", path, query: { uploads: "" }, headers: encryption });
  const [uploadId] = elements(begun.body.toString("utf8"), "UploadId");
  if (uploadId === undefined)
    throw new ConnectorError("RESPONSE_INVALID", { reason: "the upload has no id" });
  try {
    const tags: string[] = [];
    for (let index = 0; index * length < size; index += 1) {
      const query = { partNumber: String(index + 1), uploadId };
      const { headers } = await call({ method: "PUT", path, query, body: await part(index) });
      tags.push(tagOf(headers));
    }
    const parts = tags.map(
      (tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${tag}</ETag></Part>`,
    );
    const body = Buffer.from(
      `<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>`,
    );
    const ended = await call({ method: "POST", path, query: { uploadId }, body });
    // It may fail after it has begun to answer with 200.
    const xml = ended.body.toString("utf8");
    if (elements(xml, "Code").length > 0) throw errorOf({ ...ended, status: 500 });
  } catch (error) {
    await call({ method: "DELETE", path, query: { uploadId } }).catch(() => undefined);
    throw error;
  }
}

/** The object as a file, part by part; nothing of it changes meanwhile. */
async function fetchParts({ call }: S3Client, path: string, file: string): Promise<void> {
  await using handle = await open(file, "wx", 0o600);
  let tag: string | undefined;
  for (let at = 0, size = 1; at < size; at += partBytes) {
    const range = `bytes=${at}-${at + partBytes - 1}`;
    const headers = { range, ...(tag === undefined ? {} : { "if-match": tag }) };
    const answer = await call({ method: "GET", path, headers, accept: [416] });
    if (answer.status === 416) return;
    tag ??= tagOf(answer.headers);
    const [, total] = /\/(\d+)$/.exec(String(answer.headers["content-range"])) ?? [];
    size = Number(total ?? answer.body.length);
    await handle.write(answer.body, 0, answer.body.length, at);
  }
}

function tagOf(headers: Incoming["headers"]): string {
  const { etag } = headers;
  if (typeof etag === "string" && /^"[\x21-\x7e]{1,200}"$/.test(etag)) return etag;
  throw new ConnectorError("RESPONSE_INVALID", { reason: "an object has no ETag" });
}
