/**
 * The parts of a provider's answer that come in: its body, bounded before and after decompression,
 * and header fields by allow-list.
 */
import type { Readable, Transform } from "node:stream";
import { setImmediate as eventLoopTurn } from "node:timers/promises";
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from "node:zlib";
import { budgets } from "../contract/budgets.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { SecretRegistry } from "../filter/secrets.ts";
import { type ResponseHeaders, rateLimitHeaderNames } from "./rate-limit-headers.ts";

/** Encodings that the host can undo; sent as accept-encoding. */
export const acceptEncoding = "gzip, deflate, br, zstd";

/**
 * Bytes of an answer that is not 2xx: enough for any API's error, little enough for any proxy's
 * error page.
 */
export const maxErrorBytes = 65_536;

/** Decompressed bytes of an answer, when the connector declares nothing else. */
export const defaultMaxResponseBytes = 64 * 1_048_576;

/** Codings of one answer; real servers apply one. */
const maxCodings = 2;
/** A page of JSON inflates in few steps. */
const chunkSize = 262_144;

/** The whole body, decompressed. @throws RESPONSE_TOO_LARGE, RESPONSE_INVALID, CONNECTION_FAILED */
export async function readBody(
  body: Readable,
  headers: ResponseHeaders,
  maxBytes: number,
): Promise<Buffer> {
  return await decompress(await readRaw(body, headers, maxBytes), headers, maxBytes);
}

/**
 * The bytes as sent. The connection is dropped when they exceed the limit.
 * @throws RESPONSE_TOO_LARGE, CONNECTION_FAILED
 */
export function readRaw(
  body: Readable,
  headers: ResponseHeaders,
  maxBytes: number,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const stop = (error: ConnectorError) => {
      reject(error);
      body.destroy();
    };
    body.on("error", reject);
    body.on("close", () => {
      if (!body.readableEnded)
        reject(new ConnectorError("CONNECTION_FAILED", { reason: "cut short" }));
    });
    if (Number(headers["content-length"]) > maxBytes) return stop(tooLarge(maxBytes));
    body.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) stop(tooLarge(maxBytes));
      else chunks.push(chunk);
    });
    body.on("end", () => resolve(joined(chunks)));
  });
}

/**
 * Copied between two turns of the event loop, a millisecond's worth: 64 answers may end at once.
 */
const joinedBytes = 1_048_576;

/**
 * The chunks as one. To put together a large answer takes as long as to receive it, and answers
 * that end in the same turn would hold up all runs: others have their turns in between.
 */
export async function joined(chunks: readonly Buffer[]): Promise<Buffer> {
  const size = chunks.reduce((sum, { length }) => sum + length, 0);
  if (chunks.length === 1 && chunks[0]) return chunks[0];
  if (size <= joinedBytes) return Buffer.concat(chunks, size);
  const whole = Buffer.allocUnsafeSlow(size);
  let at = 0;
  let sinceTurn = 0;
  for (const chunk of chunks) {
    at += chunk.copy(whole, at);
    sinceTurn += chunk.length;
    if (sinceTurn < joinedBytes) continue;
    sinceTurn = 0;
    await eventLoopTurn();
  }
  return whole;
}

type Inflater = (options: { readonly chunkSize: number }, bytes: Buffer) => Transform;

/** A server's "deflate" may come with or without the zlib header (RFC 9110 section 8.4.1.2). */
const inflateEither: Inflater = (options, bytes) =>
  ((bytes[0] ?? 0) & 0x0f) === 8 ? createInflate(options) : createInflateRaw(options);

const codings: ReadonlyMap<string, Inflater> = new Map<string, Inflater>([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["deflate", inflateEither],
  ["br", createBrotliDecompress],
  ["zstd", createZstdDecompress],
]);

/** The bytes that a stream of zlib makes of these. @throws as {@link decompress} */
async function inflated(stream: Transform, bytes: Buffer, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.end(bytes);
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw tooLarge(maxBytes);
      chunks.push(chunk);
    }
  } catch (error) {
    throw toDecompressError(error);
  }
  return await joined(chunks);
}

