import { deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { scanDeep } from "./deep-scan.ts";
import { createScanner } from "./scanner.ts";
import { secretViews } from "./secret-views.ts";

const canary = "q7Zt3LmX9aRk2VwB8nYc5HdJ4sPf6GxT1uKeQ0iNoMrWb";
const scanner = createScanner(secretViews(canary));
const report = Buffer.from(`{"note":"some text around it","token":"${canary}"}`);

const compressors = {
  gzip: (data: Buffer) => gzipSync(data),
  zstd: (data: Buffer) => zstdCompressSync(data),
  deflate: (data: Buffer) => deflateSync(data),
};

for (const [name, compress] of Object.entries(compressors)) {
  test(`a secret inside ${name} is found, also between other data`, () => {
    const packed = compress(report);
    expect(layersOf(packed)).toContain(name);
    expect(layersOf(Buffer.concat([Buffer.from("head "), packed, Buffer.from(" tail")]))).toContain(
      name,
    );
  });

  test(`a secret inside base64 of ${name} is found, also as PHP writes it`, () => {
    const text = `{"body":"${compress(report).toString("base64")}"}`;
    expect(layersOf(Buffer.from(text))).toContain(`base64 ${name}`);
    expect(layersOf(Buffer.from(text.replaceAll("/", "\\/")))).toContain(`base64 ${name}`);
  });
}

test("a gzip with a file name in its header is opened", () => {
  const packed = gzipSync(report);
  packed[3] = 8;
  const named = Buffer.concat([
    packed.subarray(0, 10),
    Buffer.from("report.json\0"),
    packed.subarray(10),
  ]);
  expect(layersOf(named)).toEqual(["gzip"]);
});

test("every level of deflate is recognised", () => {
  for (let level = 0; level <= 9; level++) {
    // Level 0 stores: the secret is also there in plain.
    expect(
      scanDeep(deflateSync(report, { level }), scanner).some(
        ({ within }) => within[0] === "deflate",
      ),
    ).toBe(true);
  }
});

test("a truncated gzip is read as far as it goes", () => {
  const long = Buffer.concat([
    report,
    Buffer.from(Array.from({ length: 9_000 }, (_, index) => `${index ** 2},`).join("")),
  ]);
  const packed = gzipSync(long);
  expect(scanDeep(packed.subarray(0, packed.length >> 1), scanner)).toMatchObject([
    { within: ["gzip"] },
  ]);
});

test("three layers are opened, a fourth is not", () => {
  const pack = (data: Buffer) => gzipSync(Buffer.from(data.toString("base64")));
  const three = pack(pack(gzipSync(report)));
  expect(layersOf(three)).toEqual(["gzip base64 gzip base64 gzip"]);
  expect(layersOf(pack(three))).toEqual([]);
});

test("a bomb is not unpacked", () => {
  const bomb = gzipSync(Buffer.concat([Buffer.alloc(2 ** 20), report]));
  expect(scanDeep(bomb, scanner, { maxBytes: 2 ** 19 })).toEqual([]);
});

test("text that only looks like a start is no hit", () => {
  expect(
    scanDeep(
      Buffer.from("x^2 and x\u0001 and H4sIAAAAAAAAAAAAAAAAAA and eJwAAAAAAAAAAAAAAAAA"),
      scanner,
    ),
  ).toEqual([]);
});

function layersOf(data: Buffer): string[] {
  return scanDeep(data, scanner).map(({ within }) => within.join(" "));
}
