/**
 * A way through an SSH server (a bastion) to a database that only it can reach. The host's process
 * speaks SSH; a connector and its worker never see the key. What the guard has dialled is the SSH
 * server; the name of the database is looked up there, in a network that is not ours.
 */
import { createHash } from "node:crypto";
import { isIP, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Algorithms, ServerHostKeyAlgorithm } from "ssh2";
import { ConnectorError } from "../contract/errors.ts";
import { classifyAddress, isOpenable } from "./address.ts";
import { toConnectionError } from "./connection-errors.ts";
import { createTunnelStream } from "./tunnel-stream.ts";

/** Where an SSH server is, as whom to log in there, and how to know it. */
export interface TunnelSettings {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly privateKey: string | undefined;
  readonly password: string | undefined;
  /** The server's key: its fingerprint, or the key itself. Undefined: it is shown, and refused. */
  readonly hostKey: HostKey | undefined;
  /** Names of the settings, for errors. */
  readonly fields: { readonly privateKey: string; readonly hostKey: string };
}

/** A server's public key, by its fingerprint. */
export interface HostKey {
  /** `SHA256:…`, as ssh-keygen prints it. */
  readonly fingerprint: string;
  /** The type of the key, where it was given as a whole: only that one is asked for. */
  readonly type?: string | undefined;
}

/** Algorithms that both sides must have in common: no SHA-1, no CBC, no DSA. */
const algorithms = {
  kex: [
    "curve25519-sha256",
    "curve25519-sha256@libssh.org",
    "ecdh-sha2-nistp256",
    "ecdh-sha2-nistp384",
    "ecdh-sha2-nistp521",
    "diffie-hellman-group14-sha256",
    "diffie-hellman-group16-sha512",
    "diffie-hellman-group18-sha512",
  ],
  cipher: [
    "aes128-gcm@openssh.com",
    "aes256-gcm@openssh.com",
    "chacha20-poly1305@openssh.com",
    "aes128-ctr",
    "aes256-ctr",
  ],
  hmac: [
    "hmac-sha2-256-etm@openssh.com",
    "hmac-sha2-512-etm@openssh.com",
    "hmac-sha2-256",
    "hmac-sha2-512",
  ],
  compress: ["none"],
} as const satisfies Algorithms;

const hostKeyTypes = [
  "ssh-ed25519",
  "ecdsa-sha2-nistp256",
  "ecdsa-sha2-nistp384",
  "ecdsa-sha2-nistp521",
  "rsa-sha2-512",
  "rsa-sha2-256",
] as const satisfies ServerHostKeyAlgorithm[];

/** A silent server is asked whether it is there. */
const keepaliveMs = 30_000;

/**
 * Opens a stream to the database over a connection to the SSH server. One ends with the other.
 * @throws CONFIG_INVALID: the key is unreadable, or the server's key is not in the settings ·
 * TUNNEL_FAILED · CONNECTION_FAILED
 */
export async function openTunnel(
  connection: Socket,
  tunnel: TunnelSettings,
  target: { readonly host: string; readonly port: number },
): Promise<Duplex> {
  checkTarget(target);
  const { default: ssh } = await import("ssh2");
  if (tunnel.privateKey !== undefined) {
    const problem = keyProblem(ssh.utils.parseKey(tunnel.privateKey));
    if (problem !== undefined) throw invalid(tunnel.fields.privateKey, problem);
  }
  const client = new ssh.Client();
  let refused: ConnectorError | undefined;
  const { promise, resolve, reject } = Promise.withResolvers<Duplex>();
  // Stays for good: a later failure of the connection is seen by the stream.
  client.on("error", (error) => reject(refused ?? toTunnelError(error)));
  client.once("close", () => reject(refused ?? failedConnection("it closed the connection")));
  client.once("ready", () => {
    client.forwardOut("127.0.0.1", 0, target.host, target.port, (error, channel) => {
      if (error) return reject(toForwardError(error));
      // A second stream beside the database's, which nobody reads.
      channel.stderr.resume();
      resolve(createTunnelStream(channel, connection));
    });
  });
  const { user: username, password, privateKey, hostKey } = tunnel;
  client.connect({
    sock: connection,
    username,
    ...(privateKey === undefined ? {} : { privateKey }),
    ...(password === undefined ? {} : { password }),
    // Nothing else is tried: neither an agent of this machine, nor questions of the server.
    authHandler: [
      ...(privateKey === undefined ? [] : (["publickey"] as const)),
      ...(password === undefined ? [] : (["password"] as const)),
    ],
    hostVerifier: (key: Buffer) => {
      refused = hostKeyProblem(fingerprintOf(key), hostKey, tunnel.fields.hostKey);
      return refused === undefined;
    },
    algorithms: {
      ...algorithms,
      serverHostKey: hostKeyTypes.filter((type) => isOf(type, hostKey?.type)),
    },
    keepaliveInterval: keepaliveMs,
    // The caller's deadline ends the connection.
    readyTimeout: 0,
  });
  try {
    return await promise;
  } catch (error) {
    client.destroy();
    throw error;
  }
}

