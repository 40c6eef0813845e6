import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { missedInColumns } from "../../fixtures/redacted-forms.ts";
import { createScanner } from "./scanner.ts";
import { insideJson, minSecretCharacters, secretViews } from "./secret-views.ts";
import { createSecretRegistry } from "./secrets.ts";

const plainCanary = "q7Zt3LmX9aRk2VwB8nYc5HdJ4sPf6GxT1uKeQ0iNoMrWb";
const hardCanary = 'Ab"3\\x/9+K=7&m%Q2\nz5é8Tr"Wd\\4/Lp+6=Yh&1%Vc0\néJ';
const canaries = [plainCanary, hardCanary];

const scannerFor = (...secrets: string[]) => {
  const views = secrets.flatMap((secret) => secretViews(secret));
  return createScanner([...views, ...insideJson(views)]);
};

/** Bytes that occur in no view. */
const filler = (length: number) => Buffer.alloc(length, 1);

describe.each([
  ["plain", plainCanary],
  ["full of characters that encoders change", hardCanary],
])("a secret that is %s", (_, canary) => {
  const scanner = scannerFor(canary);

  test("is found in every view, wherever it starts", () => {
    for (const view of secretViews(canary)) {
      for (let before = 0; before < 12; before++) {
        const data = Buffer.concat([filler(before), view.bytes, filler(3)]);
        expect(scanner.holds(data), `${view.name} after ${before} bytes`).toBe(true);
      }
    }
  });

  test("is found by any run of ten of its characters, in every view", () => {
    const runs = runsOfViews(canary);
    const missed = runs
      .filter(({ run }, at) => !scanner.holds(Buffer.concat([filler(at % 11), run, filler(5)])))
      .map(({ name }) => name);
    expect(missed).toEqual([]);
    expect(runs.length).toBeGreaterThan(1_000);
  });

  test("is found by any run of ten of its characters, in every view, as a value of a column", () => {
    const registry = createSecretRegistry();
    registry.add(canary);
    const runs = runsOfViews(canary);
    expect(runs.length).toBeGreaterThan(1_000);
    for (const [form, missed] of missedInColumns(
      registry,
      runs.map(({ run }) => run),
    ))
      expect([form, missed.map((index) => runs[index]?.name)]).toEqual([form, []]);
  });

  test("is found by any run of a view's minimum, exactly from its start to its end", () => {
    const missed: string[] = [];
    for (const view of secretViews(canary)) {
      for (let start = 0; start + view.minBytes <= view.bytes.length; start++) {
        for (let before = 0; before < 5; before++) {
          const run = view.bytes.subarray(start, start + view.minBytes + 3 * before);
          const found = scanner.find(Buffer.concat([filler(before), run, filler(5)]));
          const isExact =
            found.length === 1 &&
            found[0]?.start === before &&
            found[0].end === before + run.length;
          if (!isExact && differentBytes(run) >= 4)
            missed.push(`${view.name} from ${start}, at ${before}`);
        }
      }
    }
    expect(missed).toEqual([]);
  });
});

test("ten characters are found in what real encoders make of them between other text", () => {
  const encoders: Record<string, (text: string) => string | Buffer> = {
    base64: (text) => Buffer.from(text).toString("base64"),
    base64url: (text) => Buffer.from(text).toString("base64url"),
    hex: (text) => Buffer.from(text).toString("hex"),
    percent: encodeURIComponent,
    form: (text) => new URLSearchParams({ text }).toString(),
    json: (text) => JSON.stringify(text),
    utf16: (text) => Buffer.from(text, "utf16le"),
    bytes: (text) => JSON.stringify(Buffer.from(text)),
  };
  const scanner = scannerFor(...canaries);
  const missed: string[] = [];
  for (const canary of canaries) {
    const characters = [...canary];
    for (let start = 0; start + minSecretCharacters <= characters.length; start++) {
      const piece = characters.slice(start, start + minSecretCharacters).join("");
      for (const [name, encode] of Object.entries(encoders)) {
        for (const before of ["", "~", "~~", "~~~", "~é~"]) {
          if (!scanner.holds(Buffer.from(encode(`${before}${piece}~~~`))))
            missed.push(`${name} of ${before}${piece}`);
        }
      }
    }
  }
  expect(missed).toEqual([]);
});

test("nine characters are no hit, ten are", () => {
  const scanner = scannerFor(plainCanary);
  for (let start = 0; start + 10 <= plainCanary.length; start++) {
    expect(scanner.holds(Buffer.from(`--${plainCanary.slice(start, start + 9)}--`))).toBe(false);
    expect(scanner.holds(Buffer.from(`--${plainCanary.slice(start, start + 10)}--`))).toBe(true);
  }
});

test("the range of a hit is the run itself", () => {
  const scanner = scannerFor(...canaries);
  const data = Buffer.from(`a ${plainCanary} b ${Buffer.from(plainCanary).toString("hex")} c`);
  expect(scanner.find(data).map(({ start, end }) => data.toString("utf8", start, end))).toEqual([
    plainCanary,
    Buffer.from(plainCanary).toString("hex"),
  ]);
});

