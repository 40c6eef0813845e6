/**
 * Envelope encryption: each value under a key of its own (DEK), that key under the operator's
 * (KEK). AES-256-GCM; what a value belongs to is authenticated with it, so a row that was moved to
 * another workspace or credential does not open. Sealed form: format byte · 12 bytes IV · 16 bytes
 * tag · ciphertext.
 */
import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from "node:crypto";
import type { WrappingKey } from "./keyring.ts";

/** The owner and version that a sealed value belongs to. */
export interface SealContext {
  readonly workspaceId: string;
  readonly ownerId: string;
  readonly kind: string;
  readonly version: number;
}

export interface Envelope {
  readonly kekId: string;
  readonly wrappedDek: Uint8Array;
  readonly sealed: Uint8Array;
}

const format = 1;
const ivBytes = 12;
const tagBytes = 16;

export function sealEnvelope(
  kek: WrappingKey,
  context: SealContext,
  plaintext: Uint8Array,
): Envelope {
  const dek = randomBytes(32);
  const aad = toAad(context);
  return {
    kekId: kek.id,
    wrappedDek: encrypt(kek.key, toAad(context, kek.id), dek),
    sealed: encrypt(createSecretKey(dek), aad, plaintext),
  };
}

/**
 * @throws Error when the key or the context is not the one it was sealed with, or a byte was
 * changed
 */
export function openEnvelope(kek: WrappingKey, context: SealContext, envelope: Envelope): Buffer {
  const dek = createSecretKey(decrypt(kek.key, toAad(context, kek.id), envelope.wrappedDek));
  return decrypt(dek, toAad(context), envelope.sealed);
}

/** The same value under another KEK. The value itself is not opened. */
export function rewrapEnvelope(
  from: WrappingKey,
  to: WrappingKey,
  context: SealContext,
  envelope: Envelope,
): Envelope {
  const dek = decrypt(from.key, toAad(context, from.id), envelope.wrappedDek);
  return { ...envelope, kekId: to.id, wrappedDek: encrypt(to.key, toAad(context, to.id), dek) };
}

function encrypt(key: KeyObject, aad: Buffer, plaintext: Uint8Array): Uint8Array {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv("aes-256-gcm", key, iv, { authTagLength: tagBytes }).setAAD(aad);
  const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()]);
  return Buffer.concat([Buffer.from([format]), iv, cipher.getAuthTag(), ciphertext]);
}

function decrypt(key: KeyObject, aad: Buffer, sealed: Uint8Array): Buffer {
  const bytes = Buffer.from(sealed);
  if (bytes[0] !== format || bytes.length < 1 + ivBytes + tagBytes)
    throw new Error("not a sealed value");
  const iv = bytes.subarray(1, 1 + ivBytes);
  const tag = bytes.subarray(1 + ivBytes, 1 + ivBytes + tagBytes);
  const decipher = createDecipheriv("aes-256-gcm", key, iv, { authTagLength: tagBytes })
    .setAAD(aad)
    .setAuthTag(tag);
  return Buffer.concat([decipher.update(bytes.subarray(1 + ivBytes + tagBytes)), decipher.final()]);
}

/** Each part with its length in front, so that no two contexts read the same. */
function toAad({ workspaceId, ownerId, kind, version }: SealContext, kekId = ""): Buffer {
  const parts = [String(format), workspaceId, ownerId, kind, String(version), kekId].map((part) =>
    Buffer.from(part),
  );
  return Buffer.concat(
    parts.flatMap((part) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(part.length);
      return [length, part];
    }),
  );
}
