import { expect, test } from "vitest";
import { canonicalNumber } from "../batches/hash-columns.ts";
import { statementOf } from "../database/queries.ts";
import { isSamePlace } from "../egress/minted-tokens.ts";
import { isSecretName } from "../filter/secret-names.ts";
import { isZero, withoutEnd } from "./without-end.ts";

test("takes off what stands at the end, and nothing else", () => {
  expect(withoutEnd("1001000", isZero)).toBe("1001");
  expect(withoutEnd("000", isZero)).toBe("");
  expect(withoutEnd("", isZero)).toBe("");
});

const MiB = 1024 * 1024;
const long = (character: string, last: string) => `1${character.repeat(MiB)}${last}`;

test.each<[what: string, look: () => unknown]>([
  ["a number", () => canonicalNumber(long("0", "1"))],
  ["a statement", () => statementOf({ name: "a", sql: long(" ", "x") } as never)],
  [
    "a path",
    () => isSamePlace(new URL(`https://a.example/${long("/", "x")}`), new URL("https://a.example")),
  ],
  ["a name", () => isSecretName(long("1", "é"), "exchange")],
])("%s of a MiB takes no longer than to read it", (_, look) => {
  const before = process.threadCpuUsage();
  look();
  const { user, system } = process.threadCpuUsage(before);
  // A search that looks at each character again for each takes minutes.
  expect((user + system) / 1_000).toBeLessThan(10_000);
});
