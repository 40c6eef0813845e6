import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import {
  brotliCompressSync,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from "node:zlib";
import { describe, expect, test } from "vitest";
import { createSecretRegistry } from "../filter/secrets.ts";
import {
  allowedHeaderNames,
  createCookieWatch,
  decompress,
  pickHeaders,
  readBody,
} from "./response.ts";

const text = JSON.stringify({
  rows: Array.from({ length: 500 }, (_, id) => ({ id, name: `row ${id}` })),
});
const codings: [string, (bytes: string | Buffer) => Buffer][] = [
  ["gzip", gzipSync],
  ["x-gzip", gzipSync],
  ["deflate", deflateSync],
  ["deflate", deflateRawSync],
  ["br", brotliCompressSync],
  ["zstd", zstdCompressSync],
];
const mib = 1_048_576;

describe("a body", () => {
  test.each(codings)("in %s is decompressed", async (name, compress) => {
    const plain = await decompress(compress(text), { "content-encoding": name }, mib);
    expect(plain.toString()).toBe(text);
  });

  test("in two codings is undone from the last to the first", async () => {
    const plain = await decompress(
      gzipSync(brotliCompressSync(text)),
      { "content-encoding": "br, GZIP" },
      mib,
    );
    expect(plain.toString()).toBe(text);
  });

  test("without coding is the same buffer", async () => {
    const bytes = Buffer.from(text);
    expect(await decompress(bytes, {}, mib)).toBe(bytes);
  });

  test.each(codings)("that is a bomb in %s is refused", async (name, compress) => {
    const bomb = compress(Buffer.alloc(8 * mib));
    await expect(decompress(bomb, { "content-encoding": name }, mib)).rejects.toMatchObject({
      code: "RESPONSE_TOO_LARGE",
      details: { limit: mib },
    });
  });

  test.each(codings)("cut off in %s counts as a broken connection", async (name, compress) => {
    const bytes = compress(text);
    const cut = bytes.subarray(0, bytes.length - 20);
    await expect(decompress(cut, { "content-encoding": name }, mib)).rejects.toMatchObject({
      code: "CONNECTION_FAILED",
    });
  });

  test.each(["gzip", "br", "zstd"])("that is no %s at all is invalid", async (name) => {
    const work = decompress(Buffer.alloc(64, 0xff), { "content-encoding": name }, mib);
    await expect(work).rejects.toMatchObject({ code: "RESPONSE_INVALID" });
  });

  test.each(["compress", "gzip, gzip, gzip"])("in %s is not unwrapped", async (name) => {
    await expect(
      decompress(Buffer.from("x"), { "content-encoding": name }, mib),
    ).rejects.toMatchObject({
      code: "RESPONSE_INVALID",
    });
  });

  test("is read to its end, and dropped when it is longer than allowed or says so", async () => {
    const stream = () => Readable.from([Buffer.alloc(600), Buffer.alloc(400)]);
    expect((await readBody(stream(), {}, 1_000)).length).toBe(1_000);
    const long = stream();
    await expect(readBody(long, {}, 999)).rejects.toMatchObject({ code: "RESPONSE_TOO_LARGE" });
    expect(long.destroyed).toBe(true);
    await expect(readBody(stream(), { "content-length": "1001" }, 1_000)).rejects.toMatchObject({
      code: "RESPONSE_TOO_LARGE",
    });
  });
});

describe("header fields", () => {
  test("come through by allow-list; cookies and challenges never do", () => {
    const names = allowedHeaderNames(["X-Total", "Set-Cookie", "location", "www-authenticate"]);
    const headers = {
      "x-total": "3",
      "set-cookie": "a=b",
      location: "/",
      server: "x",
      etag: "1",
      link: ["a", "b"],
    };
    expect(pickHeaders(headers, names, createSecretRegistry())).toEqual({
      "x-total": "3",
      etag: "1",
      link: "a, b",
    });
  });

  test("that set cookies give up their values as secrets: long ones, and not without end", () => {
    const secrets = createSecretRegistry();
    const watch = createCookieWatch(secrets);
    watch({ "set-cookie": ["lang=en; Path=/", 'session="c00kie-value-1"; HttpOnly', "broken"] });
    expect(secrets.contains(Buffer.from("c00kie-value-1"))).toBe(true);
    expect(secrets.contains(Buffer.from('"en"'))).toBe(false);
    const value = (number: number) => createHash("sha256").update(`cookie ${number}`).digest("hex");
    for (let number = 0; number < 100; number++) watch({ "set-cookie": `t=${value(number)}` });
    expect(secrets.contains(Buffer.from(value(10)))).toBe(true);
    expect(secrets.contains(Buffer.from(value(90)))).toBe(false);
  });
});
