/** JSON Web Tokens that the host signs for a connector with placeholders. */
import type { JsonObject } from "./json.ts";

/** @see RFC 7518 section 3.1, RFC 8037 section 3.1 and RFC 8812 section 3.2 */
export const jwtAlgorithms = [
  ...(["HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512"] as const),
  ...(["ES256", "ES384", "ES512", "ES256K", "EdDSA"] as const),
] as const;
export type JwtAlgorithm = (typeof jwtAlgorithms)[number];

export const isJwtAlgorithm = (name: unknown): name is JwtAlgorithm =>
  jwtAlgorithms.some((one) => one === name);

/** A token that the host signs, and where it goes then. */
export interface UnsignedToken {
  /**
   * A text of the connector's own, 32 letters and digits: wherever it stands in the request, the
   * signed token takes its place.
   */
  readonly standIn: string;
  /** `alg` names the algorithm. */
  readonly header: JsonObject;
  readonly payload: JsonObject;
  /** With the placeholder of the key: a text for HMAC, a private key in PEM for the others. */
  readonly key: string;
  /** Passphrase of the private key; empty where it has none. */
  readonly passphrase?: string;
  /** The key is the base64 of its text, as some providers of HMAC keys want it. */
  readonly isKeyEncoded?: boolean;
}
