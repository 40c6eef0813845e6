/**
 * Messages of PostgreSQL's protocol 3.0 as bytes.
 * @see https://www.postgresql.org/docs/current/protocol-message-formats.html (read 2026-07)
 */
import { ConnectorError } from "../contract/errors.ts";

/**
 * Far above any message of a start-up; what claims to be longer is another protocol (`HTTP` read as
 * a length is 1.2 GB).
 */
const maxMessageBytes = 1024 * 1024;

/** Cuts what a server sends during its start-up into whole messages. */
export function createMessageReader() {
  let pending: Buffer = Buffer.alloc(0);
  return {
    /** @throws CONNECTION_FAILED when these are no messages */
    *push(chunk: Buffer): Generator<Buffer, void, undefined> {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      while (pending.length >= 5) {
        const end = 1 + pending.readUInt32BE(1);
        if (end < 5 || end > maxMessageBytes) {
          throw new ConnectorError("CONNECTION_FAILED", {
            reason: "this is not a PostgreSQL server",
          });
        }
        if (pending.length < end) return;
        const message = pending.subarray(0, end);
        pending = pending.subarray(end);
        yield message;
      }
    },
    /** Bytes after the last whole message. */
    rest: (): Buffer => pending,
  };
}

/** A message of the server: type, length, body. */
function toMessage(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type, 0, "latin1");
  head.writeUInt32BE(4 + body.length, 1);
  return Buffer.concat([head, body]);
}

/**
 * The messages of a server to a client that it trusts: AuthenticationOk, its parameters, a
 * BackendKeyData of zeros (with it nothing can be cancelled) and ReadyForQuery.
 */
export function toStartupAnswer(parameters: ReadonlyMap<string, string>): Buffer {
  return Buffer.concat([
    toMessage("R", Buffer.alloc(4)),
    ...[...parameters].map(([name, value]) => toMessage("S", Buffer.from(`${name}\0${value}\0`))),
    toMessage("K", Buffer.alloc(8)),
    toMessage("Z", Buffer.from("I")),
  ]);
}