const fingerprintOf = (key: Buffer) =>
  `SHA256:${createHash("sha256").update(key).digest("base64").replace(/=+$/, "")}`;

/** An RSA key signs in two ways. */
const isOf = (algorithm: string, type: string | undefined) =>
  type === undefined || (type === "ssh-rsa" ? algorithm.startsWith("rsa-") : algorithm === type);

/**
 * The key of a setting: `SHA256:…`, a public key (`ssh-ed25519 AAAA…`), or a line of known_hosts.
 * @throws CONFIG_INVALID
 */
export function parseHostKey(text: string, field: string): HostKey {
  const [fingerprint] = /^SHA256:[A-Za-z0-9+/]{43}(?==?$)/.exec(text.trim()) ?? [];
  if (fingerprint !== undefined) return { fingerprint };
  const [, type, key] =
    /(?:^|\s)((?:ssh|ecdsa|sk)-[\w@.-]+)\s+(AAAA[A-Za-z0-9+/]+={0,2})(?:\s|$)/.exec(text) ?? [];
  if (type !== undefined && key !== undefined && hostKeyTypes.some((one) => isOf(one, type)))
    return { fingerprint: fingerprintOf(Buffer.from(key, "base64")), type };
  throw invalid(
    field,
    "must be the fingerprint of the SSH server's key (SHA256:…) or the key (ssh-ed25519 AAAA…)",
  );
}

function hostKeyProblem(
  shown: string,
  expected: HostKey | undefined,
  field: string,
): ConnectorError | undefined {
  if (expected === undefined)
    return invalid(
      field,
      `is missing: the SSH server shows ${shown}; enter that when it is the server's own (ssh-keygen -lf, on the server)`,
    );
  if (shown === expected.fingerprint) return undefined;
  return new ConnectorError("TUNNEL_FAILED", {
    reason: `the SSH server shows the key ${shown}, and ${field} has ${expected.fingerprint}: somebody may stand between, or it has a new key`,
  });
}

/** The fault of a private key. A passphrase would have the host compute what a stranger says. */
function keyProblem(parsed: unknown): string | undefined {
  if (parsed instanceof Error)
    return /passphrase|encrypted/i.test(parsed.message)
      ? "is encrypted: enter the key without its passphrase (ssh-keygen -p); it is stored sealed"
      : "is no private key in the form of OpenSSH or PEM";
  const [key] = Array.isArray(parsed) ? parsed : [parsed];
  return key?.isPrivateKey() ? undefined : "is a public key: enter the private one";
}

/**
 * The guard's rules for names and ports: the SSH server gets nothing else. Private addresses are
 * those of its network; metadata services and the like stay closed there too.
 */
function checkTarget({ host, port }: { readonly host: string; readonly port: number }): void {
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw invalid("port", "must be between 1 and 65535");
  if (isIP(host) !== 0 && !isOpenable(host))
    throw new ConnectorError("ADDRESS_REFUSED", { addressClass: classifyAddress(host) });
  if (isIP(host) === 0 && !/^(?=.{1,254}$)[\w-]{1,63}(?:\.[\w-]{1,63})*\.?$/.test(host))
    throw new ConnectorError("HOST_UNKNOWN");
}

const invalid = (path: string, problem: string) =>
  new ConnectorError("CONFIG_INVALID", { path, problem });

const failedConnection = (what: string) =>
  new ConnectorError("CONNECTION_FAILED", { reason: `SSH server: ${what}` });

/** A failure of the connection to the SSH server, named as such. */
export function ofTunnel(error: unknown): unknown {
  if (!(error instanceof ConnectorError)) return error;
  if (error.code === "HOST_UNKNOWN")
    return new ConnectorError("TUNNEL_FAILED", {
      reason: "the name of the SSH server does not resolve",
    });
  return error.code === "CONNECTION_FAILED"
    ? failedConnection(String(error.details.reason ?? "failed"))
    : error;
}

function toTunnelError(error: Error & { readonly level?: string | undefined }): ConnectorError {
  if (error.level === "client-authentication")
    return new ConnectorError("TUNNEL_FAILED", {
      reason: "the SSH server does not accept the user with this key or password",
    });
  if (error.level === "client-socket" || error.level === "client-timeout")
    return ofTunnel(toConnectionError(error)) as ConnectorError;
  return new ConnectorError("TUNNEL_FAILED", {
    reason: "what answers is no SSH server, or has no algorithms in common with svc",
  });
}

/** RFC 4254 section 5.1. */
const openFailures = { prohibited: 1, connectFailed: 2, unknownType: 3 } as const;

function toForwardError({ reason }: Error & { readonly reason?: unknown }): ConnectorError {
  if (reason === openFailures.connectFailed)
    return failedConnection("it cannot reach the database's host and port");
  if (reason === openFailures.prohibited || reason === openFailures.unknownType)
    return new ConnectorError("TUNNEL_FAILED", {
      reason: "the SSH server does not let this user forward to the database's host and port",
    });
  return failedConnection("it opened no way to the database");
}
