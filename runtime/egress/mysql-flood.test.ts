/** Servers that are none of MySQL, say too much, or ask for what they should not get. */
import { createHash, generateKeyPairSync, privateDecrypt } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { expect, test } from "vitest";
import { mysql } from "../contract/egress.ts";
import { createSecretRegistry } from "../filter/secrets.ts";
import { systemClock } from "../host/clock.ts";
import { createMysqlBroker } from "./mysql-broker.ts";

const password = "q7Zt3LmX9aRk";
const declaration = mysql({
  host: "host",
  port: "port",
  database: "database",
  username: "username",
  password: "password",
  sslMode: "ssl_mode",
});
const challenge = Buffer.from("abcdefghijklmnopqrst");
const ok = Buffer.from([0, 0, 0, 2, 0, 0, 0]);

function packet(sequence: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeUIntLE(payload.length, 0, 3);
  head[3] = sequence;
  return Buffer.concat([head, payload]);
}

function greeting(plugin: string, flags = 0x8a205): Buffer {
  const numbers = Buffer.alloc(19);
  numbers.writeUInt16LE(flags & 0xffff, 1);
  numbers.writeUInt16LE(flags >>> 16, 6);
  numbers[8] = 21;
  const parts = [
    Buffer.from("\n8.4.0\0\0\0\0\0"),
    challenge.subarray(0, 8),
    numbers,
    challenge.subarray(8),
    Buffer.from(`\0${plugin}\0`),
  ];
  return packet(0, Buffer.concat(parts));
}

