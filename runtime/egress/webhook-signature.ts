import { createHmac } from "node:crypto";
import { ConnectorError } from "../contract/errors.ts";

/** Lengths that Standard Webhooks allows for a symmetric key. */
const minKeyBytes = 24;
const maxKeyBytes = 64;

/**
 * The key of a signing secret: base64 of 24 to 64 bytes, after an optional `whsec_`.
 * @throws CONFIG_INVALID
 */
export function signingKey(secret: string, field: string): Buffer {
  const text = secret.replace(/^whsec_/, "");
  const key = Buffer.from(text, "base64");
  const isBase64 = /^[A-Za-z0-9+/]+={0,2}$/.test(text) && text.length % 4 === 0;
  if (isBase64 && key.length >= minKeyBytes && key.length <= maxKeyBytes) return key;
  throw new ConnectorError("CONFIG_INVALID", {
    path: field,
    problem: "must be base64 of 24 to 64 bytes, with or without whsec_ before it",
  });
}

/**
 * The headers that sign a request: `webhook-timestamp` (seconds) and `webhook-signature`, over the
 * id, the time and the body. With several keys there are several signatures: while a secret is
 * replaced, receivers that have the old one and those that have the new one accept it.
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 * (read 2026-07)
 */
export function signWebhook(
  keys: readonly Buffer[],
  id: string,
  body: Buffer,
  nowMs: number,
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(nowMs / 1_000));
  const signatures = keys.map((key) =>
    createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64"),
  );
  return {
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.map((signature) => `v1,${signature}`).join(" "),
  };
}
