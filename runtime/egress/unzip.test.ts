import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { zipOf } from "../../tests/zip-file.ts";
import { isZip, unzip } from "./unzip.ts";

const limit = 1_000_000;
const texts = async (bytes: Buffer) => (await unzip(bytes, limit)).map(String);

describe("a ZIP archive", () => {
  test.each([
    ["deflated", 8],
    ["stored", 0],
  ])("gives its files in their order, %s", async (_, method) => {
    const files = ["one", "", "third ü"].map((text, index) => ({ name: `${index}.txt`, text }));
    const folder = { name: "folder/", text: "", method: 0 };
    const bytes = zipOf([folder, ...files.map((file) => ({ ...file, method }))], "a comment");
    expect(isZip(bytes)).toBe(true);
    expect(await texts(bytes)).toEqual(["one", "", "third ü"]);
  });

  test("may be empty", async () => {
    expect([isZip(zipOf([])), await texts(zipOf([]))]).toEqual([true, []]);
  });

  test.each([
    ["one file", 1],
    ["many that fit alone", 20],
  ])("that is a bomb is given up when its bytes are too many: %s", async (_, count) => {
    const size = count === 1 ? 50_000_000 : 100_000;
    const files = Array.from({ length: count }, (_, index) => ({
      name: `${index}`,
      text: Buffer.alloc(size),
    }));
    const bytes = zipOf(files);
    expect(bytes.length).toBeLessThan(100_000);
    await expect(unzip(bytes, limit)).rejects.toMatchObject({ code: "RESPONSE_TOO_LARGE" });
  });

  test.each([
    ["is encrypted", zipOf([{ name: "a", text: "x", flags: 1 }]), "encrypted"],
    ["is packed otherwise", zipOf([{ name: "a", text: "x", method: 12 }]), "method 12"],
    ["is damaged", zipOf([{ name: "a", text: "x", crc: 7 }]), "not what was packed"],
    ["is cut short", zipOf([{ name: "a", text: "text" }]).subarray(0, 40), "cut short"],
    ["is no archive behind its first bytes", Buffer.from(`PK\x03\x04${"x".repeat(80)}`), "cut"],
  ])("that %s is one clear error", async (_, bytes, problem) => {
    await expect(unzip(bytes, limit)).rejects.toMatchObject({
      code: "RESPONSE_INVALID",
      details: { reason: expect.stringContaining(problem) },
    });
  });

  test("whose numbers lie gives an error of the table, and never others' bytes", async () => {
    const whole = zipOf([{ name: "a.txt", text: "text ".repeat(50) }]);
    for (let round = 0; round < 2_000; round++) {
      const bytes = Buffer.from(whole);
      const [at = 0, value = 0] = randomBytes(2);
      bytes[(at * 7 + round) % bytes.length] = value;
      const outcome = await unzip(bytes, limit).then(
        (files) => files.map(String),
        ({ code }) => code,
      );
      const known = ["RESPONSE_INVALID", "RESPONSE_TOO_LARGE", "CONNECTION_FAILED"];
      if (!known.includes(String(outcome)))
        expect([["text ".repeat(50)], []]).toContainEqual(outcome);
    }
  });
});
