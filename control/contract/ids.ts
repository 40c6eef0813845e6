import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** The prefixes of ids, by the kind of thing that they name. */
export const idPrefixes = {
  workspace: "ws",
  user: "usr",
  member: "mem",
  invitation: "inv",
  credential: "cred",
  source: "src",
  destination: "dst",
  pipeline: "pl",
  connection: "cn",
  job: "job",
  approval: "apr",
  audit: "aud",
  session: "ses",
  oauthSession: "oas",
  credentialUse: "use",
  prepare: "prp",
  model: "mdl",
  reverseDestination: "red",
  activation: "act",
  run: "run",
  event: "evt",
  webhookEndpoint: "whe",
  delivery: "dlv",
} as const;

export type IdKind = keyof typeof idPrefixes;

/** Longest id or handle that any request may hold. */
export const maxIdLength = 64;

/** A new opaque id: prefix and 22 base62 characters (131 bits). */
export const createId = (kind: IdKind): string => `${idPrefixes[kind]}_${randomText(22)}`;

/** JSON Schema pattern of an id. */
export const idPattern = (kind: IdKind): string => `^${idPrefixes[kind]}_[0-9A-Za-z]{22}$`;

const anyId = new RegExp(`^(${Object.values(idPrefixes).join("|")})_[0-9A-Za-z]{22}$`);

/** Whether the text has the form of an id, of whatever kind. */
export const isId = (text: string): boolean => anyId.test(text);

/**
 * A credential handle: `ch_`, 30 base62 characters (179 bits) and 6 of a checksum, so that a
 * mistyped one, or a secret in its place, is told from a handle before the database is asked. It is
 * a name and no capability.
 */
export const createHandle = (): string => withChecksum("ch_", 30);

/** A new access token; only its hash is stored. */
export const createAccessToken = (): string => withChecksum("svc_at_", 40);

/** The token in the mail of an invitation; only its hash is stored. */
export const createInvitationToken = (): string => withChecksum("svc_inv_", 40);

/**
 * The value of the cookie of a console's session. It is no access token: who reads it from a cookie
 * jar has nothing for an Authorization header.
 */
export const createConsoleToken = (): string => withChecksum("svc_cs_", 40);

/** The code in a link that signs in to the console, once. */
export const createLinkCode = (): string => withChecksum("svc_in_", 40);

export const isHandle = (text: string): boolean => hasChecksum("ch_", 30, text);
export const isAccessToken = (text: string): boolean => hasChecksum("svc_at_", 40, text);
export const isConsoleToken = (text: string): boolean => hasChecksum("svc_cs_", 40, text);
export const isLinkCode = (text: string): boolean => hasChecksum("svc_in_", 40, text);
export const isInvitationToken = (text: string): boolean => hasChecksum("svc_inv_", 40, text);

function withChecksum(prefix: string, length: number): string {
  const body = `${prefix}${randomText(length)}`;
  return body + checksum(body);
}

function hasChecksum(prefix: string, length: number, text: string): boolean {
  const body = text.slice(0, prefix.length + length);
  return (
    text.startsWith(prefix) &&
    text.length === body.length + 6 &&
    checksum(body) === text.slice(body.length)
  );
}

/** CRC-32 in 6 base62 characters, as GitHub's tokens have it. */
function checksum(body: string): string {
  let rest = crc32(body);
  let text = "";
  for (let index = 0; index < 6; index += 1) {
    text = `${alphabet[rest % 62]}${text}`;
    rest = Math.floor(rest / 62);
  }
  return text;
}

/** Uniform base62: bytes above 247 are thrown away. */
function randomText(length: number): string {
  let text = "";
  while (text.length < length) {
    for (const byte of randomBytes(length))
      if (byte < 248 && text.length < length) text += alphabet[byte % 62];
  }
  return text;
}
