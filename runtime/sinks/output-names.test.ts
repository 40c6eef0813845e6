import fc from "fast-check";
import { expect, test } from "vitest";
import { toFileName } from "./output-names.ts";

const none = new Set<string>();

test("a plain name stays as it is", () => {
  expect(toFileName("public.users", ".jsonl", none)).toBe("public.users.jsonl");
});

test.each([
  "",
  ".",
  "..",
  "../../etc/passwd",
  "/abs",
  ".hidden",
  "-rf",
  "a\0b",
  "a\nb",
  "CON",
  "nul.x",
  "x".repeat(500),
  "ü",
  "a/b",
  "a\\b",
  "C:x",
])("the hostile name %j becomes a plain file name of its own", (name) =>
  expect(toFileName(name, ".jsonl", none)).toMatch(/^\w[\w.-]{0,140}_[0-9a-f]{8}\.jsonl$/));

test("any two streams have different files, also where case does not count", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.string({ unit: fc.constantFrom("a", "A", "b", "/", ".", "_", "é") }), {
        maxLength: 30,
      }),
      (names) => {
        const taken = new Set<string>();
        for (const name of names) {
          const file = toFileName(name, ".jsonl", taken).toLowerCase();
          expect(taken.has(file)).toBe(false);
          taken.add(file);
        }
      },
    ),
  );
});