/** A server that greets, and then answers each packet as it is told. */
async function startServer(
  hello: Buffer,
  ...answers: readonly ((received: Buffer, socket: Socket) => Buffer)[]
) {
  const received: Buffer[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.write(hello);
    socket.on("data", (chunk: Buffer) => {
      const answer = answers[received.push(chunk) - 1]?.(chunk, socket);
      if (answer) socket.write(answer);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    received,
    [Symbol.dispose]: () => void server.close(),
  };
}

function connect(port: number, ssl_mode = "disable"): Promise<Duplex> {
  const broker = createMysqlBroker({
    declaration,
    config: { host: "db.example.test", port, database: "d", username: "u", password, ssl_mode },
    secrets: createSecretRegistry(),
    clock: systemClock,
    settings: { approvedHosts: [], allowNetworks: ["127.0.0.1/32"] },
    seams: { resolve: async () => [{ address: "127.0.0.1", family: 4 }] },
  });
  return broker.connect(new AbortController().signal);
}

const sha256 = (...parts: readonly Buffer[]) =>
  createHash("sha256").update(Buffer.concat(parts)).digest();

/** Whether an answer proves the password to who has only the hash of its hash. */
function provesPassword(response: Buffer): boolean {
  const at = 4 + 32 + "u\0".length;
  expect(response[at]).toBe(32);
  const answer = response.subarray(at + 1, at + 33);
  const stored = sha256(sha256(Buffer.from(password)));
  const mask = sha256(stored, challenge);
  return sha256(Buffer.from(answer.map((byte, index) => byte ^ (mask[index] as number)))).equals(
    stored,
  );
}

test("caching_sha2_password: a server that knows the password is content with a proof", async () => {
  let isProved = false;
  using server = await startServer(
    greeting("caching_sha2_password"),
    (response) => {
      isProved = provesPassword(response);
      return Buffer.concat([packet(2, Buffer.from([1, 3])), packet(3, ok)]);
    },
    () => packet(1, ok),
  );
  await connect(server.port);
  expect(isProved).toBe(true);
  expect(Buffer.concat(server.received).includes(password)).toBe(false);
  expect(server.received.at(-1)?.toString("latin1", 5)).toBe("SET SESSION TRANSACTION READ ONLY");
});

test("caching_sha2_password: another one gets the password under its own key alone", async () => {
  const keys = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const pem = keys.publicKey.export({ type: "spki", format: "pem" });
  let sent: Buffer = Buffer.alloc(0);
  using server = await startServer(
    greeting("caching_sha2_password"),
    () => packet(2, Buffer.from([1, 4])),
    (asked) => {
      expect(asked).toEqual(packet(3, Buffer.from([2])));
      return packet(4, Buffer.concat([Buffer.from([1]), Buffer.from(pem)]));
    },
    (encrypted) => {
      sent = privateDecrypt({ key: keys.privateKey, oaepHash: "sha1" }, encrypted.subarray(4));
      return packet(6, ok);
    },
    () => packet(1, ok),
  );
  await connect(server.port);
  const mask = Buffer.concat([challenge, challenge]);
  expect(Buffer.from(sent.map((byte, at) => byte ^ (mask[at] as number))).toString()).toBe(
    `${password}\0`,
  );
  expect(Buffer.concat(server.received).includes(password)).toBe(false);
});

const error = (number: number) =>
  Buffer.concat([
    Buffer.from([0xff, number & 0xff, number >>> 8]),
    Buffer.from("#28000q7Zt3 echoed"),
  ]);
const switchTo = (plugin: string) =>
  packet(2, Buffer.concat([Buffer.from(`\xfe${plugin}\0`, "latin1"), challenge, Buffer.alloc(1)]));

test.each<[string, string, Buffer, Buffer?]>([
  [
    "HTTP",
    "CONNECTION_FAILED: this is not a MySQL server",
    Buffer.from("HTTP/1.1 400 Bad\r\n\r\n"),
  ],
  [
    "another version",
    "CONNECTION_FAILED: this is not a MySQL server",
    packet(0, Buffer.from([9, 0])),
  ],
  [
    "a greeting that is cut",
    "CONNECTION_FAILED: this is not a MySQL server",
    packet(0, Buffer.from("\n8.4\0\0")),
  ],
  [
    "no free connection",
    "CONNECTION_FAILED: the server has no free connection",
    packet(0, error(1040)),
  ],
  ["an old server", "DATABASE_UNUSABLE: the server is too old", greeting("x", 0x200)],
  [
    "something behind its greeting",
    "CONNECTION_FAILED: this is not a MySQL server",
    Buffer.concat([greeting("mysql_native_password"), packet(2, ok)]),
  ],
  [
    "a wrong password",
    "CREDENTIALS_REJECTED",
    greeting("mysql_native_password"),
    packet(2, error(1045)),
  ],
  [
    "an unknown error",
    "DATABASE_UNUSABLE: error 4242",
    greeting("mysql_native_password"),
    packet(2, error(4242)),
  ],
  [
    "a wrong sequence",
    "CONNECTION_FAILED: this is not a MySQL server",
    greeting("mysql_native_password"),
    packet(7, ok),
  ],
  [
    "a question for the password itself",
    "DATABASE_UNUSABLE: the server asks for an authentication method other than caching_sha2_password, mysql_native_password or ed25519",
    greeting("mysql_native_password"),
    switchTo("mysql_clear_password"),
  ],
  [
    "a method named as a property is",
    "DATABASE_UNUSABLE: the server asks for an authentication method other than caching_sha2_password, mysql_native_password or ed25519",
    greeting("mysql_native_password"),
    switchTo("constructor"),
  ],
  [
    "a question for a file",
    "CONNECTION_FAILED: this is not a MySQL server",
    greeting("mysql_native_password"),
    packet(2, Buffer.from("\xfb/etc/passwd", "latin1")),
  ],
  [
    "packets without end",
    "CONNECTION_FAILED: the server says too much before a session begins",
    greeting("mysql_native_password"),
    Buffer.alloc(300_000, packet(2, Buffer.alloc(200_000))),
  ],
])("%s in the log-in becomes an error, and gets no password", async (_, expected, hello, answer) => {
  using server = await startServer(hello, () => answer ?? Buffer.alloc(0));
  const failure = await connect(server.port).catch((thrown: unknown) => thrown);
  const { code, details } = failure as { code: string; details: { reason?: string } };
  expect([code, details?.reason].filter(Boolean).join(": ")).toBe(expected);
  expect(String(failure)).not.toContain("q7Zt3");
  expect(Buffer.concat(server.received).includes(password)).toBe(false);
});

test("a server without TLS is refused where it is required, before a word is said", async () => {
  using server = await startServer(greeting("mysql_native_password"));
  await expect(connect(server.port, "require")).rejects.toMatchObject({
    code: "TLS_FAILED",
    details: { reason: "the server does not offer TLS" },
  });
  expect(server.received).toEqual([]);
});

test("a client that wants another form of answers than was agreed on is refused", async () => {
  using server = await startServer(
    greeting("mysql_native_password"),
    () => packet(2, ok),
    () => packet(1, ok),
  );
  const session = await connect(server.port);
  const response = Buffer.alloc(40);
  response.writeUInt32LE(0x0100_0200, 0); // CLIENT_DEPRECATE_EOF
  const closed = new Promise((resolve) => session.once("close", resolve));
  session.write(packet(1, response));
  await closed;
  expect(server.received).toHaveLength(2);
});
