/** A PostgreSQL server that says more than a host can hold, before a session begins and in it. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { expect, test } from "vitest";
import { budgets } from "../contract/budgets.ts";
import { postgres } from "../contract/egress.ts";
import { createSecretRegistry } from "../filter/secrets.ts";
import { systemClock } from "../host/clock.ts";
import { createPostgresBroker } from "./postgres-broker.ts";
import { createAnswerGauge } from "./postgres-messages.ts";

const message = (type: string, body: Buffer | string) => {
  const bytes = Buffer.from(body as string);
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeUInt32BE(4 + bytes.length, 1);
  return Buffer.concat([head, bytes]);
};
const authenticated = message("R", Buffer.alloc(4));
const ready = message("Z", "I");
const declaration = postgres({
  host: "host",
  port: "port",
  database: "database",
  username: "username",
  password: "password",
  sslMode: "ssl_mode",
});

/** A server that answers as `answer` says; it knows how much it could say. */
async function startServer(answer: (socket: Socket, say: (bytes: Buffer) => boolean) => void) {
  let saidBytes = 0;
  const server = createServer((socket) => {
    socket.on("error", () => {});
    answer(socket, (bytes) => {
      if (socket.destroyed) return false;
      saidBytes += bytes.length;
      return socket.write(bytes);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    saidBytes: () => saidBytes,
    [Symbol.dispose]: () => void server.close(),
  };
}

/** Says `next` again and again, as fast as it is taken. */
function flood(socket: Socket, say: (bytes: Buffer) => boolean, next: (turn: number) => Buffer) {
  let turn = 0;
  const go = () => {
    while (!socket.destroyed) if (!say(next(turn++))) return void socket.once("drain", go);
  };
  go();
}

function connect(port: number, mayWrite = false): Promise<Duplex> {
  const broker = createPostgresBroker({
    declaration,
    config: {
      host: "db.example.test",
      port,
      database: "d",
      username: "u",
      password: "q7Zt3LmX9aRk",
      ssl_mode: "disable",
    },
    secrets: createSecretRegistry(),
    clock: systemClock,
    settings: { approvedHosts: [], allowNetworks: ["127.0.0.1/32"] },
    seams: { resolve: async () => [{ address: "127.0.0.1", family: 4 }] },
    mayWrite,
  });
  return broker.connect(new AbortController().signal);
}

const startup = (() => {
  const text = Buffer.from("\0\0\0\0\0\x03\0\0user\0anyone\0\0", "latin1");
  text.writeUInt32BE(text.length, 0);
  return text;
})();

test.each<[string, (turn: number) => Buffer]>([
  ["settings without end", (turn) => message("S", `name${turn}\0${"x".repeat(100)}\0`)],
  ["settings that are long", (turn) => message("S", `name${turn}\0${"x".repeat(60_000)}\0`)],
  ["notices without end", () => message("N", `SNOTICE\0M${"x".repeat(1_000)}\0\0`)],
  ["a message that is long", () => message("N", Buffer.alloc(16 * 1024 * 1024))],
  ["one byte after the other", () => Buffer.from([0x4e])],
])("a log-in ends that is answered with %s", async (_, next) => {
  using server = await startServer((socket, say) =>
    socket.once("data", () => {
      say(authenticated);
      flood(socket, say, next);
    }),
  );
  await expect(connect(server.port)).rejects.toMatchObject({ code: "CONNECTION_FAILED" });
  // Bytes in the buffers of both sides and of the system count, too.
  expect(server.saidBytes()).toBeLessThan(32 * 1024 * 1024);
});

test("rows in answer to the host's own command end the log-in", async () => {
  using server = await startServer((socket, say) =>
    socket.once("data", () => {
      say(Buffer.concat([authenticated, ready]));
      socket.once("data", () =>
        flood(socket, say, () => message("D", Buffer.from("\0\x01\0\0\0\x01x", "latin1"))),
      );
    }),
  );
  await expect(connect(server.port)).rejects.toMatchObject({ code: "CONNECTION_FAILED" });
});

test("a client in the host is cut off from an answer that does not end", async () => {
  using server = await startServer((socket, say) =>
    socket.once("data", () => {
      say(Buffer.concat([authenticated, ready]));
      socket.once("data", () => flood(socket, say, () => message("D", Buffer.alloc(1_000_000))));
    }),
  );
  const session = await connect(server.port, true);
  let received = 0;
  session.on("data", (chunk: Buffer) => {
    received += chunk.length;
  });
  session.write(Buffer.concat([startup, message("Q", "SELECT 1\0")]));
  await new Promise((resolve) => session.once("close", resolve));
  expect(received).toBeGreaterThan(1_000_000);
  expect(received).toBeLessThan(budgets.databaseAnswers.together + 2_000_000);
});

test("one in the sandbox is not: it has a limit of memory, and reads as it can", async () => {
  const rows = Buffer.concat([
    message("D", Buffer.alloc(1_000)),
    message("C", "SELECT 1\0"),
    ready,
  ]);
  using server = await startServer((socket, say) =>
    socket.once("data", () => {
      say(Buffer.concat([authenticated, ready]));
      socket.once("data", () => {
        say(Buffer.concat([message("C", "SET\0"), ready]));
        socket.once("data", () => say(rows));
      });
    }),
  );
  const session = await connect(server.port);
  session.write(Buffer.concat([startup, message("Q", "SELECT 1\0")]));
  let received: Buffer = Buffer.alloc(0);
  for await (const chunk of session) {
    received = Buffer.concat([received, chunk as Buffer]);
    if (received.includes("SELECT 1")) break;
  }
  expect(received.includes(rows.subarray(0, 1_000))).toBe(true);
});

test("a gauge counts each answer anew, however its bytes are cut", () => {
  const { bytes, together } = budgets.databaseAnswers;
  const header = (type: string, length: number) => {
    const head = message(type, "");
    head.writeUInt32BE(length, 1);
    return head;
  };
  const gauge = createAnswerGauge();
  const row = message("D", Buffer.alloc(10));
  for (const byte of Buffer.concat([row, row, ready]))
    expect(gauge(Buffer.from([byte]))).toBe(true);
  expect(gauge(header("D", bytes + 1))).toBe(false);
  const long = createAnswerGauge();
  const large = Buffer.alloc(1024 * 1024 - 4 - 128);
  const fill = () => long(message("D", large));
  for (let sum = 0; sum + 1024 * 1024 <= together; sum += 1024 * 1024) expect(fill()).toBe(true);
  expect(long(ready)).toBe(true);
  expect(fill()).toBe(true);
});

test("a gauge counts what a client keeps of a row of nothing", () => {
  const rows = Buffer.concat(Array<Buffer>(10_000).fill(message("D", Buffer.alloc(2))));
  const gauge = createAnswerGauge();
  let count = 0;
  while (gauge(rows)) count += 10_000;
  expect(count).toBeGreaterThan(1_500_000);
  expect(count).toBeLessThan(2_500_000);
});
