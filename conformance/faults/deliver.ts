/** Carries an answer over a real connection, with everything that goes wrong on the way. */
import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import type { Answer } from "../contract/network.ts";

/** Made anew for each answer: what was recorded speaks of another connection. */
const connectionHeaders = new Set(["connection", "keep-alive", "transfer-encoding"]);
/** Enough for gzip to pay off, little enough to be made at once. */
const memberBytes = 2 ** 24;
const blanks = Buffer.alloc(2 ** 16, " ");

/** The connection under the response, as it can be broken. */
export interface Wire {
  /** Sends a TCP reset. */
  reset(): void;
  /** Ends the connection once all that was written has been sent. */
  end(): void;
}

/**
 * Sends the answer as its fault says. Resolves when the server's part is done: everything sent, the
 * connection broken, or, for answers that never end, the client gone. `pass` lets virtual time go
 * by.
 */
export async function deliver(
  answer: Answer,
  response: ServerResponse,
  wire: Wire,
  pass: (ms: number) => void = () => undefined,
): Promise<void> {
  const { status, body, fault } = answer;
  const headers = Object.fromEntries(
    Object.entries(answer.headers).filter(([name]) => !connectionHeaders.has(name)),
  );
  const mayHaveBody = status !== 204 && status !== 304;
  const lengthOf = (bytes: number) =>
    mayHaveBody ? { "content-length": String(bytes), ...headers } : headers;
  const { "content-length": _, ...unsized } = headers;
  const write = (piece: Buffer) => written(response, piece);

  switch (fault?.type) {
    case undefined:
      response.writeHead(status, lengthOf(body.length)).end(body);
      return await closed(response, "finish");
    case "reset":
      return wire.reset();
    case "hang":
      return await closed(response);
    case "truncate":
      // An empty body cannot be cut: one byte more is announced than comes.
      response.writeHead(status, {
        ...unsized,
        "content-length": String(Math.max(1, body.length)),
      });
      response.flushHeaders();
      await write(body.subarray(0, part(body, fault.bytes)));
      return wire.reset();
    case "stall":
      response.writeHead(status, {
        ...unsized,
        "content-length": String(Math.max(1, body.length)),
      });
      response.flushHeaders();
      await write(body.subarray(0, part(body, fault.bytes)));
      return await closed(response);
    case "slow-loris":
      response.writeHead(status, lengthOf(body.length)).flushHeaders();
      return await dribble(response, body, fault.intervalMs, () => pass(fault.virtualMs ?? 0));
    case "gzip-bomb":
      response.writeHead(status, { ...unsized, "content-encoding": "gzip" });
      return await inflate(response, fault.bytes);
    case "endless":
      response.writeHead(status, unsized);
      await write(body);
      for (let left = fault.bytes ?? Number.POSITIVE_INFINITY; left > 0; left -= blanks.length)
        if (!(await write(blanks))) return;
      return wire.reset();
    case "content-length":
      response.writeHead(status, {
        ...unsized,
        "content-length": String(Math.max(0, body.length + fault.offBy)),
      });
      response.flushHeaders();
      await write(body);
      return wire.end();
    case "chunks":
      response.writeHead(status, unsized);
      for (let at = 0; at < body.length; at += fault.bytes)
        if (!(await write(body.subarray(at, at + fault.bytes)))) return;
      response.end();
      return await closed(response, "finish");
    default:
      return fault satisfies never;
  }
}

/** How much of a cut body comes: never all of it. Default half. */
const part = (body: Buffer, bytes = body.length >> 1) =>
  Math.max(0, Math.min(bytes, body.length - 1));

/**
 * Resolves when the piece has left this process: nothing is buffered for a client that does not
 * read. False: the client is gone.
 */
function written(response: ServerResponse, piece: Buffer): Promise<boolean> {
  if (response.destroyed) return Promise.resolve(false);
  if (piece.length === 0) return Promise.resolve(true);
  return new Promise((resolve) => {
    const onClose = () => resolve(false);
    response.once("close", onClose);
    response.write(piece, (error) => {
      response.off("close", onClose);
      resolve(!error);
    });
  });
}

function closed(response: ServerResponse, ...earlier: readonly "finish"[]): Promise<void> {
  if (response.destroyed || response.writableFinished) return Promise.resolve();
  return new Promise((resolve) => {
    for (const event of ["close", ...earlier] as const) response.once(event, () => resolve());
  });
}

function dribble(
  response: ServerResponse,
  body: Buffer,
  intervalMs: number,
  onByte: () => void,
): Promise<void> {
  let at = 0;
  const timer = setInterval(() => {
    onByte();
    if (at < body.length) response.write(body.subarray(at, ++at));
    if (at >= body.length) response.end();
  }, intervalMs);
  response.once("finish", () => clearInterval(timer));
  response.once("close", () => clearInterval(timer));
  return closed(response, "finish");
}

/**
 * A gzip file may consist of any number of members (RFC 1952 section 2.2): one is sent again and
 * again.
 */
async function inflate(response: ServerResponse, bytes: number): Promise<void> {
  const member = bytes >= memberBytes ? gzipSync(Buffer.alloc(memberBytes, " ")) : Buffer.alloc(0);
  for (let left = bytes; left >= memberBytes; left -= memberBytes)
    if (!(await written(response, member))) return;
  response.end(gzipSync(Buffer.alloc(bytes % memberBytes, " ")));
  await closed(response, "finish");
}
