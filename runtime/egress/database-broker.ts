/**
 * The egress of a database connector: sessions that the host has dialled, secured and
 * authenticated. What is said to the server is the protocol's: postgres-broker.ts, mysql-broker.ts.
 */
import { X509Certificate } from "node:crypto";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { budgets } from "../contract/budgets.ts";
import type { MysqlEgress, PostgresEgress, TunnelEgress } from "../contract/egress.ts";
import { ConnectorError, toConnectorError } from "../contract/errors.ts";
import type { Broker, BrokerOptions } from "./broker.ts";
import { configText, configValue } from "./config-field.ts";
import { type SslMode, sslModes, type TlsOptions } from "./database-tls.ts";
import { dialGuarded } from "./guard.ts";
import { ofTunnel, openTunnel, parseHostKey, type TunnelSettings } from "./ssh-tunnel.ts";

/** Sessions of one run at a time. Servers often allow a hundred in all. */
const maxSessions = budgets.databaseReads.count[0];
/** For look-up, connect, TLS and login together; real time, as sockets live in it. */
const startupTimeoutMs = budgets.databaseLogin.seconds * 1000;

export interface DatabaseProtocol {
  /**
   * TLS as the mode says, then the log-in.
   * @returns what makes the worker's side of the session
   */
  open(socket: Duplex, mode: SslMode, login: DatabaseLogin): Promise<() => Duplex>;
}

export interface DatabaseLogin {
  readonly user: string;
  readonly database: string;
  readonly password: string;
  readonly tls: TlsOptions;
  /** False: no transaction may write, unless the session itself asks for it. */
  readonly mayWrite: boolean;
  /** The slot that the session is for; undefined: it is one of SQL. */
  readonly replicationSlot?: string | undefined;
}

/**
 * A broker whose `connect` gives authenticated sessions. The password stays in this process: it is
 * used for the login here, and the worker's client starts on a relay that asks for none.
 *
 * `connect` throws HOST_UNKNOWN · ADDRESS_REFUSED · CONNECTION_FAILED · PROVIDER_TIMEOUT ·
 * TLS_FAILED · CREDENTIALS_REJECTED · DATABASE_UNUSABLE · PERMISSION_DENIED · PROVIDER_UNAVAILABLE
 * · CANCELLED · CONNECTOR_PROTOCOL for a fifth session at a time. `request` throws INTERNAL.
 * @throws CONFIG_INVALID when a setting is missing or the root certificate is no PEM
 */
export function createDatabaseBroker(
  options: BrokerOptions,
  declaration: PostgresEgress | MysqlEgress,
  protocol: DatabaseProtocol,
): Broker {
  const { config, secrets, settings, seams } = options;
  const target = readTarget(declaration, config);
  const allowNetworks = [...settings.allowNetworks, ...(settings.databaseNetworks ?? [])];
  secrets.add(target.password);
  for (const secret of [target.tunnel?.privateKey, target.tunnel?.password])
    if (secret !== undefined) secrets.add(secret);
  const closing = new AbortController();
  const sockets = new Set<Socket>();
  let sessionCount = 0;
  let requestCount = 0;

  /** One try, with TLS or without as the mode says. */
  const open = async (
    mode: SslMode,
    signal: AbortSignal,
    replicationSlot: string | undefined,
  ): Promise<() => Duplex> => {
    requestCount++;
    const { host, port, rootCertificate, tunnel, user, database, password } = target;
    const dialled = await dialGuarded(
      tunnel ?? { host, port },
      { settings: { allowNetworks }, seams, rule: "any" },
      signal,
    ).catch((error: unknown) => {
      throw tunnel ? ofTunnel(error) : error;
    });
    sockets.add(dialled);
    dialled.once("close", () => sockets.delete(dialled));
    // each step learns of a failure in its own way; later the relay does
    dialled.on("error", () => {});
    const abandon = () => dialled.destroy();
    signal.addEventListener("abort", abandon, { once: true });
    try {
      if (signal.aborted) abandon();
      const way = tunnel ? await openTunnel(dialled, tunnel, { host, port }) : dialled;
      return await protocol.open(way, mode, {
        user,
        database,
        password,
        tls: { host, rootCertificate, extraCa: seams?.ca },
        mayWrite: options.mayWrite ?? false,
        replicationSlot,
      });
    } catch (error) {
      dialled.destroy();
      throw error;
    } finally {
      signal.removeEventListener("abort", abandon);
    }
  };

  /**
   * "allow" and "prefer" try the other way when the server's access rules refuse the first, as
   * libpq does.
   */
  const openByMode = async (
    signal: AbortSignal,
    slot: string | undefined,
  ): Promise<() => Duplex> => {
    const [first, second] = attempts[target.sslMode];
    try {
      return await open(first, signal, slot);
    } catch (error) {
      const isRefused = error instanceof ConnectorError && error.details.rule === "access";
      if (second === undefined || !isRefused || signal.aborted) throw error;
      return await open(second, signal, slot).catch((again: unknown) => {
        // A server without TLS: then the first answer is the one that counts.
        throw again instanceof ConnectorError && again.code === "TLS_FAILED" ? error : again;
      });
    }
  };

  return {
    get requestCount() {
      return requestCount;
    },
    request: () => Promise.reject(new ConnectorError("INTERNAL")),
    async connect(signal, { isReplication = false } = {}): Promise<Duplex> {
      const slot = isReplication ? slotOf(declaration, config) : undefined;
      const timeout = AbortSignal.timeout(startupTimeoutMs);
      const reasonToStop = () => {
        if (signal.aborted || closing.signal.aborted) return new ConnectorError("CANCELLED");
        return timeout.aborted
          ? new ConnectorError("PROVIDER_TIMEOUT", { phase: "connect" })
          : undefined;
      };
      const stopped = reasonToStop();
      if (stopped) throw stopped;
      if (sessionCount >= maxSessions) {
        throw new ConnectorError("CONNECTOR_PROTOCOL", {
          problem: `more than ${maxSessions} database sessions at a time`,
        });
      }
      sessionCount++;
      try {
        const startRelay = await openByMode(
          AbortSignal.any([signal, closing.signal, timeout]),
          slot,
        );
        const relay = startRelay();
        relay.once("close", () => sessionCount--);
        return relay;
      } catch (error) {
        sessionCount--;
        throw reasonToStop() ?? toConnectorError(error);
      }
    },
    async close() {
      closing.abort();
      await Promise.all(
        [...sockets].map(
          (socket) => new Promise((resolve) => socket.once("close", resolve).destroy()),
        ),
      );
    },
  };
}

