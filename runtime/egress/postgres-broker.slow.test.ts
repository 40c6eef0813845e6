import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createCertificateAuthority } from "../../simulators/certificates.ts";
import {
  findPostgres,
  type PostgresDatabase,
  type PostgresServer,
  startPostgres,
} from "../../simulators/postgres-server.ts";
import { soon } from "../../tests/soon.ts";
import { postgres } from "../contract/egress.ts";
import { createSecretRegistry } from "../filter/secrets.ts";
import { systemClock } from "../host/clock.ts";
import { createPostgresBroker } from "./postgres-broker.ts";

const password = "q7Zt3LmX9aRk 2VwB'8nYc";
const declaration = postgres({
  host: "host",
  port: "port",
  database: "database",
  username: "username",
  password: "password",
  sslMode: "ssl_mode",
  sslRootCertificate: "ssl_root_certificate",
});

let server: PostgresServer;
let database: PostgresDatabase;
beforeAll(async () => {
  server = await startPostgres();
  database = await server.createDatabase();
  const quoted = `'${password.replaceAll("'", "''")}'`;
  await database.query(
    ["reader", "tls_only", "plain_only", "clear_user"]
      .map((role) => `CREATE ROLE ${role} LOGIN PASSWORD ${quoted}`)
      .join(";") +
      `; SET password_encryption = md5; CREATE ROLE md5_user LOGIN PASSWORD ${quoted};
       CREATE TABLE t (id int, v text); INSERT INTO t SELECT i, repeat('x', 1000) FROM generate_series(1, 20000) i;
       GRANT SELECT, INSERT ON t TO reader`,
  );
});
afterAll(() => server?.stop());

function createBroker(
  config: Record<string, string | number> = {},
  allowNetworks: readonly string[] = ["127.0.0.1/32"],
  databaseNetworks: readonly string[] = [],
) {
  const secrets = createSecretRegistry();
  const whole = {
    host: server.host,
    port: server.port,
    database: database.name,
    username: "reader",
    password,
    ssl_mode: "disable",
    ...config,
  };
  const broker = createPostgresBroker({
    declaration,
    config: whole,
    secrets,
    clock: systemClock,
    settings: { approvedHosts: [], allowNetworks, databaseNetworks },
    seams: { resolve: async () => [{ address: "127.0.0.1", family: 4 }] },
  });
  const cancelling = new AbortController();
  return {
    broker,
    secrets,
    cancel: () => cancelling.abort(),
    connect: () => broker.connect(cancelling.signal),
    /** A session with a client on it, which knows no password. */
    async client(): Promise<Client> {
      const stream = await broker.connect(cancelling.signal);
      const client = new Client({
        stream: () => asSocket(stream),
        ssl: false,
        user: "anyone",
        database: "any",
      });
      client.on("error", () => {});
      await client.connect();
      return client;
    },
    [Symbol.asyncDispose]: () => broker.close(),
  };
}

const asSocket = (stream: Duplex) =>
  Object.assign(stream, {
    connect: () => void process.nextTick(() => stream.emit("connect")),
    setNoDelay() {},
    ref() {},
    unref() {},
  });

/** `once` would reject when the stream ends with an error. */
const closed = (stream: Duplex) => new Promise<void>((resolve) => stream.once("close", resolve));

/** The outcome of one connect: the session's encryption, or the error's code and reason. */
async function outcome(
  config: Record<string, string | number>,
  allowNetworks?: readonly string[],
  databaseNetworks?: readonly string[],
): Promise<string> {
  await using run = createBroker(config, allowNetworks, databaseNetworks);
  try {
    const client = await run.client();
    const { rows } = await client.query("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()");
    return rows[0].ssl ? "tls" : "plain";
  } catch (error) {
    const { code, details } = error as {
      code: string;
      details: { reason?: string; phase?: string };
    };
    expect(String(error)).not.toContain("q7Zt3");
    return [code, details?.reason].filter(Boolean).join(": ");
  }
}

/** A TCP server that answers as it is told. */
async function startRogue(answer: (socket: Socket) => void) {
  const rogue = createServer((socket) => {
    socket.on("error", () => {});
    answer(socket);
  }).listen(0, "127.0.0.1");
  await once(rogue, "listening");
  return {
    port: (rogue.address() as AddressInfo).port,
    [Symbol.dispose]: () => void rogue.close(),
  };
}

