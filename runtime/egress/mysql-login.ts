/**
 * TLS and authentication at a MySQL server, in the host: afterwards the socket is free again, and
 * nobody has missed a byte.
 * @see https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase.html (read
 * 2026-11)
 */
import type { Duplex } from "node:stream";
import { budgets } from "../contract/budgets.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { DatabaseLogin } from "./database-broker.ts";
import { type SslMode, secure } from "./database-tls.ts";
import {
  cachingSha2Answer,
  challengeBytes,
  ed25519Answer,
  ed25519ChallengeBytes,
  encryptedPassword,
  nativeAnswer,
} from "./mysql-auth.ts";
import {
  capability,
  type Greeting,
  type LoginBudget,
  notMysql,
  type Packet,
  parseGreeting,
  readPackets,
  textAt,
  toPacket,
  utf8mb4,
} from "./mysql-packets.ts";

/** A socket that waits for a command, and what its server calls itself. */
export interface MysqlSession {
  readonly socket: Duplex;
  readonly version: string;
}

/** Packets of one authentication: a change of the method, its answer, a key, and what follows. */
const maxSteps = 8;

/** No transaction of this session may write, unless the session itself asks for it. */
const readOnly = "SET SESSION TRANSACTION READ ONLY";

/**
 * Logs in by `caching_sha2_password` or `mysql_native_password`, over TLS as the mode says, and
 * makes the session read-only unless it may write.
 * @throws TLS_FAILED · CREDENTIALS_REJECTED · DATABASE_UNUSABLE · PERMISSION_DENIED ·
 * PROVIDER_UNAVAILABLE · CONNECTION_FAILED
 */
export async function logIn(
  socket: Duplex,
  mode: SslMode,
  login: DatabaseLogin,
): Promise<MysqlSession> {
  const budget: LoginBudget = { bytes: budgets.databaseLogin.bytes };
  let reader = readPackets(socket, budget);
  const greeted = await reader.next();
  if (greeted.payload[0] === 0xff) throw toLoginError(greeted.payload);
  const greeting = parseGreeting(greeted.payload);
  const needed = capability.protocol41 | capability.secureConnection | capability.pluginAuth;
  if ((greeting.capabilities & needed) !== needed)
    throw new ConnectorError("DATABASE_UNUSABLE", { reason: "the server is too old" });

  let used = socket;
  let { sequence } = greeted;
  const send = (payload: Buffer) => {
    sequence = (sequence + 1) & 0xff;
    used.write(toPacket({ sequence, payload }));
  };
  const isTls = wantsTls(mode, greeting);
  // More would be plain text that someone slipped in before TLS.
  if (reader.release().length > 0) throw notMysql();
  if (isTls) {
    send(head(isTls, login));
    used = await secure(socket, mode, login.tls);
  }
  reader = readPackets(used, budget);
  const next = async (): Promise<Packet> => {
    const packet = await reader.next();
    if (packet.sequence !== ((sequence + 1) & 0xff)) throw notMysql();
    sequence = packet.sequence;
    if (packet.payload[0] === 0xff) throw toLoginError(packet.payload);
    return packet;
  };
  await authenticate({ greeting, login, isTls, send, next });
  if (!login.mayWrite) {
    sequence = -1;
    send(Buffer.concat([Buffer.from([0x03]), Buffer.from(readOnly)]));
    if ((await next()).payload[0] !== 0) throw notMysql();
  }
  // Nobody has asked for anything more.
  if (reader.release().length > 0) throw notMysql();
  return { socket: used, version: greeting.version };
}

/** @throws TLS_FAILED */
function wantsTls(mode: SslMode, { capabilities }: Greeting): boolean {
  if (mode === "disable" || mode === "allow") return false;
  if ((capabilities & capability.tls) !== 0) return true;
  if (mode === "prefer") return false;
  throw new ConnectorError("TLS_FAILED", { reason: "the server does not offer TLS" });
}

const capabilities =
  capability.longPassword |
  capability.longFlag |
  capability.withDatabase |
  capability.protocol41 |
  capability.transactions |
  capability.secureConnection |
  capability.pluginAuth;

/** The head of the log-in: capabilities, the largest packet, the charset. */
function head(isTls: boolean, { database }: DatabaseLogin): Buffer {
  const bytes = Buffer.alloc(32);
  const chosen = database === "" ? capabilities & ~capability.withDatabase : capabilities;
  bytes.writeUInt32LE(isTls ? chosen | capability.tls : chosen, 0);
  bytes.writeUInt32LE(0xff_ffff, 4);
  bytes[8] = utf8mb4;
  return bytes;
}

