/**
 * The commands that a worker may say in a session of streaming replication: to read one logical
 * slot, nothing else. The protocol has commands that no SQL session has, such as a copy of the
 * whole server.
 * @see https://www.postgresql.org/docs/current/protocol-replication.html (read 2026-11)
 */

/** Types of a client's messages. */
const kinds = { query: 0x51, copyData: 0x64, copyDone: 0x63, terminate: 0x58 };
const headBytes = 5;
/** No command here is longer. */
const maxMessageBytes = 2_000;
/** Status of a standby: what it has written, flushed and applied. */
const statusBytes = 34;
const status = 0x72;

const name = "[a-z0-9_]{1,63}";
const formats =
  "datestyle|timezone|intervalstyle|extra_float_digits|bytea_output|lc_monetary|idle_in_transaction_session_timeout";

/** The commands, whole. A group `slot` is the slot, and `own` one that ends with the session. */
const commands = [
  /^IDENTIFY_SYSTEM$/,
  new RegExp(`^SET (?:${formats}) TO '[A-Za-z0-9_, ]{0,40}'$`),
  new RegExp(
    `^CREATE_REPLICATION_SLOT (?:"(?<slot>${name})"|"(?<own>${name})" TEMPORARY) LOGICAL pgoutput (?:NOEXPORT|EXPORT)_SNAPSHOT$`,
  ),
  new RegExp(
    `^START_REPLICATION SLOT "(?<slot>${name})" LOGICAL [0-9A-F]{1,8}/[0-9A-F]{1,8} \\(proto_version '1', publication_names '"${name}"'\\)$`,
  ),
  new RegExp(`^DROP_REPLICATION_SLOT "(?<slot>${name})"$`),
];

/**
 * Watches what a client sends, in chunks of whole messages: half a message cannot be judged.
 * @param slot the slot that it may read, make and drop; temporary ones, which it may only make,
 * have names that begin with it
 * @returns a function that says whether the next bytes may be passed on
 */
export function createReplicationGate(slot: string): (chunk: Buffer) => boolean {
  return (chunk) => {
    for (let at = 0; at < chunk.length; ) {
      if (chunk.length - at < headBytes) return false;
      const end = at + 1 + chunk.readUInt32BE(at + 1);
      if (end - at < headBytes || end - at > maxMessageBytes || end > chunk.length) return false;
      if (!isAllowed(chunk.subarray(at, end), slot)) return false;
      at = end;
    }
    return true;
  };
}

function isAllowed(message: Buffer, slot: string): boolean {
  const body = message.subarray(headBytes);
  switch (message[0]) {
    case kinds.terminate:
    case kinds.copyDone:
      return body.length === 0;
    case kinds.copyData:
      return body.length === statusBytes && body[0] === status;
    case kinds.query:
      return isCommand(body, slot);
    default:
      return false;
  }
}

function isCommand(body: Buffer, slot: string): boolean {
  const text = body.toString("latin1");
  if (!text.endsWith("\0")) return false;
  return commands.some((command) => {
    const match = command.exec(text.slice(0, -1));
    const { slot: named = slot, own = `${slot}_` } = match?.groups ?? {};
    return match !== null && named === slot && own.startsWith(`${slot}_`);
  });
}