test("a secret in each of the places where libraries put one is found", () => {
  for (const canary of canaries) {
    const scanner = scannerFor(canary);
    const url = new URL("https://api.example.com/v1");
    url.searchParams.set("token", canary);
    const places: Record<string, string | Buffer> = {
      basic: `Basic ${Buffer.from(`some-user:${canary}`).toString("base64")}`,
      jwt: Buffer.from(JSON.stringify({ sub: 1, key: canary })).toString("base64url"),
      buffer: JSON.stringify(Buffer.from(canary)),
      typedArray: JSON.stringify(new Uint8Array(Buffer.from(canary))),
      url: url.href,
      form: new URLSearchParams({ a: "1", secret: canary }).toString(),
      json: JSON.stringify(JSON.stringify({ nested: JSON.stringify({ canary }) })),
      utf16: Buffer.from(`x${canary}`, "utf16le"),
      utf16BigEndian: Buffer.from(`x${canary}`, "utf16le").swap16(),
      hexInJson: JSON.stringify(hexEscaped(canary)),
      split: `{"a":"${plainCanary === canary ? canary.slice(0, 22) : canary.slice(14, 17)}","b":"${canary.slice(22)}"}`,
      wrapped: canary.replace(/(.{40})/su, "$1\n"),
    };
    for (const [name, place] of Object.entries(places))
      expect(scanner.holds(Buffer.from(place)), name).toBe(true);
  }
});

test("dashes, padding and short numbers inside a secret are no hit in clean data", () => {
  const scanner = scannerFor("----------------key-4F9a==============1234567890123xK");
  expect(
    scanner.holds(Buffer.from(`${"-".repeat(80)} ${"=".repeat(80)} at 1234567890123 ms`)),
  ).toBe(false);
  expect(scanner.holds(Buffer.from("--key-4F9a=="))).toBe(true);
});

test("empty data, data shorter than a gram and an empty scanner give nothing", () => {
  const scanner = scannerFor(plainCanary);
  for (let length = 0; length < 10; length++)
    expect(scanner.find(Buffer.from(plainCanary.slice(0, length)))).toEqual([]);
  expect(createScanner([]).find(Buffer.from(plainCanary))).toEqual([]);
  expect(createScanner([]).holds(Buffer.from(plainCanary))).toBe(false);
});

test("a slice of a larger buffer is read within its borders", () => {
  const whole = Buffer.from(`xx${plainCanary}yy`);
  const scanner = scannerFor(plainCanary);
  expect(scanner.find(whole.subarray(2, 47))).toEqual([{ start: 0, end: 45 }]);
  expect(scanner.holds(whole.subarray(0, 11))).toBe(false);
});

test("random bytes are clean", () => {
  const scanner = scannerFor(...canaries);
  fc.assert(fc.property(fc.uint8Array({ maxLength: 4_000 }), (bytes) => !scanner.holds(bytes)));
});

function differentBytes(run: Uint8Array): number {
  return new Set(run).size;
}

function hexEscaped(text: string): string {
  return [...Buffer.from(text)].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
}

/** The part of each view that stands for each ten characters in a row. */
function runsOfViews(canary: string): { readonly name: string; readonly run: Uint8Array }[] {
  const characters = [...canary];
  const runs: { name: string; run: Uint8Array }[] = [];
  for (let start = 0; start + minSecretCharacters <= characters.length; start++) {
    const piece = characters.slice(start, start + minSecretCharacters).join("");
    const before = characters.slice(0, start).join("");
    for (const [index, view] of secretViews(canary).entries()) {
      const run = pieceOfView(view.bytes, view.name, before, piece, index);
      if (run) runs.push({ name: `${view.name} from ${start}`, run });
    }
  }
  return runs;
}

/**
 * The bytes that an encoder makes of `piece` alone, where it treats every character for itself; the
 * packed and indexed views depend on what stands before, so their part of the whole is cut out
 * instead.
 */
function pieceOfView(
  whole: Uint8Array,
  name: string,
  before: string,
  piece: string,
  index: number,
): Uint8Array | undefined {
  const alone = secretViews(piece)[index]?.bytes;
  if (alone === undefined || /^(?:typed|without)/.test(name)) return undefined;
  if (!name.startsWith("base")) return alone;
  const bitsPerCharacter = name.startsWith("base32") ? 5 : 6;
  if (/^base64 (?:twice|of)/.test(name)) return undefined; // echoes.test.ts looks at these
  const alignment = Number(name.at(-1));
  const dropped = name.startsWith("base32")
    ? Math.ceil((alignment * 8) / 5)
    : ([0, 2, 3][alignment] ?? 0);
  const firstBit = (alignment + Buffer.byteLength(before)) * 8;
  const lastBit = firstBit + Buffer.byteLength(piece) * 8;
  const from = Math.ceil(firstBit / bitsPerCharacter) - dropped;
  return whole.subarray(Math.max(0, from), Math.floor(lastBit / bitsPerCharacter) - dropped);
}
