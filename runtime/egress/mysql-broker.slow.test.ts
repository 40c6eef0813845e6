import { createHash } from "node:crypto";
import type { Duplex } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createCertificateAuthority } from "../../simulators/certificates.ts";
import { findMariadb, type MariadbServer, startMariadb } from "../../simulators/mariadb-server.ts";
import { mysql } from "../contract/egress.ts";
import { createSecretRegistry } from "../filter/secrets.ts";
import { systemClock } from "../host/clock.ts";
import { createMysqlBroker } from "./mysql-broker.ts";

const password = "q7Zt3LmX9aRk 2VwB8nYc";
const declaration = mysql({
  host: "host",
  port: "port",
  database: "database",
  username: "username",
  password: "password",
  sslMode: "ssl_mode",
  sslRootCertificate: "ssl_root_certificate",
});

describe.skipIf(findMariadb() === undefined)("the broker of a MySQL connector", () => {
  let server: MariadbServer;
  beforeAll(async () => {
    server = await startMariadb();
    await server.query(`
      CREATE DATABASE shop; CREATE DATABASE other; USE shop;
      CREATE TABLE shop.t (id int PRIMARY KEY, v text);
      INSERT INTO shop.t SELECT seq, repeat('x', 1000) FROM seq_1_to_5000;
      CREATE USER reader IDENTIFIED BY '${password}';
      CREATE USER tls_only IDENTIFIED BY '${password}' REQUIRE SSL;
      CREATE USER locked IDENTIFIED BY '${password}' ACCOUNT LOCK;
      INSTALL SONAME 'auth_ed25519';
      CREATE USER signer IDENTIFIED VIA ed25519 USING PASSWORD('${password}');
      GRANT SELECT, INSERT ON shop.* TO reader, tls_only, signer;`);
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  function createBroker(config: Record<string, string | number> = {}) {
    const secrets = createSecretRegistry();
    const whole = {
      host: "db.example.test",
      port: server.port,
      database: "shop",
      username: "reader",
      password,
      ssl_mode: "disable",
      ...config,
    };
    const broker = createMysqlBroker({
      declaration,
      config: whole,
      secrets,
      clock: systemClock,
      settings: { approvedHosts: [], allowNetworks: ["127.0.0.1/32"] },
      seams: { resolve: async () => [{ address: "127.0.0.1", family: 4 }] },
    });
    const connect = () => broker.connect(new AbortController().signal);
    return { broker, secrets, connect, [Symbol.asyncDispose]: () => broker.close() };
  }

  /** How a connection ends: with TLS or without, or with the error's code and reason. */
  async function outcome(config: Record<string, string | number>): Promise<string> {
    await using run = createBroker(config);
    try {
      const answer = await ask(await run.connect(), "SHOW SESSION STATUS LIKE 'Ssl_version'");
      return answer.includes("TLSv1.") ? "tls" : "plain";
    } catch (error) {
      const { code, details } = error as { code: string; details: { reason?: string } };
      expect(String(error)).not.toContain("q7Zt3");
      return [code, details?.reason].filter(Boolean).join(": ");
    }
  }

  test.each([
    ["disable", "reader", "plain"],
    ["allow", "reader", "plain"],
    ["prefer", "reader", "tls"],
    ["require", "tls_only", "tls"],
    ["disable", "signer", "plain"],
    ["require", "signer", "tls"],
    ["disable", "tls_only", "CREDENTIALS_REJECTED"],
  ])("%s as %s: %s", async (ssl_mode, username, expected) => {
    expect(await outcome({ ssl_mode, username })).toBe(expected);
  });

  test("verify-ca wants a trusted certificate, verify-full also one for this host", async () => {
    const trusted = { ssl_root_certificate: server.caPem };
    const otherAuthority = { ssl_root_certificate: (await createCertificateAuthority()).caPem };
    const other = { host: "other.example.test" };
    expect(await outcome({ ssl_mode: "verify-full", ...trusted })).toBe("tls");
    expect(await outcome({ ssl_mode: "verify-ca", ...other, ...trusted })).toBe("tls");
    expect(await outcome({ ssl_mode: "verify-full", ...other, ...trusted })).toBe(
      "TLS_FAILED: certificate for another host",
    );
    expect(await outcome({ ssl_mode: "verify-ca", ...otherAuthority })).toMatch(
      /^TLS_FAILED: certificate/,
    );
  });

  test("failures say who must act", async () => {
    expect(await outcome({ password: "wrong-password" })).toBe("CREDENTIALS_REJECTED");
    expect(await outcome({ username: "nobody" })).toBe("CREDENTIALS_REJECTED");
    expect(await outcome({ username: "signer", password: "wrong-password" })).toBe(
      "CREDENTIALS_REJECTED",
    );
    expect(await outcome({ username: "locked" })).toBe("CREDENTIALS_REJECTED");
    expect(await outcome({ database: "other" })).toBe(
      "PERMISSION_DENIED: connecting to the database",
    );
    expect(() => createBroker({ username: "reader\0" })).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID" }),
    );
  });

  test("a client starts on it without a password, and cannot write by accident", async () => {
    await using run = createBroker({ ssl_mode: "require" });
    const stream = await run.connect();
    const received: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => received.push(chunk));
    const who = await ask(stream, "SELECT current_user(), @@tx_read_only");
    expect(who).toContain("reader@%");
    expect(await say(stream, "INSERT INTO t VALUES (0, '')")).toContain("25006");
    expect(run.secrets.contains(Buffer.from(password))).toBe(true);
    const bytes = Buffer.concat(received);
    expect(run.secrets.contains(bytes)).toBe(false);
    // Nor what the password can be guessed by.
    const once = createHash("sha1").update(password).digest();
    expect(bytes.includes(createHash("sha1").update(once).digest())).toBe(false);
  });

  test("large results pass unchanged", async () => {
    await using run = createBroker({ ssl_mode: "require" });
    const answer = await ask(await run.connect(), "SELECT * FROM t ORDER BY id");
    expect(answer.split("x".repeat(1000))).toHaveLength(5001);
  });
});

