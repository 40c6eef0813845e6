/**
 * TLS for PostgreSQL as libpq's ssl modes have it.
 * @see https://www.postgresql.org/docs/current/libpq-ssl.html (read 2026-07)
 */
import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import {
  checkServerIdentity,
  connect as connectTls,
  getCACertificates,
  type TLSSocket,
} from "node:tls";
import { ConnectorError } from "../contract/errors.ts";
import { toTlsError } from "./connection-errors.ts";

export const sslModes = [
  "disable",
  "allow",
  "prefer",
  "require",
  "verify-ca",
  "verify-full",
] as const;
export type SslMode = (typeof sslModes)[number];

export interface TlsOptions {
  /** The name that the certificate must be for (verify-full). */
  readonly host: string;
  /** PEM of the authorities to trust instead of the well-known ones. */
  readonly rootCertificate?: string | undefined;
  /** PEM of a further authority; a seam for tests. */
  readonly extraCa?: string | undefined;
}

/** Protocol section 55.2.10: length 8, code 80877103. */
const sslRequest = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);

/**
 * The socket itself for "disable" and "allow" (and "prefer" when the server has no TLS), else TLS
 * over it. As in libpq, "require" with a root certificate verifies like "verify-ca".
 * @throws TLS_FAILED · CONNECTION_FAILED
 */
export async function secureByMode(
  socket: Duplex,
  mode: SslMode,
  options: TlsOptions,
): Promise<Duplex> {
  if (mode === "disable" || mode === "allow") return socket;
  const isOffered = await askForTls(socket);
  if (isOffered) return await secure(socket, mode, options);
  if (mode === "prefer") return socket;
  throw new ConnectorError("TLS_FAILED", { reason: "the server does not offer TLS" });
}

async function askForTls(socket: Duplex): Promise<boolean> {
  socket.write(sslRequest);
  const answer = await firstChunk(socket);
  // More than the one byte would be plain text that someone slipped in before TLS (CVE-2021-23222).
  if (answer.length === 1 && answer[0] === 0x53) return true;
  if (answer.length === 1 && answer[0] === 0x4e) return false;
  throw new ConnectorError("CONNECTION_FAILED", { reason: "this is not a PostgreSQL server" });
}

function firstChunk(socket: Duplex): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const onData = (chunk: Buffer) => {
      socket.pause();
      socket.off("data", onData).off("close", onClose);
      resolve(chunk);
    };
    const onClose = () => reject(new ConnectorError("CONNECTION_FAILED", { reason: "reset" }));
    socket.on("data", onData).on("close", onClose);
    if (socket.destroyed) onClose();
  });
}

function secure(
  socket: Duplex,
  mode: SslMode,
  { host, rootCertificate, extraCa }: TlsOptions,
): Promise<TLSSocket> {
  const roots = rootCertificate === undefined ? getCACertificates("default") : [rootCertificate];
  const secured = connectTls({
    socket,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ca: extraCa === undefined ? roots : [...roots, extraCa],
    minVersion: "TLSv1.2",
    // Said outright, so that NODE_TLS_REJECT_UNAUTHORIZED changes nothing.
    rejectUnauthorized:
      mode.startsWith("verify-") || (mode === "require" && rootCertificate !== undefined),
    checkServerIdentity: (_, certificate) =>
      mode === "verify-full" ? checkServerIdentity(host, certificate) : undefined,
  });
  return new Promise((resolve, reject) => {
    // Stays for good: a later failure must not be unhandled.
    secured.on("error", (error) => reject(toTlsError(error)));
    secured.once("close", () =>
      reject(new ConnectorError("CONNECTION_FAILED", { reason: "reset" })),
    );
    secured.once("secureConnect", () => resolve(secured));
  });
}
