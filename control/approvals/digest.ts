import { createHash } from "node:crypto";

/** What a proposal's digest is made of. */
export interface DigestedPayload {
  readonly method: string;
  /** Below the base path, with its query. */
  readonly path: string;
  readonly workspace_id: string;
  /** Secrets replaced by where they are in the vault. */
  readonly body: unknown;
}

/**
 * `sha256:` and the hash of the payload's canonical JSON, hex: who approves can say with it which
 * payload they have read.
 */
export const digestOf = (payload: DigestedPayload): string =>
  `sha256:${createHash("sha256").update(canonicalJson(payload)).digest("hex")}`;

/**
 * JSON in one form only: names in the order of their UTF-16 code units, no white space; numbers and
 * texts as ECMAScript writes them.
 * @see RFC 8785, section 3.2
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`);
  return `{${members.join(",")}}`;
}
