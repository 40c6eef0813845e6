/**
 * Messages of PostgreSQL's protocol 3.0 as bytes.
 * @see https://www.postgresql.org/docs/current/protocol-message-formats.html (read 2026-07)
 */
import { budgets } from "../contract/budgets.ts";
import { ConnectorError } from "../contract/errors.ts";

const notPostgres = () =>
  new ConnectorError("CONNECTION_FAILED", { reason: "this is not a PostgreSQL server" });

/**
 * Cuts what a server sends during its start-up into whole messages. All of them together have a
 * budget: a start-up has a few hundred bytes, and what claims to be longer is another protocol
 * (`HTTP` read as a length is 1.2 GB).
 */
export function createMessageReader() {
  let pending: Buffer = Buffer.alloc(0);
  let receivedBytes = 0;
  return {
    /** @throws CONNECTION_FAILED when these are no messages, or too many */
    *push(chunk: Buffer): Generator<Buffer, void, undefined> {
      receivedBytes += chunk.length;
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      while (pending.length >= 5) {
        const end = 1 + pending.readUInt32BE(1);
        if (end < 5 || end > budgets.databaseLogin.bytes) throw notPostgres();
        if (pending.length < end) break;
        const message = pending.subarray(0, end);
        pending = pending.subarray(end);
        yield message;
      }
      if (receivedBytes > budgets.databaseLogin.bytes)
        throw new ConnectorError("CONNECTION_FAILED", {
          reason: "the server says too much before a session begins",
        });
    },
    /** Bytes after the last whole message. */
    rest: (): Buffer => pending,
  };
}

/** The memory that a client keeps of a row besides its bytes: a row of nothing has 7 of them. */
const keptBytes = 128;

/**
 * Watches what a server sends to a client in this process, which keeps each message, and all rows
 * of an answer, until they are whole. A message counts as its bytes and {@link keptBytes}.
 * @returns a function that says whether the next bytes may be passed on
 */
export function createAnswerGauge(): (chunk: Buffer) => boolean {
  const header = Buffer.alloc(5);
  let headerBytes = 0;
  let bodyBytes = 0;
  let answerBytes = 0;
  const { bytes, together } = budgets.databaseAnswers;
  return (chunk) => {
    for (let at = 0; at < chunk.length; ) {
      if (bodyBytes > 0) {
        const passed = Math.min(bodyBytes, chunk.length - at);
        bodyBytes -= passed;
        at += passed;
        continue;
      }
      header[headerBytes++] = chunk[at++] as number;
      if (headerBytes < header.length) continue;
      headerBytes = 0;
      const length = header.readUInt32BE(1);
      bodyBytes = Math.max(0, length - 4);
      answerBytes = header[0] === readyForQuery ? 0 : answerBytes + length + keptBytes;
      if (length > bytes || answerBytes > together) return false;
    }
    return true;
  };
}

/** The end of an answer. */
const readyForQuery = 0x5a;

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
