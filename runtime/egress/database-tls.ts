/**
 * TLS with a database server as libpq's ssl modes have it.
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

/**
 * TLS over a socket whose server has said that it is ready for it. As in libpq, "require" with a
 * root certificate verifies like "verify-ca".
 * @throws TLS_FAILED · CONNECTION_FAILED
 */
export function secure(
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
