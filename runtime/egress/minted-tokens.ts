/**
 * Tokens that a provider mints in an answer: the host keeps them, the connector gets placeholders.
 */
import type { MintedTokens } from "../contract/egress.ts";
import { ConnectorError } from "../contract/errors.ts";
import { isSecretName } from "../filter/secret-names.ts";
import { measureJson } from "../wire/bounded-json.ts";
import { valueAt } from "../wire/json-pointer.ts";
import type { PlaceholderRegistry } from "./placeholders.ts";

/**
 * Takes note of the tokens in a 2xx answer of a URL.
 * @throws RESPONSE_INVALID when it is no JSON
 */
export type TokenCatcher = (url: URL, body: Buffer) => void;

/** @param places URLs that answer with tokens, and where these stand */
export function createTokenCatcher(
  places: readonly (Pick<MintedTokens, "pointers"> & { readonly url: URL })[],
  placeholders: PlaceholderRegistry,
): TokenCatcher {
  return (url, body) => {
    for (const place of places) {
      if (!isSamePlace(place.url, url)) continue;
      const document = parseAnswer(body);
      for (const pointer of place.pointers) keep(valueAt(document, pointer), placeholders);
      // A declaration may be wrong, and its token would go on to the connector.
      keepNamed(document, placeholders);
    }
  };
}

/** Deeper than any answer of a log-in. */
const maxDepth = 64;

/** True for URLs that differ in their queries, or in a slash at the end, alone. */
export const isSamePlace = (one: URL, other: URL): boolean =>
  one.origin === other.origin &&
  one.pathname.replace(/\/+$/, "") === other.pathname.replace(/\/+$/, "");

function parseAnswer(body: Buffer): unknown {
  try {
    if (measureJson(body).depth <= maxDepth) return JSON.parse(body.toString("utf8"));
  } catch {
    // said below
  }
  throw new ConnectorError("RESPONSE_INVALID", { reason: "the answer with a token is not JSON" });
}

function keep(value: unknown, placeholders: PlaceholderRegistry): void {
  if (typeof value === "string") placeholders.placeholderOf(value);
  else if (typeof value === "number") placeholders.placeholderOf(String(value));
  else if (typeof value === "object" && value !== null)
    for (const part of Object.values(value)) keep(part, placeholders);
}

function keepNamed(value: unknown, placeholders: PlaceholderRegistry): void {
  if (typeof value !== "object" || value === null) return;
  for (const [name, part] of Object.entries(value)) {
    if (typeof part === "string" && isSecretName(name, "exchange"))
      placeholders.placeholderOf(part);
    else keepNamed(part, placeholders);
  }
}
