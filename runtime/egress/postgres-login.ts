/**
 * Authentication at a PostgreSQL server, in the host: afterwards the socket is free again, and
 * nobody has missed a byte.
 */
import { Duplex } from "node:stream";
import { budgets } from "../contract/budgets.ts";
import { ConnectorError } from "../contract/errors.ts";
import { createMessageReader } from "./postgres-messages.ts";

export interface Credentials {
  readonly user: string;
  readonly database: string;
  readonly password: string;
}

export interface LoginOptions {
  /** Default: no transaction may write, unless the session itself asks for it. */
  readonly mayWrite?: boolean | undefined;
  /** A session of streaming replication with the database, in which SQL can be said too. */
  readonly isReplication?: boolean | undefined;
}

/** A socket in the state "ready for query", with what its start-up said. */
export interface LoggedIn {
  readonly socket: Duplex;
  /** The server's settings as it reported them: server_version, client_encoding and the like. */
  readonly parameters: ReadonlyMap<string, string>;
  /**
   * The beginning of a message that has not arrived as a whole; it belongs before what the socket
   * gives next.
   */
  readonly rest: Buffer;
}

/** No transaction of this session may write, unless the session itself asks for it. */
const readOnly = "SET default_transaction_read_only = on";

/**
 * Authentication requests that `pg` can answer: ok, clear text, MD5, SASL. Protocol section 55.7,
 * AuthenticationRequest.
 */
const knownMethods = new Set([0, 3, 5, 10, 11, 12]);

/**
 * Logs in by SCRAM, MD5 or clear text, and makes the session read-only unless it may write: then
 * the database's own setting counts.
 * @throws CREDENTIALS_REJECTED · DATABASE_UNUSABLE · PERMISSION_DENIED · PROVIDER_UNAVAILABLE ·
 * CONNECTION_FAILED
 */
export async function logIn(
  socket: Duplex,
  { user, database, password }: Credentials,
  { mayWrite = false, isReplication = false }: LoginOptions = {},
): Promise<LoggedIn> {
  const { Client } = await import("pg");
  const parameters = new Map<string, string>();
  const reader = createMessageReader();
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {});
  // `pg` sees whole messages, one at a time, at once: what it cannot take is caught here and not by
  // the process.
  const facade = Object.assign(
    new Duplex({
      read() {},
      write: (chunk: Buffer, _, done) => void socket.write(chunk, () => done()),
    }),
    {
      connect: () => void process.nextTick(() => facade.emit("connect")),
      setNoDelay() {},
      ref() {},
      unref() {},
    },
  );
  const onData = (chunk: Buffer) => {
    try {
      for (const message of reader.push(chunk)) {
        if (message[0] === 0x53) parameters.set(...readParameter(message));
        if (parameters.size > budgets.databaseLogin.count[0]) throw notPostgres();
        if (message[0] === 0x52) refuseUnknownMethod(message);
        facade.emit("data", message);
      }
    } catch (error) {
      failed.reject(error instanceof ConnectorError ? error : notPostgres());
    }
  };
  const onClose = () => failed.reject(new ConnectorError("CONNECTION_FAILED", { reason: "reset" }));
  const client = new Client({
    stream: () => facade,
    ssl: false,
    user,
    database,
    // As a function: an empty text would make `pg` look into PGPASSWORD and ~/.pgpass of the host.
    password: () => password,
    host: "guarded",
    application_name: "svc",
    ...(isReplication ? { replication: "database" } : {}),
  });
  // Failures are thrown by connect and query; when the facade goes, `pg` complains once more.
  client.on("error", () => {});
  socket.on("data", onData).on("close", onClose);
  if (socket.destroyed) onClose();
  socket.resume();
  try {
    const loggingIn = client.connect().then(() => (mayWrite ? undefined : client.query(readOnly)));
    loggingIn.catch(() => {});
    await Promise.race([loggingIn, failed.promise]);
    return { socket, parameters, rest: reader.rest() };
  } catch (error) {
    throw toLoginError(error, isReplication);
  } finally {
    socket.pause();
    socket.off("data", onData).off("close", onClose);
    facade.destroy();
  }
}

/** ParameterStatus: name and value, each ended by NUL. */
function readParameter(message: Buffer): [string, string] {
  const [name = "", value = ""] = message.toString("utf8", 5).split("\0");
  return [name, value];
}

function refuseUnknownMethod(message: Buffer): void {
  if (knownMethods.has(message.readUInt32BE(5))) return;
  throw new ConnectorError("DATABASE_UNUSABLE", {
    reason: "the server asks for an authentication method other than SCRAM, MD5 or password",
  });
}

const notPostgres = () =>
  new ConnectorError("CONNECTION_FAILED", { reason: "this is not a PostgreSQL server" });

/** By SQLSTATE, or by the kind of failure: the text of the server and of `pg` goes nowhere. */
function toLoginError(error: unknown, isReplication: boolean): ConnectorError {
  if (error instanceof ConnectorError) return error;
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  const unusable = (reason: string) => new ConnectorError("DATABASE_UNUSABLE", { reason });
  switch (code) {
    case "28P01": // invalid_password
      return new ConnectorError("CREDENTIALS_REJECTED");
    // invalid_authorization_specification: no access rule for the role, perhaps only with TLS, or
    // only without
    case "28000":
      return new ConnectorError("CREDENTIALS_REJECTED", { rule: "access" });
    case "3D000":
      return unusable("it does not exist");
    case "42501":
      return new ConnectorError("PERMISSION_DENIED", {
        reason: isReplication
          ? "the role may not replicate; an administrator runs ALTER ROLE … REPLICATION (in Amazon RDS: GRANT rds_replication TO …)"
          : "connecting to the database",
      });
    case "55000":
      return unusable("it does not accept connections");
    case "53300":
      return new ConnectorError("CONNECTION_FAILED", {
        reason: isReplication
          ? "the server has no free connection for replication (max_wal_senders)"
          : "the server has no free connection",
      });
    case "57P01":
    case "57P02":
    case "57P03":
      return new ConnectorError("PROVIDER_UNAVAILABLE");
    default:
      if (typeof code === "string" && /^[0-9A-Z]{5}$/.test(code))
        return unusable(`SQLSTATE ${code}`);
      if (String(message).startsWith("SASL"))
        return unusable("the server did not complete the authentication");
      return new ConnectorError("CONNECTION_FAILED", { reason: "reset" });
  }
}