/** How a password is shown, and how much of the server's randomness that takes. */
interface Method {
  answer(password: string, challenge: Buffer): Buffer | Promise<Buffer>;
  readonly challengeBytes: number;
}

interface Authentication {
  readonly greeting: Greeting;
  readonly login: DatabaseLogin;
  readonly isTls: boolean;
  send(payload: Buffer): void;
  next(): Promise<Packet>;
}

async function authenticate(exchange: Authentication): Promise<void> {
  const { greeting, login, isTls, send, next } = exchange;
  const { user, password, database } = login;
  const methods: Readonly<Record<string, Method>> = {
    mysql_native_password: { answer: nativeAnswer, challengeBytes },
    caching_sha2_password: { answer: cachingSha2Answer, challengeBytes },
    client_ed25519: { answer: ed25519Answer, challengeBytes: ed25519ChallengeBytes },
  };
  let { challenge } = greeting;
  // Of another method the server is told a known one; if it is the account's own, it asks again.
  const isGreeted = greeting.plugin !== "client_ed25519" && Object.hasOwn(methods, greeting.plugin);
  let plugin = isGreeted ? greeting.plugin : "mysql_native_password";
  const answer = () => {
    const method = methods[plugin] as Method;
    if (challenge.length !== method.challengeBytes) throw notMysql();
    return method.answer(password, challenge);
  };
  const first = await answer();
  send(
    Buffer.concat([
      head(isTls, login),
      Buffer.from(`${user}\0`),
      Buffer.from([first.length]),
      first,
      Buffer.from(database === "" ? "" : `${database}\0`),
      Buffer.from(`${plugin}\0`),
    ]),
  );
  let isSwitched = false;
  for (let step = 0; step < maxSteps; step += 1) {
    const { payload } = await next();
    if (payload[0] === 0x00) return;
    if (payload[0] === 0xfe && !isSwitched) {
      isSwitched = true;
      plugin = textAt(payload, 1);
      const method = Object.hasOwn(methods, plugin) ? methods[plugin] : undefined;
      if (!method) throw unknownMethod();
      const start = 2 + plugin.length;
      challenge = payload.subarray(start, start + method.challengeBytes);
      send(await answer());
    } else if (payload[0] === 0x01 && plugin === "caching_sha2_password") {
      if (payload.length === 2 && payload[1] === fastAuthDone) continue;
      if (payload.length === 2 && payload[1] === fullAuthNeeded)
        send(isTls ? Buffer.from(`${password}\0`) : Buffer.from([requestPublicKey]));
      else if (!isTls) send(encryptedPassword(password, challenge, payload.toString("latin1", 1)));
      else throw notMysql();
    } else throw notMysql();
  }
  throw notMysql();
}

/** Asks for the server's key, in `caching_sha2_password`. */
const requestPublicKey = 2;
const fastAuthDone = 3;
const fullAuthNeeded = 4;

const unusable = (reason: string) => new ConnectorError("DATABASE_UNUSABLE", { reason });
const unknownMethod = () =>
  unusable(
    "the server asks for an authentication method other than caching_sha2_password, mysql_native_password or ed25519",
  );

/**
 * By the number of the error: the text of the server goes nowhere.
 * @see https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html (read 2026-11)
 */
function toLoginError(payload: Buffer): ConnectorError {
  if (payload.length < 3) return notMysql();
  const number = payload.readUInt16LE(1);
  switch (number) {
    case 1045: // ER_ACCESS_DENIED_ERROR
    case 1698: // the same without a password
    case 1820: // the password has to be changed
    case 1862:
    case 3118: // the account is locked
    case 4151: // MariaDB's
      return new ConnectorError("CREDENTIALS_REJECTED");
    case 3159: // only with TLS
      return new ConnectorError("CREDENTIALS_REJECTED", { rule: "access" });
    case 1049:
      return unusable("it does not exist");
    case 1044:
      return new ConnectorError("PERMISSION_DENIED", { reason: "connecting to the database" });
    case 1129: // too many failures from this host
    case 1130: // this host may not connect
      return new ConnectorError("PERMISSION_DENIED", { reason: "connecting from this host" });
    case 1251:
    case 1275:
      return unknownMethod();
    case 1040:
    case 1203:
    case 1226:
      return new ConnectorError("CONNECTION_FAILED", {
        reason: "the server has no free connection",
      });
    case 1053: // it shuts down
    case 1079:
      return new ConnectorError("PROVIDER_UNAVAILABLE");
    default:
      return unusable(`error ${number}`);
  }
}
