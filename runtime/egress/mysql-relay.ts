/**
 * The worker's side of an authenticated session: it starts as any client does and needs no
 * password.
 */
import { randomBytes } from "node:crypto";
import type { Duplex } from "node:stream";
import type { MysqlSession } from "./mysql-login.ts";
import { capability, toPacket, utf8mb4 } from "./mysql-packets.ts";
import { createRelayStream, startupError } from "./relay-stream.ts";

/** The largest answer to a greeting. */
const maxStartupBytes = 10_000;

/** Capabilities of the session: a client that needs more would misread its answers. */
const offered =
  capability.longPassword |
  capability.longFlag |
  capability.withDatabase |
  capability.protocol41 |
  capability.transactions |
  capability.secureConnection |
  capability.pluginAuth |
  capability.longAuth;

/** OK: no rows, no id, autocommit, no warnings. */
const okPayload = Buffer.from([0, 0, 0, 2, 0, 0, 0]);

/**
 * A byte stream on which a client can start: it is greeted as the server greets, and whatever user,
 * password and database it answers with, it is given the session that exists. From then on bytes
 * pass unchanged both ways.
 */
export function createRelay({ socket, version }: MysqlSession): Duplex {
  let startup: Buffer = Buffer.alloc(0);
  return createRelayStream(
    { socket, rest: Buffer.alloc(0) },
    {
      greeting: toPacket({ sequence: 0, payload: greetingOf(version) }),
      take(chunk) {
        startup = Buffer.concat([startup, chunk]);
        if (startup.length < 4) return { answer: Buffer.alloc(0) };
        const length = startup.readUIntLE(0, 3);
        if (length < 32 || length > maxStartupBytes || startup[3] !== 1) return startupError();
        if (startup.length < 4 + length) return { answer: Buffer.alloc(0) };
        // TLS, compression and other forms of answers were not offered.
        if ((startup.readUInt32LE(4) & ~offered) !== 0) return startupError();
        const answer = toPacket({ sequence: 2, payload: okPayload });
        return { answer, left: startup.subarray(4 + length) };
      },
    },
  );
}

function greetingOf(version: string): Buffer {
  const challenge = Buffer.from(randomBytes(20).map((byte) => (byte % 127) + 1));
  const numbers = Buffer.alloc(19);
  numbers.writeUInt16LE(offered & 0xffff, 1);
  numbers[3] = utf8mb4;
  numbers.writeUInt16LE(2, 4); // autocommit
  numbers.writeUInt16LE(offered >>> 16, 6);
  numbers[8] = challenge.length + 1;
  return Buffer.concat([
    Buffer.from([10]),
    Buffer.from(`${version}\0`, "latin1"),
    Buffer.alloc(4), // with it nothing can be killed
    challenge.subarray(0, 8),
    numbers,
    challenge.subarray(8),
    Buffer.from("\0mysql_native_password\0"),
  ]);
}
