/** Tokens that a provider mints for an image: the host keeps them, the image gets placeholders. */
import { ConnectorError } from "../contract/errors.ts";
import type { PlaceholderRegistry } from "../egress/placeholders.ts";
import { measureJson } from "../wire/bounded-json.ts";

/** RFC 6749 section 5.1, and OpenID Connect Core section 3.1.3.3. */
const tokenNames = ["access_token", "refresh_token", "id_token"];
/** Some providers answer as a form. */
const inForm = new RegExp(`(?:^|&)(?:${tokenNames.join("|")})=([^&\\s]+)`, "g");
/** Deeper than any answer of a log-in. */
const maxDepth = 64;

/**
 * The answer with a placeholder in the place of each token that stands in it by its name.
 * @throws RESPONSE_INVALID when it may hold one and cannot be searched
 */
export async function catchTokens(
  body: Buffer,
  placeholders: PlaceholderRegistry,
): Promise<Buffer> {
  if (!tokenNames.some((name) => body.includes(name))) return body;
  if (measureJson(body).depth > maxDepth)
    throw new ConnectorError("RESPONSE_INVALID", { reason: "the answer with a token is too deep" });
  const text = body.toString("utf8");
  const document = parseJson(text);
  if (document !== undefined) keep(document, placeholders);
  else
    for (const [, token = ""] of text.matchAll(inForm))
      placeholders.placeholderOf(new URLSearchParams(`t=${token}`).get("t") ?? token);
  return await placeholders.hideBytes(body);
}

function keep(value: unknown, placeholders: PlaceholderRegistry): void {
  if (typeof value !== "object" || value === null) return;
  for (const [name, part] of Object.entries(value)) {
    if (typeof part === "string" && tokenNames.includes(name)) placeholders.placeholderOf(part);
    else keep(part, placeholders);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
