import fc from "fast-check";
import { expect, test } from "vitest";
import { createSecretRegistry } from "./secrets.ts";
import { findShapes } from "./shape-guards.ts";
import { sanitizeText } from "./text.ts";

const canary = "q7Zt3LmX9aRk2VwB8nYc5HdJ4sPf6GxT1uKeQ0iNoMrWb";
const secrets = createSecretRegistry();
secrets.add(canary);
const sanitize = (text: string) => sanitizeText(text, secrets);

test("ordinary text stays as it is", () => {
  const text = "Page 3 of 7 of campaigns (HTTP 200) took 1,204 ms: é, 日本, 🙂.";
  expect(sanitize(text)).toBe(text);
});

test("a secret in any encoding is redacted", () => {
  const hex = Buffer.from(canary).toString("hex");
  expect(sanitize(`got ${canary} and ${hex}.`)).toBe("got [redacted] and [redacted].");
});

test("a stack leaves only its message", () => {
  const stack = new Error("The message.").stack ?? "";
  expect(sanitize(stack)).toBe("Error: The message. [hidden]");
  expect(sanitize(JSON.stringify({ stack }))).not.toMatch(/\.ts|\bat\b|node_modules/);
});

test("paths, keys, tokens and image names are hidden, the words around them stay", () => {
  const jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N";
  const pem = "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----";
  expect(sanitize(`open "/home/me/a.json" with ${jwt} and ${pem} done`)).toBe(
    'open "[hidden]" with [hidden] and [hidden] done',
  );
  expect(sanitize("-----BEGIN PRIVATE KEY-----\nMIIE cut off")).toBe("[hidden]");
});

test("the result is one line of at most 500 characters without control characters", () => {
  expect(sanitize("a\nb\r\n\tc\u0000d\u001b[31mred\u001b[0m\u2028e\u0007")).toBe("a b c dred e");
  expect(sanitize("x y ".repeat(10_000))).toHaveLength(500);
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 2_000 }), (text) => {
      const line = sanitize(text);
      expect(line.length).toBeLessThanOrEqual(500);
      expect(line.isWellFormed()).toBe(true);
      expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
    }),
  );
});

test("cutting does not leave half of a character", () => {
  expect(sanitize(`${"x".repeat(498)}🙂🙂`)).toBe(`${"x".repeat(498)}…`);
});

test("no secret and no shape is left, wherever they stand", () => {
  const pieces = [
    canary,
    Buffer.from(canary).toString("base64"),
    "\n    at f (/srv/a.js:1:2)",
    "/home/me/x",
    "\\n",
    " ",
    '"',
    "word",
    "\n",
  ];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces)), (parts) => {
      const line = sanitize(parts.join(""));
      expect(secrets.contains(Buffer.from(line))).toBe(false);
      expect(findShapes(line)).toEqual([]);
    }),
    { numRuns: 2_000 },
  );
});
