/**
 * Servers that flood whoever asks them: the relay on the way to a worker, and the client of a
 * destination, which runs in the host.
 */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { createVictim, longestTurnMs } from "./exhaustion-case.ts";

const meet = createVictim();

const message = (type: string, body: Buffer | string) => {
  const bytes = Buffer.from(body as string);
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeUInt32BE(4 + bytes.length, 1);
  return Buffer.concat([head, bytes]);
};
const columns = (count: number) => {
  const field = Buffer.alloc(2 + 18);
  field.write("c");
  field.writeUInt32BE(25, 2 + 6);
  const head = Buffer.alloc(2);
  head.writeUInt16BE(count);
  return message("T", Buffer.concat([head, ...Array<Buffer>(count).fill(field)]));
};
const row = (count: number) => {
  const body = Buffer.alloc(2 + 4 * count, 0xff);
  body.writeUInt16BE(count);
  return message("D", body);
};
const session = Buffer.concat([message("R", Buffer.alloc(4)), message("Z", "I")]);
const done = Buffer.concat([message("C", "SET\0"), message("Z", "I")]);

/** What a PostgreSQL server says to a client, again and again; the first of it once. */
const floods: Readonly<Record<string, readonly [first: Buffer, next: Buffer]>> = {
  rows: [columns(1), row(1)],
  "rows-without-columns": [columns(0), row(0)],
  "rows-of-many-columns": [columns(1_600), row(1_600)],
  "columns-again": [columns(1), columns(1_600)],
  notices: [Buffer.alloc(0), message("N", "SNOTICE\0Mm\0\0")],
  settings: [Buffer.alloc(0), message("S", "TimeZone\0UTC\0")],
  notifications: [Buffer.alloc(0), message("A", "\0\0\0\x01c\0p\0")],
  ends: [Buffer.alloc(0), message("Z", "I")],
  "large-rows": [columns(1), message("D", `\0\x01\0\x0f\x42\x40${"x".repeat(1_000_000)}`)],
  "large-notices": [Buffer.alloc(0), message("N", `SNOTICE\0M${"x".repeat(1_000_000)}\0\0`)],
  errors: [Buffer.alloc(0), message("E", `SERROR\0C42601\0M${"m".repeat(1_000)}\0\0`)],
};

const MiB = 1024 * 1024;
/** Says a flood of so many bytes, and ends. */
function flood(socket: Socket, [first, next]: readonly [Buffer, Buffer]) {
  const many = Buffer.concat(
    Array<Buffer>(Math.max(1, Math.floor((64 * 1024) / next.length))).fill(next),
  );
  let left = 64 * MiB;
  socket.write(first);
  const go = () => {
    while (!socket.destroyed && left > 0) {
      left -= many.length;
      if (!socket.write(many)) return void socket.once("drain", go);
    }
    socket.end();
  };
  go();
}

const servers: { close(): void }[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});
async function startServer(answer: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    answer(socket);
  }).listen(0, "127.0.0.1");
  servers.push(server);
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** Lets the host log in, and floods the first command after that. */
const startPostgres = (attack: string) =>
  startServer((socket) =>
    socket.once("data", () => {
      socket.write(session);
      socket.once("data", () => {
        socket.write(done);
        socket.once("data", () => flood(socket, floods[attack] as [Buffer, Buffer]));
      });
    }),
  );

const hungUp = "CONNECTION_FAILED reset";
const noRow = "DATABASE_UNUSABLE a row that was written cannot be read";

test.each<[attack: string, outcome: string]>([
  ["rows", hungUp],
  ["rows-without-columns", hungUp],
  ["rows-of-many-columns", hungUp],
  ["columns-again", hungUp],
  ["notices", hungUp],
  ["settings", hungUp],
  ["notifications", hungUp],
  ["ends", noRow],
  ["large-rows", hungUp],
  ["large-notices", hungUp],
  ["errors", hungUp],
])("a destination asks, and is answered with %s: %s", async (attack, outcome) => {
  const port = await startPostgres(attack);
  const [met] = await meet("destination", attack, [1], port);
  expect(met?.outcome).toBe(outcome);
  expect(met?.busyMs).toBeLessThan(longestTurnMs);
  expect(met?.grownMb).toBeLessThan(400);
});

test.each([
  "rows",
  "rows-without-columns",
  "notices",
  "settings",
  "large-rows",
])("a worker asks PostgreSQL, and is answered with %s: they go on to it", async (attack) => {
  const port = await startPostgres(attack);
  const [met] = await meet("postgres", attack, [1], port);
  expect(met?.outcome).toBe("succeeded");
  expect(met?.busyMs).toBeLessThan(longestTurnMs);
  expect(met?.grownMb).toBeLessThan(400);
});

const packet = (sequence: number, payload: Buffer) => {
  const head = Buffer.alloc(4);
  head.writeUIntLE(payload.length, 0, 3);
  head[3] = sequence;
  return Buffer.concat([head, payload]);
};
const mysqlGreeting = () => {
  const numbers = Buffer.alloc(19);
  numbers.writeUInt16LE(0xa205, 1);
  numbers.writeUInt16LE(0x8, 6);
  numbers[8] = 21;
  const parts = [
    Buffer.from("\n8.4.0\0\0\0\0\0abcdefgh"),
    numbers,
    Buffer.from("ijklmnopqrst\0mysql_native_password\0"),
  ];
  return packet(0, Buffer.concat(parts));
};
const ok = Buffer.from([0, 0, 0, 2, 0, 0, 0]);

test.each<[string, Buffer]>([
  ["rows of nothing", packet(1, Buffer.alloc(0))],
  ["rows of 64 KiB", packet(1, Buffer.alloc(65_000, 0xfb))],
])("a worker asks MySQL, and is answered with %s: they go on to it", async (_, next) => {
  const port = await startServer((socket) => {
    socket.write(mysqlGreeting());
    socket.once("data", () => {
      socket.write(packet(2, ok));
      socket.once("data", () => {
        socket.write(packet(1, ok));
        socket.once("data", () => flood(socket, [Buffer.alloc(0), next]));
      });
    });
  });
  const [met] = await meet("mysql", "rows", [1], port);
  expect(met?.outcome).toBe("succeeded");
  expect(met?.busyMs).toBeLessThan(longestTurnMs);
  expect(met?.grownMb).toBeLessThan(400);
});
