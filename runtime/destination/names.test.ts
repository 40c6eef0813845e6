import fc from "fast-check";
import { expect, test } from "vitest";
import { toSqlName } from "./names.ts";

const none = new Set<string>();

test("a plain name stays as it is", () => {
  expect(toSqlName("users", none)).toBe("users");
  expect(toSqlName("_svc_users", none, { reservedPrefix: "_svc_new_" })).toBe("_svc_users");
});

test("a name is cut between two characters, never longer than the database takes", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 200 }), (name) => {
      const fitted = toSqlName(name, none, { maxBytes: 63, reserved: new Set(["ctid"]) });
      expect(Buffer.byteLength(fitted)).toBeLessThanOrEqual(63);
      expect(fitted.isWellFormed()).toBe(true);
      expect(fitted).not.toContain("\0");
    }),
  );
  expect(toSqlName("é".repeat(5_000), none, { maxBytes: 63 })).toMatch(/^é{26}_[0-9a-f]{8}$/);
});

test("a name that somebody chose to look like the changed name of another does not meet it", () => {
  const taken = new Set(["users"]);
  const changed = toSqlName("Users", taken);
  expect(toSqlName("Users", new Set([...taken, changed.toLowerCase()]))).not.toBe(changed);
});

test("any two columns have different names, none empty and none the sink's own", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.string({ unit: fc.constantFrom("a", "A", "_svc_", '"', "\0") }), {
        maxLength: 30,
      }),
      (names) => {
        const taken = new Set<string>();
        for (const name of names) {
          const column = toSqlName(name, taken).toLowerCase();
          expect(
            taken.has(column) ||
              column === "" ||
              column.startsWith("_svc_") ||
              column.includes("\0"),
          ).toBe(false);
          taken.add(column);
        }
      },
    ),
  );
});
