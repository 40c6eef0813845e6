/** Tokens that a provider mints for an image: the host keeps them, the image gets placeholders. */
import type { PlaceholderRegistry } from "../egress/placeholders.ts";

/** RFC 6749 section 5.1, and OpenID Connect Core section 3.1.3.3. */
const tokenNames = ["access_token", "refresh_token", "id_token"];
/** Some providers answer as a form, of which nothing begins as JSON does. */
const inForm = new RegExp(`(?:^|&)(?:${tokenNames.join("|")})=([^&\\s]+)`, "g");
const isJson = /^\s*[[{"]/;
/** From the end of a property's name to its value, which is a text. */
const toText = /^\s*:\s*"/;
/** More white space than anybody puts there. */
const maxGap = 64;

/**
 * The answer with a placeholder in the place of each token that stands in it by its name. It may be
 * of any size and depth: it is searched, and never parsed.
 * @throws CONNECTOR_PROTOCOL when there are more tokens than a run can need
 */
export async function catchTokens(
  body: Buffer,
  placeholders: PlaceholderRegistry,
): Promise<Buffer> {
  if (!tokenNames.some((name) => body.includes(name))) return body;
  if (isJson.test(body.toString("latin1", 0, maxGap)))
    for (const name of tokenNames)
      for (const token of valuesOf(body, name)) placeholders.placeholderOf(token);
  else
    for (const [, token = ""] of body.toString("utf8").matchAll(inForm))
      placeholders.placeholderOf(new URLSearchParams(`t=${token}`).get("t") ?? token);
  return await placeholders.hideBytes(body);
}

/** The texts that a property of this name has in JSON. */
function* valuesOf(body: Buffer, name: string): Generator<string> {
  const quoted = Buffer.from(JSON.stringify(name));
  for (let at = body.indexOf(quoted); at !== -1; at = body.indexOf(quoted, at + 1)) {
    const from = at + quoted.length;
    const gap = toText.exec(body.toString("latin1", from, from + maxGap));
    const value = gap ? textAt(body, from + gap[0].length) : undefined;
    if (value !== undefined) yield value;
  }
}

/** The text of a JSON string from behind its first quotation mark. Undefined: it is none. */
function textAt(body: Buffer, from: number): string | undefined {
  let end = body.indexOf('"', from);
  while (end !== -1 && isEscaped(body, from, end)) end = body.indexOf('"', end + 1);
  if (end === -1) return undefined;
  try {
    return JSON.parse(`"${body.toString("utf8", from, end)}"`);
  } catch {
    return undefined;
  }
}

/** An odd number of backslashes stands before it. */
function isEscaped(body: Buffer, from: number, at: number): boolean {
  let before = at;
  while (before > from && body[before - 1] === 0x5c) before -= 1;
  return (at - before) % 2 === 1;
}