/** @throws CONNECTOR_PROTOCOL when the connector declares none, or the user has set none */
function slotOf(
  declaration: PostgresEgress | MysqlEgress,
  config: BrokerOptions["config"],
): string {
  const field = declaration.kind === "postgres" ? declaration.replicationSlot : undefined;
  const slot = field === undefined ? undefined : configValue(config, field);
  if (typeof slot === "string" && slot !== "") return slot;
  throw new ConnectorError("CONNECTOR_PROTOCOL", {
    problem: "a session of replication without a slot in the settings",
  });
}

const attempts: Readonly<Record<SslMode, readonly [SslMode, SslMode?]>> = {
  disable: ["disable"],
  allow: ["disable", "require"],
  prefer: ["prefer", "disable"],
  require: ["require"],
  "verify-ca": ["verify-ca"],
  "verify-full": ["verify-full"],
};

interface Target {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  readonly password: string;
  readonly sslMode: SslMode;
  readonly rootCertificate: string | undefined;
  readonly tunnel: TunnelSettings | undefined;
}

function readTarget(
  declaration: PostgresEgress | MysqlEgress,
  config: BrokerOptions["config"],
): Target {
  const sslMode = configText(config, declaration.sslMode) as SslMode;
  if (!sslModes.includes(sslMode)) {
    throw new ConnectorError("CONFIG_INVALID", {
      path: declaration.sslMode,
      problem: `must be one of ${sslModes.join(", ")}`,
    });
  }
  return {
    host: configText(config, declaration.host),
    port: Number(configText(config, declaration.port)),
    database: configText(config, declaration.database),
    user: configText(config, declaration.username),
    password: configText(config, declaration.password),
    sslMode,
    rootCertificate: readCertificate(declaration.sslRootCertificate, config),
    tunnel: declaration.tunnel && readTunnel(declaration.tunnel, config),
  };
}

/** Undefined when no SSH server is named. @throws CONFIG_INVALID */
function readTunnel(
  declared: TunnelEgress,
  config: BrokerOptions["config"],
): TunnelSettings | undefined {
  const text = (field: string) => {
    const value = configValue(config, field);
    return typeof value === "string" && value.trim() !== "" ? value : undefined;
  };
  const [host, privateKey, password, hostKey] = [
    text(declared.host),
    text(declared.privateKey),
    text(declared.password),
    text(declared.hostKey),
  ];
  if (host === undefined) {
    const given = [declared.user, declared.privateKey, declared.password, declared.hostKey];
    if (!given.some(text)) return undefined;
    throw new ConnectorError("CONFIG_INVALID", {
      path: declared.host,
      problem: "is missing: other settings of the tunnel are there",
    });
  }
  if (privateKey === undefined && password === undefined)
    throw new ConnectorError("CONFIG_INVALID", {
      path: declared.privateKey,
      problem: `is missing, and ${declared.password} too: the SSH server wants one of them`,
    });
  return {
    host,
    port: Number(configText(config, declared.port)),
    user: configText(config, declared.user),
    privateKey,
    password,
    hostKey: hostKey === undefined ? undefined : parseHostKey(hostKey, declared.hostKey),
    fields: declared,
  };
}

/**
 * Undefined when it is left empty. Looked at in every mode: one that is used in none would be found
 * out on the day that TLS is turned on.
 */
function readCertificate(
  field: string | undefined,
  config: BrokerOptions["config"],
): string | undefined {
  const pem = field === undefined ? undefined : configValue(config, field);
  if (field === undefined || typeof pem !== "string" || pem === "") return undefined;
  try {
    new X509Certificate(pem);
  } catch {
    throw new ConnectorError("CONFIG_INVALID", {
      path: field,
      problem: "is not a certificate in PEM form",
    });
  }
  return pem;
}
