/** Forms of a secret that providers, libraries and proxies send back. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { batchOfRows, linesOfBatch } from "../../fixtures/rows-as-batch.ts";
import { createSecretRegistry } from "./secrets.ts";

const secrets = {
  "a plain token": "q7Zt3LmX9aRk2VwB8nYc5HdJ4sPf6GxT1uKeQ0iNoMrWb",
  "a token of base64": "q7Zt3+mX9/Rk2VwB8nY=5HdJ4/Pf6+xT1uKe/0iNo+rWb==",
  "a password": 'Ab"3\\x/9+K=7&m%Q2\nz5é8Tr"Wd\\4/Lp+6=Yh&1%Vc0\néJ',
  "one that looks like escapes": "a%41b&amp;c\\u0064e=66f\\\\ng%25h&#105;jkLMNOPqrst",
};

const json = (text: string) => JSON.stringify(text).slice(1, -1);
const base64 = (text: string) => Buffer.from(text).toString("base64");
const unit = (character: string) => character.charCodeAt(0).toString(16).padStart(4, "0");
/** Every n-th character, encoded. */
const some = (step: number, encode: (character: string) => string) => (text: string) =>
  Array.from(text, (one, index) => (index % step === 0 ? encode(one) : one)).join("");
const percentByte = (character: string) =>
  [...Buffer.from(character)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
const handlebars = (text: string) =>
  text.replace(/[&<>"'`=/]/g, (one) => `&#x${one.charCodeAt(0).toString(16).toUpperCase()};`);
const html = (text: string) =>
  text.replace(/[&<>"']/g, (one) => `&${names[one as keyof typeof names]};`);
const names = { "&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos" };
const go = (text: string) => json(text).replace(/[<>&]/g, (one) => `\\u${unit(one)}`);
const php = (text: string) =>
  json(text)
    .replaceAll("/", "\\/")
    .replace(/[^\0-\x7f]/g, (one) => `\\u${unit(one)}`);
const quotedPrintable = (text: string) =>
  [...Buffer.from(text)]
    .map((byte, index) => {
      const isPlain = byte >= 33 && byte <= 126 && byte !== 61;
      const one = isPlain ? String.fromCharCode(byte) : `=${hex(byte)}`;
      return index % 9 === 8 ? `${one}=\r\n` : one;
    })
    .join("");
const hex = (byte: number) => byte.toString(16).toUpperCase().padStart(2, "0");

const echoes: Record<string, (secret: string) => string> = {
  "as it is": (text) => text,
  "a URL in a URL": (text) =>
    encodeURIComponent(`https://x.example/?t=${encodeURIComponent(text)}`),
  "a URL in a URL in a URL": (text) =>
    encodeURIComponent(encodeURIComponent(`?t=${encodeURIComponent(text)}`)),
  "a form in a URL": (text) =>
    encodeURIComponent(new URLSearchParams({ t: text.replaceAll("+", "-") }).toString()),
  "some characters of a URL": some(3, percentByte),
  "JSON in JSON in JSON": (text) => json(json(json(text))),
  "JSON of PHP in JSON of PHP": (text) => php(php(text)),
  "JSON of Go in JSON": (text) => json(go(html(text))),
  "some characters as JSON escapes": some(4, (one) => `\\u${unit(one)}`),
  "some characters as JSON escapes, in JSON": (text) =>
    json(some(4, (one) => `\\u${unit(one)}`)(text)),
  "some characters as JavaScript has them": some(5, (one) => `\\u{${unit(one)}}`),
  "some bytes as Python has them": (text) =>
    Buffer.from(text).reduce(
      (all, byte, index) =>
        all + (index % 4 === 0 || byte > 126 ? `\\x${hex(byte)}` : String.fromCharCode(byte)),
      "",
    ),
  "HTML in HTML": (text) => html(html(text)),
  "HTML of Handlebars": handlebars,
  "HTML of Handlebars in JSON": (text) => json(handlebars(text)),
  "some characters as HTML escapes": some(4, (one) => `&#${one.codePointAt(0)};`),
  "HTML in a URL": (text) => encodeURIComponent(handlebars(text)),
  "a URL in HTML": (text) => html(`?a=1&t=${encodeURIComponent(text)}`),
  "escapes of all kinds": (text) =>
    Array.from(text, (one, index) =>
      [one, percentByte(one), `\\u${unit(one)}`, `&#x${unit(one)};`].at(index % 4),
    ).join(""),
  "quoted-printable": quotedPrintable,
  "quoted-printable in JSON": (text) => json(quotedPrintable(text)),
  "base64 in a URL": (text) => encodeURIComponent(base64(text)),
  "base64 of JSON": (text) => base64(JSON.stringify({ a: 1, t: text })),
};

describe.each(Object.entries(secrets))("%s", (_, secret) => {
  const registry = createSecretRegistry();
  registry.add(secret);

  test.each(Object.entries(echoes))("is found as %s, in texts, rows and names", (_name, echo) => {
    const echoed = echo(secret);
    for (const before of ["", "x", "seen: ", "a=1&b="]) {
      const text = `${before}${echoed} end`;
      expect(registry.contains(Buffer.from(text))).toBe(true);
      const redacted = registry.redactText(text);
      expect(redacted).toContain("[redacted]");
      expect(registry.contains(Buffer.from(redacted))).toBe(false);
      const line = Buffer.from(`${JSON.stringify({ id: 1, text, [text]: true })}\n`);
      expect(registry.redactLines(line).toString()).toBe(
        '{"id":1,"text":"[redacted]","[redacted]":true}\n',
      );
      const batch = registry.redactBatch(batchOfRows([{ text, names: { [text]: true } }]));
      expect(linesOfBatch(batch)).toBe('{"text":"[redacted]","names":{"[redacted]":true}}\n');
    }
  });

  test("is found in base64 of base64, wherever it stands in both", () => {
    for (let inner = 0; inner < 3; inner++) {
      for (let outer = 0; outer < 3; outer++) {
        for (const encoding of ["base64", "base64url"] as const) {
          const once = Buffer.from(`${"{".repeat(inner)}${secret}}`).toString(encoding);
          const twice = base64(`${"[".repeat(outer)}${once}]`);
          expect(registry.contains(Buffer.from(`t ${twice} t`)), `${inner} ${outer}`).toBe(true);
        }
      }
    }
  });

  // Where an escape of the secret's own is cut in two, it reads as another.
  test.skipIf(secret === secrets["one that looks like escapes"])(
    "is found by any ten of its characters, some of them escaped",
    () => {
      const characters = [...secret];
      const escapes = [percentByte, (one: string) => `\\u${unit(one)}`, (one: string) => one];
      const missed: string[] = [];
      for (let start = 0; start + 10 <= characters.length; start++) {
        const piece = characters.slice(start, start + 10);
        // Fewer than four different characters say nothing of a secret.
        if (new Set(piece).size < 5) continue;
        const text = piece.map((one, index) => escapes[(start + index) % 3]?.(one)).join("");
        if (!registry.contains(Buffer.from(`<${text}>`))) missed.push(text);
      }
      expect(missed).toEqual([]);
    },
  );
});

test("what is shorter than ten characters is found in full, with escapes too", () => {
  const registry = createSecretRegistry();
  registry.add("hunt/r2=");
  for (const echo of [handlebars, some(3, percentByte), some(2, (one) => `\\u${unit(one)}`)])
    expect(registry.redactText(`it is ${echo("hunt/r2=")}, yes`)).toBe("it is [redacted], yes");
  expect(registry.redactText("it is hunt&#x2F;r3=, no")).toBe("it is hunt&#x2F;r3=, no");
});

test("texts full of escapes that hold no secret stay as they are", () => {
  const registry = createSecretRegistry();
  for (const secret of Object.values(secrets)) registry.add(secret);
  const piece = fc.oneof(
    fc.constantFrom(
      "%41",
      "%2541",
      "&amp;",
      "&#65;",
      "\\u0041",
      "\\\\",
      "=3D",
      "=\r\n",
      "%",
      "&",
      "\\",
    ),
    fc.string({ maxLength: 4 }),
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const text = pieces.join("");
      expect(registry.redactText(text)).toBe(text);
      const lines = Buffer.from(`${JSON.stringify({ text })}\n`);
      expect(registry.redactLines(lines)).toBe(lines);
      const batch = batchOfRows(pieces.map((piece) => ({ text, piece, list: [text] })));
      expect(registry.redactBatch(batch)).toBe(batch);
    }),
    { numRuns: 500 },
  );
});
