/**
 * The search for real secrets in recordings: what the recorder's last scan looks for, and values
 * under the names of secrets.
 */
import { isSecretName } from "svc-connectors/host";
import type { Interaction } from "../contract/recording.ts";
import { bodyForm } from "../fixtures/body-form.ts";
import { createKnownSecrets } from "../recorder/known-secrets.ts";
import { createPseudonyms } from "../recorder/pseudonyms.ts";
import { type FixtureLeak, findLeaks } from "../recorder/scan.ts";
import { entropy } from "../recorder/shapes.ts";

/** Everything in a fixture file that looks like a secret; the places, never the secrets. */
export function findFixtureSecrets(file: string, document: object): readonly FixtureLeak[] {
  const scanned = findLeaks(file, document, {
    secrets: createKnownSecrets(),
    pseudonyms: createPseudonyms(0),
    hasPeople: false,
  });
  const { interactions = [], answers = {} } = document as {
    interactions?: readonly Interaction[];
    answers?: Readonly<Record<string, Interaction["response"]>>;
  };
  const named = [
    ...interactions.flatMap((interaction, index) => [
      ...inText(interaction.request.url, `/interactions/${index}/request/url`),
      ...inBody(
        interaction.request.body,
        interaction.request.headers,
        `/interactions/${index}/request`,
      ),
      ...inBody(
        interaction.response.body,
        interaction.response.headers,
        `/interactions/${index}/response`,
      ),
    ]),
    ...Object.entries(answers).flatMap(([status, answer]) =>
      inBody(answer.body, answer.headers, `/answers/${status}`),
    ),
  ].map((found) => ({ file, ...found }));
  const known = new Set(scanned.map(({ pointer }) => pointer));
  return [...scanned, ...named.filter(({ pointer }) => !known.has(pointer))];
}

type FixtureFinding = Omit<FixtureLeak, "file">;

function inBody(
  body: string | undefined,
  headers: Readonly<Record<string, string>> | undefined,
  pointer: string,
): FixtureFinding[] {
  const inHeaders = Object.entries(headers ?? {}).flatMap(([name, value]) => [
    ...judge(name, credentialIn(name, value), `${pointer}/headers/${name}`),
    ...inText(value, `${pointer}/headers/${name}`),
  ]);
  if (body === undefined) return inHeaders;
  const at = `${pointer}/body`;
  const form = bodyForm(body);
  if (form === "json") return [...inHeaders, ...inJson(JSON.parse(body), at, [])];
  if (form === "form") return [...inHeaders, ...inPairs(new URLSearchParams(body), at)];
  return [...inHeaders, ...inParts(body, at), ...inText(body, at)];
}

/** JSON at any depth, also JSON and forms inside its texts. */
function inJson(value: unknown, pointer: string, names: readonly string[]): FixtureFinding[] {
  if (typeof value === "string") {
    const own = judge(names[0] ?? "", value, pointer);
    if (own.length > 0) return own;
    const form = bodyForm(value);
    if (form === "json" && /^\s*[[{]/.test(value))
      return inJson(JSON.parse(value), `${pointer}#`, []);
    return inText(value, pointer);
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) =>
    inJson(part, `${pointer}/${name}`, Array.isArray(value) ? names : [name, ...names]),
  );
}

/** URLs with their queries, anywhere in a text. */
const inText = (text: string, pointer: string): FixtureFinding[] =>
  [...text.matchAll(/[?&]([\w.%[\]-]+)=([^&\s"'<>#]+)/g)].flatMap(([, name = "", value = ""]) =>
    judge(decoded(name), decoded(value), `${pointer}?${name}`),
  );

const inPairs = (pairs: URLSearchParams, pointer: string): FixtureFinding[] =>
  [...pairs].flatMap(([name, value]) => judge(name, value, `${pointer}#${name}`));

/** Fields of multipart/form-data (RFC 7578). */
const inParts = (body: string, pointer: string): FixtureFinding[] =>
  [
    ...body.matchAll(
      /content-disposition:[^\r\n]*;\s*name="([^"]+)"[^\r\n]*(?:\r?\n[^\r\n]+)*\r?\n\r?\n([^\r\n]*)/gi,
    ),
  ].flatMap(([, name = "", value = ""]) => judge(name, value, `${pointer}#${name}`));

/** "Bearer abc" → "abc"; of a Basic header what it encodes, of a cookie its value. */
function credentialIn(name: string, value: string): string {
  if (/^(?:set-)?cookie$/.test(name)) return /^[^=;]*=([^;]*)/.exec(value)?.[1] ?? value;
  const [, scheme = "", rest = value] = /^(Basic|Bearer|Token)\s+(.+)$/i.exec(value) ?? [];
  return scheme.toLowerCase() === "basic" ? Buffer.from(rest, "base64").toString("utf8") : rest;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}

const shortest = 8;
/** A word has fewer bits a character than what was drawn at random; "aaaaaaaa" has none. */
const randomBits = 2.5;
const placeholder = /\{\{(?:secret|issued):[^{}]+\}\}/g;

function judge(name: string, value: string, pointer: string): FixtureFinding[] {
  if (!isSecretName(name, "exchange")) return [];
  const plain = value.replace(placeholder, "");
  const isWords =
    /\s/.test(plain) ||
    !/\d/.test(plain) ||
    /^https?:/.test(plain) ||
    /^\d{4}-\d\d-\d\d/.test(plain) ||
    /^\d{1,7}$/.test(plain);
  return plain.length < shortest || isWords || entropy(plain) < randomBits
    ? []
    : [{ pointer, what: `a value under the secret name "${name}"` }];
}
