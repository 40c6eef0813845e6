/**
 * Tokens that a provider mints in an answer: the host keeps them, the connector gets placeholders.
 */
import { budgets } from "../contract/budgets.ts";
import type { MintedTokens } from "../contract/egress.ts";
import { ConnectorError } from "../contract/errors.ts";
import { isSecretName } from "../filter/secret-names.ts";
import { measureJson } from "../wire/bounded-json.ts";
import { valueAt } from "../wire/json-pointer.ts";
import { isSlash, withoutEnd } from "../wire/without-end.ts";
import type { PlaceholderRegistry } from "./placeholders.ts";
import { tooLarge } from "./response.ts";

/**
 * Takes note of the tokens in a 2xx answer of a URL.
 * @throws RESPONSE_INVALID when it is no JSON, or has a token that is too long · RESPONSE_TOO_LARGE
 * beyond its budget · CONNECTOR_PROTOCOL when there are more tokens than a run can need
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
  withoutEnd(one.pathname, isSlash) === withoutEnd(other.pathname, isSlash);

function parseAnswer(body: Buffer): unknown {
  const { bytes } = budgets.mintingAnswer;
  if (body.length > bytes) throw tooLarge(bytes);
  try {
    if (measureJson(body).depth <= maxDepth) return JSON.parse(body.toString("utf8"));
  } catch {
    // said below
  }
  throw new ConnectorError("RESPONSE_INVALID", { reason: "the answer with a token is not JSON" });
}

/** A token of a login is held to the same. @see isToken */
function keepToken(token: string, placeholders: PlaceholderRegistry): void {
  if (Buffer.byteLength(token) > budgets.token.bytes)
    throw new ConnectorError("RESPONSE_INVALID", {
      reason: `it mints a token of more than ${budgets.token.bytes} bytes`,
    });
  placeholders.placeholderOf(token);
}

function keep(value: unknown, placeholders: PlaceholderRegistry): void {
  if (typeof value === "string") keepToken(value, placeholders);
  else if (typeof value === "number") placeholders.placeholderOf(String(value));
  else if (typeof value === "object" && value !== null)
    for (const part of Object.values(value)) keep(part, placeholders);
}

function keepNamed(value: unknown, placeholders: PlaceholderRegistry): void {
  if (typeof value !== "object" || value === null) return;
  for (const [name, part] of Object.entries(value)) {
    if (typeof part === "string" && isSecretName(name, "exchange")) keepToken(part, placeholders);
    else keepNamed(part, placeholders);
  }
}
