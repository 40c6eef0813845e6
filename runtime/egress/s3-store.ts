/**
 * An S3-compatible store, as a destination gets it: guarded connections, signed requests, closed
 * errors. The destination has neither the key nor a socket.
 */
import { open, rm } from "node:fs/promises";
import type { Clock } from "../contract/clock.ts";
import type { S3Egress } from "../contract/destination.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { JsonObject } from "../contract/json.ts";
import type { HttpLimits, NetworkSeams, NetworkSettings } from "../contract/network.ts";
import type { ObjectStore, StoredObject } from "../contract/object-store.ts";
import { configText } from "./config-field.ts";
import { readRaw } from "./response.ts";
import { withRetries } from "./retry.ts";
import { elements, s3Error } from "./s3-answers.ts";
import { baseOf, prefixOf } from "./s3-place.ts";
import { encodePart, signS3 } from "./s3-signature.ts";
import { createTransport, type Incoming } from "./transport.ts";

export interface S3Options {
  readonly declaration: S3Egress;
  /** The whole validated configuration, secrets included. */
  readonly config: JsonObject;
  readonly clock: Clock;
  readonly settings: NetworkSettings;
  readonly seams?: NetworkSeams | undefined;
  readonly limits?: Partial<HttpLimits> | undefined;
  readonly signal: AbortSignal;
  /** 0 ≤ x < 1, for jitter. Default Math.random. */
  readonly random?: (() => number) | undefined;
}

/** Of a part; the store wants at least 5 MiB of each but the last, and at most 10,000 of them. */
const partBytes = 16 * 1024 * 1024;
const mostParts = 10_000;
/** A manifest, or a page of a listing. */
const maxAnswerBytes = 64 * 1024 * 1024;
/** Objects of one request to remove are one each: a removal of many has to be signed twice. */
const removedAtOnce = 16;

const defaultLimits: HttpLimits = {
  connectTimeoutMs: 10_000,
  headersTimeoutMs: 60_000,
  idleTimeoutMs: 60_000,
  totalTimeoutMs: 300_000,
  maxAttempts: 5,
  retryBudgetMs: 120_000,
  maxRateLimitWaitMs: 0,
};

interface Call {
  readonly method: "GET" | "PUT" | "POST" | "DELETE";
  /** Below the prefix; undefined: of the bucket. */
  readonly path?: string | undefined;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** Statuses that are answers besides 2xx. */
  readonly accept?: readonly number[];
}

interface Reply {
  readonly status: number;
  readonly headers: Incoming["headers"];
  readonly body: Buffer;
}

/** @throws CONFIG_INVALID, BASE_URL_REFUSED */
export function createS3Store(options: S3Options): ObjectStore & AsyncDisposable {
  const { declaration, config, clock, settings, seams, signal, random = Math.random } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const text = (field: string) => configText(config, field);
  const credentials = {
    accessKeyId: text(declaration.accessKeyId),
    secretAccessKey: text(declaration.secretAccessKey),
    region: text(declaration.region),
  };
  const base = baseOf(declaration, config, credentials.region);
  const prefix = prefixOf(declaration, config);
  const port = Number(base.port || 443);
  const transport = createTransport({ settings, seams, port, connections: 8, limits });

  async function once({ method, path, query = {}, headers = {}, body, accept = [] }: Call) {
    const url = new URL(base);
    if (path !== undefined)
      url.pathname = `${base.pathname}${`${prefix}${path}`.split("/").map(encodePart).join("/")}`;
    url.search = Object.entries(query)
      .map(([name, value]) => `${encodePart(name)}=${encodePart(value)}`)
      .sort()
      .join("&");
    const signed = signS3({ method, url, headers, body }, credentials, clock.now());
    const request = { method, url, headers: signed, ...(body ? { body } : {}) };
    return await transport.exchange(request, signal, async (incoming): Promise<Reply> => {
      const answer = await readRaw(incoming.body, incoming.headers, maxAnswerBytes);
      const { status } = incoming;
      if ((status >= 200 && status < 300) || accept.includes(status))
        return { status, headers: incoming.headers, body: answer };
      const said = { status, headers: incoming.headers, xml: answer.toString("utf8") };
      throw s3Error(said, declaration, clock.now());
    });
  }

  const policy = {
    clock,
    random,
    maxAttempts: limits.maxAttempts,
    budgetMs: limits.retryBudgetMs,
    wait: (durationMs: number, aborted: AbortSignal) => clock.sleep(durationMs, aborted),
  };
  const call = (one: Call) => withRetries(policy, signal, () => once(one));

  /** Requires of an answer "no such thing" that it means an object, not the bucket. */
  function requireBucket({ status, headers, body }: Reply): void {
    const xml = body.toString("utf8");
    if (elements(xml, "Code").includes("NoSuchBucket"))
      throw s3Error({ status, headers, xml }, declaration, clock.now());
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
    const one: Call = {
      method: "PUT",
      path,
      headers: condition,
      body: bytes,
      accept: [404, 409, 412],
    };
    let isAgain = false;
    return await withRetries(policy, signal, async () => {
      try {
        const { status, headers, body } = await once(one);
        if (status < 300) return tagOf(headers);
        if (status === 404) requireBucket({ status, headers, body });
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

  async function putParts(file: string, path: string): Promise<void> {
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
    if (size <= length) return void (await call({ method: "PUT", path, body: await part(0) }));
    const begun = await call({ method: "POST", path, query: { uploads: "" } });
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
      if (elements(xml, "Code").length > 0)
        throw s3Error({ status: 500, headers: ended.headers, xml }, declaration, clock.now());
    } catch (error) {
      await call({ method: "DELETE", path, query: { uploadId } }).catch(() => undefined);
      throw error;
    }
  }

  async function fetchParts(path: string, file: string): Promise<void> {
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

  return {
    read,
    replace,
    async put(file, path) {
      await putParts(file, path);
      await rm(file, { force: true });
    },
    fetch: fetchParts,
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
    [Symbol.asyncDispose]: () => transport.close(),
  };
}

function tagOf(headers: Incoming["headers"]): string {
  const { etag } = headers;
  if (typeof etag === "string" && /^"[\x21-\x7e]{1,200}"$/.test(etag)) return etag;
  throw new ConnectorError("RESPONSE_INVALID", { reason: "an object has no ETag" });
}
