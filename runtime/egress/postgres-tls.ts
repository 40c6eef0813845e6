/**
 * TLS for PostgreSQL as libpq's ssl modes have it.
 * @see https://www.postgresql.org/docs/current/libpq-ssl.html (read 2026-07)
 */
import type { Duplex } from "node:stream";
import { ConnectorError } from "../contract/errors.ts";
import { type SslMode, secure, type TlsOptions } from "./database-tls.ts";

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
