/**
 * The forms in which a password goes to a MySQL server. Never the password itself, but over TLS.
 */
import { constants, createHash, createPublicKey, publicEncrypt } from "node:crypto";
import { ConnectorError } from "../contract/errors.ts";

/** Bytes of the server's random challenge, of MariaDB's `client_ed25519`, and of the others. */
export const challengeBytes = 20;
export const ed25519ChallengeBytes = 32;

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
 * The challenge, signed by MariaDB's variant of Ed25519, in which the password stands in the place
 * of the 32 bytes of a private key: Node signs with keys of that length only.
 * @see https://mariadb.com/kb/en/authentication-plugin-ed25519/ (read 2026-11),
 * https://www.rfc-editor.org/rfc/rfc8032#section-5.1.6
 */
export async function ed25519Answer(password: string, challenge: Buffer): Promise<Buffer> {
  // The few who need it load it.
  const { ed25519 } = await import("@noble/curves/ed25519.js");
  const { Point } = ed25519;
  const scalarOf = (...parts: readonly Uint8Array[]) => toScalar(sha512(...parts));
  const toScalar = (bytes: Uint8Array) =>
    Point.Fn.create(BigInt(`0x${Buffer.from(bytes).reverse().toString("hex")}`));
  const key = sha512(Buffer.from(password));
  const half = Buffer.from(key.subarray(0, 32));
  half[0] = (half[0] as number) & 0xf8;
  half[31] = ((half[31] as number) & 0x7f) | 0x40;
  const secret = toScalar(half);
  const nonce = scalarOf(key.subarray(32), challenge);
  const commitment = Point.BASE.multiply(nonce).toBytes();
  const publicKey = Point.BASE.multiply(secret).toBytes();
  const proof = Point.Fn.add(
    nonce,
    Point.Fn.mul(scalarOf(commitment, publicKey, challenge), secret),
  );
  return Buffer.concat([commitment, Point.Fn.toBytes(proof)]);
}

const sha512 = (...parts: readonly Uint8Array[]) =>
  createHash("sha512").update(Buffer.concat(parts)).digest();

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
