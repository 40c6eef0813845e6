/** Signs the JSON Web Tokens of a connector that has a placeholder in place of the key. */
import { constants, createHmac, createPrivateKey, type KeyObject, sign } from "node:crypto";
import { budgets } from "../contract/budgets.ts";
import { ConnectorError } from "../contract/errors.ts";
import { isJsonObject, type JsonValue } from "../contract/json.ts";
import { isJwtAlgorithm, type JwtAlgorithm, type UnsignedToken } from "../contract/jwt.ts";
import type { HttpCall } from "../wire/http-call.ts";
import type { PlaceholderRegistry } from "./placeholders.ts";

/** The call with a signed token where its stand-in stood. */
export type SignCall = (call: HttpCall) => HttpCall;

/**
 * The connector gets no token, not even a signed one: it is a secret of the run, and a placeholder
 * of it goes through the rest of the request as that of any other secret.
 * @throws (its result) CONNECTOR_PROTOCOL · CONFIG_INVALID when the key does not fit the algorithm
 */
export function createCallSigner(placeholders: PlaceholderRegistry | undefined): SignCall {
  // Some algorithms sign the same text otherwise each time: one token is one secret.
  const signed = new Map<string, string>();
  return (call) => {
    const { jwt, ...rest } = call;
    if (jwt === undefined) return call;
    checkToken(jwt);
    if (!placeholders) throw refused("this connector signs no tokens");
    const { standIn, ...token } = jwt;
    const known = JSON.stringify(token);
    let placeholder = signed.get(known);
    if (placeholder === undefined) {
      const made = signToken(jwt, placeholders.fill);
      const { bytes } = budgets.token;
      if (made.length > bytes) throw refused(`a signed token has at most ${bytes} characters`);
      placeholder = placeholders.placeholderOf(made);
      signed.set(known, placeholder);
    }
    return JSON.parse(JSON.stringify(rest).replaceAll(standIn, placeholder)) as HttpCall;
  };
}

/** A token is a few hundred characters; some providers read header fields of 8 KiB. */
const maxTokenChars = 8_192;

function checkToken(value: unknown): asserts value is UnsignedToken {
  const token = value as { readonly [name in keyof UnsignedToken]?: unknown };
  if (!isJsonObject(value as JsonValue) || !isJsonObject(token.header as JsonValue))
    throw refused("a token has a header");
  if (typeof token.standIn !== "string" || !/^[a-zA-Z\d]{32}$/.test(token.standIn))
    throw refused("the stand-in of a token has 32 letters and digits");
  if (!isJsonObject(token.payload as JsonValue)) throw refused("a token has a payload");
  for (const text of [token.key, token.passphrase ?? ""])
    if (typeof text !== "string") throw refused("the key of a token is a text");
  if (JSON.stringify([token.header, token.payload]).length > maxTokenChars)
    throw refused(`a token has at most ${maxTokenChars} characters`);
}

function signToken(token: UnsignedToken, fill: (text: string) => string): string {
  const { header, payload } = token;
  const algorithm = header.alg;
  if (!isJwtAlgorithm(algorithm)) throw refused("the algorithm of a token is none of RFC 7518");
  const ordered = Object.fromEntries(Object.entries(header).sort(([a], [b]) => (a < b ? -1 : 1)));
  const input = [ordered, payload]
    .map((part) => Buffer.from(fill(JSON.stringify(part))).toString("base64url"))
    .join(".");
  const plain = fill(token.key);
  const key = token.isKeyEncoded ? Buffer.from(plain).toString("base64") : plain;
  try {
    const signature = signText(algorithm, input, key, fill(token.passphrase ?? ""));
    return `${input}.${signature.toString("base64url")}`;
  } catch {
    throw new ConnectorError("CONFIG_INVALID", {
      path: "the key that signs tokens",
      problem: `is no private key for ${algorithm} in PEM, or its passphrase is another one`,
    });
  }
}

function signText(algorithm: JwtAlgorithm, input: string, key: string, passphrase: string): Buffer {
  const hash = `sha${algorithm.slice(2, 5)}`;
  const text = Buffer.from(input);
  if (algorithm.startsWith("HS")) return createHmac(hash, key).update(text).digest();
  const secret = createPrivateKey({
    key: toPem(key),
    format: "pem",
    ...(passphrase && { passphrase }),
  });
  const kind = kinds[algorithm.slice(0, 2) as keyof typeof kinds];
  if (!kind.fits(secret, algorithm)) throw new Error("another kind of key");
  if (algorithm === "EdDSA") return sign(null, text, secret);
  return sign(hash, text, { key: secret, ...kind.options });
}

const curves: Readonly<Record<string, string>> = {
  ...{ ES256: "prime256v1", ES384: "secp384r1", ES512: "secp521r1", ES256K: "secp256k1" },
};
const isRsa = ({ asymmetricKeyType }: KeyObject) => asymmetricKeyType === "rsa";

/** The keys and options of each family of algorithms. */
const kinds = {
  RS: { fits: isRsa, options: {} },
  PS: {
    fits: isRsa,
    options: {
      padding: constants.RSA_PKCS1_PSS_PADDING,
      saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
    },
  },
  ES: {
    fits: ({ asymmetricKeyDetails }: KeyObject, algorithm: JwtAlgorithm) =>
      asymmetricKeyDetails?.namedCurve === curves[algorithm],
    options: { dsaEncoding: "ieee-p1363" as const },
  },
  Ed: {
    fits: ({ asymmetricKeyType }: KeyObject) => /^ed(?:25519|448)$/.test(asymmetricKeyType ?? ""),
    options: {},
  },
} as const;

/** A key that somebody took out of a JSON document has its line breaks as two characters. */
const toPem = (key: string) => (key.includes("\n") ? key : key.replaceAll("\\n", "\n"));

const refused = (problem: string) => new ConnectorError("CONNECTOR_PROTOCOL", { problem });