/**
 * Undoes content-encoding.
 * @throws RESPONSE_TOO_LARGE, RESPONSE_INVALID, CONNECTION_FAILED when the data ends early
 */
export async function decompress(
  bytes: Buffer,
  headers: ResponseHeaders,
  maxBytes: number,
): Promise<Buffer> {
  const encoding = headers["content-encoding"];
  if (encoding === undefined || bytes.length === 0) return bytes;
  const names = String(encoding)
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && name !== "identity");
  if (names.length > maxCodings)
    throw new ConnectorError("RESPONSE_INVALID", { reason: "too many content encodings" });
  let plain = bytes;
  for (const name of names.reverse()) {
    const create = codings.get(name);
    if (!create)
      throw new ConnectorError("RESPONSE_INVALID", { reason: "unknown content encoding" });
    plain = await inflated(create({ chunkSize }, plain), plain, maxBytes);
  }
  return plain;
}

/** Data that was deflated without a header, as in archives. @throws as {@link decompress} */
export async function inflateWithin(bytes: Buffer, maxBytes: number): Promise<Buffer> {
  return await inflated(createInflateRaw({ chunkSize }), bytes, maxBytes);
}

function toDecompressError(error: unknown): ConnectorError {
  if (error instanceof ConnectorError) return error;
  const code = error instanceof Error && "code" in error ? error.code : "";
  if (code === "Z_BUF_ERROR")
    return new ConnectorError("CONNECTION_FAILED", { reason: "cut short" });
  return new ConnectorError("RESPONSE_INVALID", { reason: "damaged compression" });
}

export const tooLarge = (limit: number) => new ConnectorError("RESPONSE_TOO_LARGE", { limit });

const alwaysAllowed = [
  "content-type",
  "date",
  "link",
  "etag",
  "last-modified",
  "retry-after",
  ...rateLimitHeaderNames,
];
const neverAllowed = new Set([
  "set-cookie",
  "set-cookie2",
  "location",
  "www-authenticate",
  "proxy-authenticate",
  "authentication-info",
]);

/**
 * Lower-case names of the response header fields that may reach a connector that asked for
 * `declared`.
 */
export function allowedHeaderNames(declared: readonly string[] = []): readonly string[] {
  const names = [...alwaysAllowed, ...declared.map((name) => name.toLowerCase())];
  return [...new Set(names)].filter((name) => !neverAllowed.has(name));
}

/** Names of all header fields that may reach an image, whose needs nobody has declared. */
export const passableHeaderNames = (headers: ResponseHeaders): readonly string[] =>
  Object.keys(headers).filter((name) => !neverAllowed.has(name));

/** The named headers of an answer, without secrets that the provider echoes in them. */
export function pickHeaders(
  headers: ResponseHeaders,
  names: readonly string[],
  secrets: Pick<SecretRegistry, "redactText">,
): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name of names) {
    const value = headers[name];
    if (value !== undefined)
      picked[name] = secrets.redactText(typeof value === "string" ? value : value.join(", "));
  }
  return picked;
}

/**
 * Shorter cookie values are settings ("en", "true"); to search for them would redact honest data.
 */
const minCookieLength = 8;
/** Registers the values of Set-Cookie as secrets; to be called for each answer. */
export type CookieWatch = (headers: ResponseHeaders) => void;

export function createCookieWatch(secrets: SecretRegistry): CookieWatch {
  // Some providers set a new cookie with every answer, and none is ever sent back or passed on.
  const seen = new Set<string>();
  let seenChars = 0;
  const { count, together } = budgets.cookies;
  return (headers) => {
    const lines = headers["set-cookie"];
    if (lines === undefined) return;
    for (const line of typeof lines === "string" ? [lines] : lines) {
      const value = /^[^=;]*=\s*"?([^";]*)/.exec(line)?.[1]?.trim() ?? "";
      if (value.length < minCookieLength || seen.has(value) || seen.size >= count[0]) continue;
      if (seenChars + value.length > together) continue;
      seen.add(value);
      seenChars += value.length;
      secrets.add(value);
    }
  };
}
