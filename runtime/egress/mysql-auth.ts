/**
 * The forms in which a password goes to a MySQL server. Never the password itself, but over TLS.
 */
import { constants, createHash, createPublicKey, publicEncrypt } from "node:crypto";
import { ConnectorError } from "../contract/errors.ts";

/** Bytes of the server's random challenge. */
export const challengeBytes = 20;

const hash = (algorithm: "sha1" | "sha256", ...parts: readonly Buffer[]) =>
  createHash(algorithm).update(Buffer.concat(parts)).digest();

const xor = (one: Buffer, other: Buffer) =>
  Buffer.from(one.map((byte, at) => byte ^ (other[at % other.length] as number)));

/** @see https://mariadb.com/kb/en/connection/ (read 2026-11) */
export function nativeAnswer(password: string, challenge: Buffer): Buffer {
  const once = hash("sha1", Buffer.from(password));
  return xor(once, hash("sha1", challenge, hash("sha1", once)));
}

/**
 * @see
 * https://dev.mysql.com/doc/dev/mysql-server/latest/page_caching_sha2_authentication_exchanges.html
 * (read 2026-11)
 */
export function cachingSha2Answer(password: string, challenge: Buffer): Buffer {
  const once = hash("sha256", Buffer.from(password));
  return xor(once, hash("sha256", hash("sha256", once), challenge));
}

/**
 * The password for a server that has not seen it yet, where there is no TLS: under the public key
 * that the server has sent. Who stands between can send a key of their own, as with any log-in
 * without TLS.
 * @throws DATABASE_UNUSABLE when it is no key of RSA
 */
export function encryptedPassword(password: string, challenge: Buffer, pem: string): Buffer {
  const masked = xor(Buffer.from(`${password}\0`), challenge);
  try {
    const key = createPublicKey(pem);
    if (key.asymmetricKeyType !== "rsa") throw unusableKey();
    return publicEncrypt({ key, padding: constants.RSA_PKCS1_OAEP_PADDING }, masked);
  } catch {
    throw unusableKey();
  }
}

const unusableKey = () =>
  new ConnectorError("DATABASE_UNUSABLE", {
    reason: "the server did not complete the authentication",
  });
