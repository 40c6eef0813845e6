/** Tokens that a provider mints for an image: the host keeps them, the image gets placeholders. */
import { setImmediate as eventLoopTurn } from "node:timers/promises";
import type { PlaceholderRegistry } from "../egress/placeholders.ts";

/** RFC 6749 section 5.1, and OpenID Connect Core section 3.1.3.3. */
const tokenNames = ["access_token", "refresh_token", "id_token"];
/** Some providers answer as a form. */
const inForm = new RegExp(`(?:^|&)(?:${tokenNames.join("|")})=([^&\\s]+)`, "g");
/** Taken out of an answer in one turn of the event loop: a few milliseconds. */
const tokensInTurn = 1_000;

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
  let count = 0;
  for (const name of tokenNames)
    for (const token of valuesOf(body, name)) {
      placeholders.placeholderOf(token);
      // One may stand there again and again.
      if (++count % tokensInTurn === 0) await eventLoopTurn();
    }
  if (!isJson(body))
    for (const [, token = ""] of body.toString("utf8").matchAll(inForm))
      placeholders.placeholderOf(new URLSearchParams(`t=${token}`).get("t") ?? token);
  return await placeholders.hideBytes(body);
}

/** Of an address in JSON no part is a form. */
const isJson = (body: Buffer) => [0x7b, 0x5b, 0x22].includes(body[afterSpace(body, 0)] ?? 0);

/** The texts that a property of this name has in JSON. */
function* valuesOf(body: Buffer, name: string): Generator<string> {
  const quoted = Buffer.from(JSON.stringify(name));
  for (let at = body.indexOf(quoted); at !== -1; at = body.indexOf(quoted, at + 1)) {
    const colon = afterSpace(body, at + quoted.length);
    if (body[colon] !== 0x3a) continue;
    const start = afterSpace(body, colon + 1);
    const value = body[start] === 0x22 ? textAt(body, start + 1) : undefined;
    if (value !== undefined) yield value;
  }
}

/** The first byte that is no white space. */
function afterSpace(body: Buffer, from: number): number {
  let at = from;
  while ([0x20, 0x09, 0x0a, 0x0d].includes(body[at] ?? 0)) at += 1;
  return at;
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
