import fc from "fast-check";
import { expect, test } from "vitest";
import { toFileName, toSqlName } from "./output-names.ts";

const none = new Set<string>();

test("a plain name stays as it is", () => {
  expect(toFileName("public.users", ".jsonl", none)).toBe("public.users.jsonl");
  expect(toSqlName("users", none)).toBe("users");
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
      fc.uniqueArray(fc.string({ unit: fc.constantFrom("a", "A", "b", "/", ".", "_", "é") }), { maxLength: 30 }),
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

test("any two columns have different names, none empty and none the sink's own", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.string({ unit: fc.constantFrom("a", "A", "_svc_", '"', "\0") }), { maxLength: 30 }),
      (names) => {
        const taken = new Set<string>();
        for (const name of names) {
          const column = toSqlName(name, taken).toLowerCase();
          expect(taken.has(column) || column === "" || column.startsWith("_svc_") || column.includes("\0")).toBe(false);
          taken.add(column);
        }
      },
    ),
  );
});
