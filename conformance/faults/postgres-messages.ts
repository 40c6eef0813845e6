/**
 * Messages of PostgreSQL's protocol 3.0, as far as the kit reads them between a connector and its
 * database.
 * @see PostgreSQL, section 55.7
 */
import type { DatabaseError } from "../contract/database.ts";

/** Codes in the place of a protocol version. */
export const startupCodes = { cancel: 80_877_102, ssl: 80_877_103, gss: 80_877_104 } as const;

export interface WireMessage {
  /** One letter. */
  readonly type: string;
  /** With its head. */
  readonly bytes: Buffer;
}

/** Takes whole messages out of what has arrived; the rest waits for more. */
export function createMessageSplitter(): (chunk: Buffer) => WireMessage[] {
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  return (chunk) => {
    waiting.push(chunk);
    waitingBytes += chunk.length;
    let all = waiting.length === 1 ? chunk : undefined;
    const first = waiting[0] ?? chunk;
    // A large message that comes in many pieces is put together once.
    if (!all && first.length >= 5 && first.readUInt32BE(1) + 1 > waitingBytes) return [];
    all ??= Buffer.concat(waiting);
    const messages: WireMessage[] = [];
    let at = 0;
    while (all.length - at >= 5) {
      const end = at + 1 + all.readUInt32BE(at + 1);
      if (end > all.length) break;
      messages.push({ type: String.fromCharCode(all[at] ?? 0), bytes: all.subarray(at, end) });
      at = end;
    }
    waiting = at === all.length ? [] : [all.subarray(at)];
    waitingBytes = all.length - at;
    return messages;
  };
}

/** SQL of a Query or Parse message; undefined for every other one. */
export function sqlOf({ type, bytes }: WireMessage): string | undefined {
  if (type !== "Q" && type !== "P") return undefined;
  const texts = bytes.toString("utf8", 5).split("\0");
  return type === "Q" ? texts[0] : texts[1];
}

/** SQLSTATE of an ErrorResponse. */
export function sqlStateOf({ bytes }: WireMessage): string | undefined {
  return bytes
    .toString("utf8", 5)
    .split("\0")
    .find((field) => field.startsWith("C"))
    ?.slice(1);
}

/** ErrorResponse. */
export function errorMessage({ severity, sqlState, message, detail }: DatabaseError): Buffer {
  const fields = [
    `S${severity}`,
    `V${severity}`,
    `C${sqlState}`,
    `M${message}`,
    ...(detail === undefined ? [] : [`D${detail}`]),
  ];
  return framed("E", Buffer.from(`${fields.join("\0")}\0\0`));
}

/** ReadyForQuery. `status`: I idle, T in a transaction, E in one that has failed. */
export const readyMessage = (status: string): Buffer => framed("Z", Buffer.from(status));

function framed(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type, 0, "latin1");
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

/** A start-up packet with another database in it. */
export function withDatabase(packet: Buffer, database: string): Buffer {
  const fields = packet.toString("utf8", 8).split("\0");
  const changed = fields.map((field, at) =>
    at % 2 === 1 && fields[at - 1] === "database" ? database : field,
  );
  const body = Buffer.from(changed.join("\0"));
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length + 8, 0);
  head.writeUInt32BE(packet.readUInt32BE(4), 4);
  return Buffer.concat([head, body]);
}