/** Starts on a session as a client that knows no password, and asks. Gives the bytes as a text. */
async function ask(stream: Duplex, sql: string): Promise<string> {
  const greeting = await packets(stream, 1);
  expect(greeting[4]).toBe(10);
  const head = Buffer.alloc(32);
  head.writeUInt32LE(0x8a205, 0);
  const payload = Buffer.concat([head, Buffer.from("anyone\0\0mysql_native_password\0")]);
  // An answer that comes at once is heard by who listens already.
  const accepted = packets(stream, 1);
  stream.write(Buffer.concat([lengthOf(payload), Buffer.from([1]), payload]));
  expect((await accepted)[4]).toBe(0);
  return await say(stream, sql);
}

async function say(stream: Duplex, sql: string): Promise<string> {
  const query = Buffer.concat([Buffer.from([3]), Buffer.from(sql)]);
  const answered = packets(stream, 2);
  stream.write(Buffer.concat([lengthOf(query), Buffer.from([0]), query]));
  return (await answered).toString("latin1");
}

const lengthOf = (payload: Buffer) => {
  const length = Buffer.alloc(3);
  length.writeUIntLE(payload.length, 0, 3);
  return length;
};

/** All that comes until an OK, an error, or as many EOF packets. */
function packets(stream: Duplex, eofs: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0);
    let at = 0;
    let left = eofs;
    const chunks: Buffer[] = [];
    const onData = (chunk: Buffer) => {
      chunks.push(chunk);
      bytes = Buffer.concat([bytes, chunk]);
      while (bytes.length >= at + 5 && bytes.length >= at + 4 + bytes.readUIntLE(at, 3)) {
        const [length, first] = [bytes.readUIntLE(at, 3), bytes[at + 4]];
        const isFirst = at === 0 && (first === 0 || first === 0xff || eofs === 1);
        if (first === 0xfe && length < 9) left -= 1;
        at += 4 + length;
        if (!isFirst && left > 0) continue;
        stream.off("data", onData).off("close", onClose);
        return resolve(bytes);
      }
    };
    const onClose = () => reject(new Error("the stream was closed"));
    stream.on("data", onData).on("close", onClose);
  });
}