const message = (type: string, body: Buffer) => {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeUInt32BE(4 + body.length, 1);
  return Buffer.concat([head, body]);
};
const authentication = (method: number) => message("R", Buffer.from([0, 0, 0, method]));

describe.skipIf(findPostgres() === undefined)("the broker of a PostgreSQL connector", () => {
  describe("ssl modes", () => {
    const db = "db.example.test";
    test.each([
      ["disable", "reader", "plain"],
      ["allow", "reader", "plain"],
      ["prefer", "reader", "tls"],
      ["require", "reader", "tls"],
      ["disable", "tls_only", "CREDENTIALS_REJECTED"],
      ["allow", "tls_only", "tls"],
      ["prefer", "plain_only", "plain"],
      ["require", "plain_only", "CREDENTIALS_REJECTED"],
    ])("%s as %s: %s", async (ssl_mode, username, expected) => {
      expect(await outcome({ ssl_mode, username })).toBe(expected);
    });

    test("verify-ca wants a trusted certificate, verify-full also one for this host", async () => {
      const trusted = { ssl_root_certificate: server.caPem };
      const otherAuthority = { ssl_root_certificate: (await createCertificateAuthority()).caPem };
      expect(await outcome({ ssl_mode: "verify-full", host: db, ...trusted })).toBe("tls");
      // 127.0.0.1 is in it too
      expect(await outcome({ ssl_mode: "verify-full", ...trusted })).toBe("tls");
      expect(
        await outcome({ ssl_mode: "verify-full", host: "other.example.test", ...trusted }),
      ).toBe("TLS_FAILED: certificate for another host");
      expect(await outcome({ ssl_mode: "verify-ca", host: "other.example.test", ...trusted })).toBe(
        "tls",
      );
      for (const ssl_mode of ["verify-ca", "verify-full", "require"]) {
        expect(await outcome({ ssl_mode, host: db, ...otherAuthority })).toMatch(
          /^TLS_FAILED: certificate/,
        );
      }
      expect(await outcome({ ssl_mode: "verify-full", host: db })).toMatch(
        /^TLS_FAILED: certificate/,
      );
      for (const ssl_mode of ["verify-full", "disable"])
        expect(() => createBroker({ ssl_mode, host: db, ssl_root_certificate: "no PEM" })).toThrow(
          expect.objectContaining({
            code: "CONFIG_INVALID",
            details: expect.objectContaining({ path: "ssl_root_certificate" }),
          }),
        );
    });

    test("a server without TLS is used by prefer and refused by require", async () => {
      await using plain = await startPostgres({ settings: { ssl: "off" } });
      const there = {
        port: plain.port,
        database: "postgres",
        username: "postgres",
        password: plain.password,
      };
      expect(await outcome({ ...there, ssl_mode: "prefer" })).toBe("plain");
      expect(await outcome({ ...there, ssl_mode: "require" })).toBe(
        "TLS_FAILED: the server does not offer TLS",
      );
    });

    test("plain text slipped in before TLS is refused", async () => {
      using rogue = await startRogue((socket) => socket.once("data", () => socket.write("Sevil")));
      expect(await outcome({ port: rogue.port, ssl_mode: "prefer" })).toBe(
        "CONNECTION_FAILED: this is not a PostgreSQL server",
      );
    });
  });

  describe("login", () => {
    test.each(["reader", "md5_user", "clear_user"])("works for %s", async (username) => {
      expect(await outcome({ username })).toBe("plain");
    });

    test("failures say who must act", async () => {
      expect(await outcome({ password: "wrong-password" })).toBe("CREDENTIALS_REJECTED");
      expect(await outcome({ username: "md5_user", password: "wrong-password" })).toBe(
        "CREDENTIALS_REJECTED",
      );
      expect(await outcome({ username: "nobody" })).toBe("CREDENTIALS_REJECTED");
      expect(await outcome({ database: "missing" })).toBe("DATABASE_UNUSABLE: it does not exist");
      await database.query("CREATE DATABASE closed_database");
      await database.query("REVOKE CONNECT ON DATABASE closed_database FROM PUBLIC");
      expect(await outcome({ database: "closed_database" })).toBe(
        "PERMISSION_DENIED: connecting to the database",
      );
      expect(await outcome({}, [])).toBe("ADDRESS_REFUSED");
      expect(await outcome({}, [], ["127.0.0.1/32"])).toBe("plain");
      expect(await outcome({ host: "no host" })).toBe("HOST_UNKNOWN");
    });

    test("a wrong password is tried once, whatever the ssl mode", async () => {
      for (const ssl_mode of ["allow", "prefer"]) {
        await using run = createBroker({ ssl_mode, password: "wrong-password" });
        await expect(run.connect()).rejects.toMatchObject({ code: "CREDENTIALS_REJECTED" });
        expect(run.broker.requestCount).toBe(1);
      }
    });

    test("whatever another server says becomes an error, never a crash", async () => {
      const answers: [string, Buffer][] = [
        [
          "CONNECTION_FAILED: this is not a PostgreSQL server",
          Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n"),
        ],
        [
          "DATABASE_UNUSABLE: the server asks for an authentication method other than SCRAM, MD5 or password",
          authentication(7),
        ],
        ["CONNECTION_FAILED: this is not a PostgreSQL server", message("K", Buffer.alloc(0))],
        [
          "DATABASE_UNUSABLE: the server did not complete the authentication",
          message("R", Buffer.from("\0\0\0\nSCRAM-UNKNOWN\0\0")),
        ],
        [
          "DATABASE_UNUSABLE: SQLSTATE XX000",
          message("E", Buffer.from("SFATAL\0CXX000\0Mq7Zt3 echoed\0\0")),
        ],
        ["CONNECTION_FAILED: reset", message("E", Buffer.from("SFATAL\0Ctoo long a code\0M\0\0"))],
      ];
      for (const [expected, answer] of answers) {
        using rogue = await startRogue((socket) => socket.once("data", () => socket.write(answer)));
        expect(await outcome({ port: rogue.port })).toBe(expected);
      }
      using silent = await startRogue((socket) => socket.destroy());
      expect(await outcome({ port: silent.port })).toBe("CONNECTION_FAILED: reset");
    });

    test("a setting that is missing is named", () => {
      expect(() => createBroker({ password: "" })).toThrow(
        expect.objectContaining({ code: "CONFIG_INVALID" }),
      );
      expect(() => createBroker({ ssl_mode: "sometimes" })).toThrow(
        expect.objectContaining({ code: "CONFIG_INVALID" }),
      );
    });
  });

  describe("session", () => {
    test("a client starts on it without a password and learns the server's settings; it cannot write by accident", async () => {
      await using run = createBroker();
      const client = await run.client();
      const { rows } = await client.query(
        "SELECT current_user AS role, current_setting('transaction_read_only') AS read_only",
      );
      expect(rows).toEqual([{ role: "reader", read_only: "on" }]);
      await expect(client.query("INSERT INTO t VALUES (0, '')")).rejects.toMatchObject({
        code: "25006",
      });
    });

    test("the password is a secret of the run and never comes to the client's side", async () => {
      await using run = createBroker({ username: "clear_user" });
      expect(run.secrets.contains(Buffer.from(password))).toBe(true);
      const stream = await run.connect();
      const received: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => received.push(chunk));
      const startup = Buffer.from("\0\0\0\0\0\x03\0\0user\0anyone\0\0", "latin1");
      startup.writeUInt32BE(startup.length, 0);
      stream.write(startup);
      stream.write(message("Q", Buffer.from("SELECT 1\0")));
      stream.write(message("X", Buffer.alloc(0)));
      await closed(stream);
      const bytes = Buffer.concat(received);
      expect(run.secrets.contains(bytes)).toBe(false);
      // BackendKeyData: with zeros nothing can be cancelled
      const at = bytes.indexOf("K\0\0\0\x0c", 0, "latin1");
      expect(bytes.subarray(at + 5, at + 13)).toEqual(Buffer.alloc(8));
      expect(bytes.includes("server_version")).toBe(true);
      expect(bytes.includes("SELECT 1")).toBe(true); // the command tag: the query went through
    });

    test("requests for encryption are answered with no, also byte by byte", async () => {
      await using run = createBroker();
      const stream = await run.connect();
      const startup = Buffer.from("\0\0\0\0\0\x03\0\0user\0anyone\0\0", "latin1");
      startup.writeUInt32BE(startup.length, 0);
      const asks = Buffer.concat([
        Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f, 0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x30]),
        startup,
      ]);
      for (const byte of asks) stream.write(Buffer.from([byte]));
      let answer = Buffer.alloc(0);
      for await (const chunk of stream) {
        answer = Buffer.concat([answer, chunk as Buffer]);
        if (answer.includes("Z\0\0\0\x05I", 0, "latin1")) break;
      }
      expect(answer.subarray(0, 3).toString()).toBe("NNR");
    });

    test("a cancel request ends the stream and reaches no server", async () => {
      await using run = createBroker();
      const busy = await run.client();
      const sleeping = busy.query("SELECT pg_sleep(60)");
      sleeping.catch(() => {});
      const [backend] = await database.query(
        "SELECT pid FROM pg_stat_activity WHERE usename = 'reader'",
      );
      const stream = await run.connect();
      const cancel = Buffer.alloc(16);
      for (const [index, word] of [16, 80_877_102, Number(backend?.pid), 0].entries())
        cancel.writeUInt32BE(word, 4 * index);
      stream.write(cancel);
      await closed(stream);
      const [state] = await database.query(
        `SELECT state, wait_event FROM pg_stat_activity WHERE pid = ${backend?.pid}`,
      );
      expect(state).toEqual({ state: "active", wait_event: "PgSleep" });
      await database.query(`SELECT pg_terminate_backend(${backend?.pid})`);
    });

    test("large results pass unchanged to a slow reader", async () => {
      await using run = createBroker({ ssl_mode: "require" });
      const client = await run.client();
      const { rows } = await client.query<{ id: number; v: string }>("SELECT * FROM t ORDER BY id");
      expect(rows).toHaveLength(20_000);
      expect(rows.every(({ id, v }, index) => id === index + 1 && v === "x".repeat(1000))).toBe(
        true,
      );
    });

    test("a reader that stops stops the server", async () => {
      await using run = createBroker();
      const client = await run.client();
      const stream = client.connection.stream;
      const querying = client.query("SELECT repeat('x', 1000000) FROM generate_series(1, 500)");
      querying.catch(() => {});
      await once(stream, "data");
      stream.pause();
      // The server is blocked on its socket once the buffers between are full.
      await expect
        .poll(
          () => database.query("SELECT wait_event FROM pg_stat_activity WHERE usename = 'reader'"),
          soon,
        )
        .toContainEqual({ wait_event: "ClientWrite" });
      expect(stream.readableLength).toBeLessThan(4 * 1024 * 1024);
    });

    test("what the server says last is still heard", async () => {
      await using run = createBroker();
      const client = await run.client();
      const failing = client.query("SELECT pg_sleep(60) AS last_words");
      failing.catch(() => {});
      await expect
        .poll(() =>
          database.query(
            "SELECT count(pg_terminate_backend(pid))::int AS ended FROM pg_stat_activity WHERE usename = 'reader' AND query LIKE '%last_words%'",
          ),
        )
        .toEqual([{ ended: 1 }]);
      await expect(failing).rejects.toMatchObject({ code: "57P01" });
    });

    test("four at a time; one that ended makes room", async () => {
      await using run = createBroker();
      const clients = await Promise.all([1, 2, 3, 4].map(() => run.client()));
      await expect(run.connect()).rejects.toMatchObject({ code: "CONNECTOR_PROTOCOL" });
      const stream = clients[0]?.connection.stream;
      await Promise.all([clients[0]?.end(), stream && closed(stream)]);
      await run.client();
    });

    test("close ends every session, and later ones are refused", async () => {
      const run = createBroker({ ssl_mode: "require" });
      const client = await run.client();
      const ended = new Promise<void>((resolve) => client.once("end", resolve));
      await run.broker.close();
      await ended;
      await expect(run.connect()).rejects.toMatchObject({ code: "CANCELLED" });
      await expect
        .poll(() => database.query("SELECT 1 FROM pg_stat_activity WHERE usename = 'reader'"))
        .toEqual([]);
    });

    test("cancelling while a server is silent ends the connect", async () => {
      using silent = await startRogue(() => {});
      await using run = createBroker({ port: silent.port, ssl_mode: "require" });
      const connecting = run.connect();
      run.cancel();
      await expect(connecting).rejects.toMatchObject({ code: "CANCELLED" });
    });

    test("it makes no HTTP requests", async () => {
      await using run = createBroker();
      await expect(
        run.broker.request({ method: "GET", path: [] }, new AbortController().signal),
      ).rejects.toMatchObject({ code: "INTERNAL" });
    });
  });
});
