/**
 * The scan for reports, artefacts and tests: also looks into compressed data, found by its first
 * bytes anywhere and by the base64 of these. Far slower than the scanner; not for the path of
 * records.
 */
import { inflateRawSync, inflateSync, constants as zlib, zstdDecompressSync } from "node:zlib";
import type { Range, Scanner } from "./scanner.ts";

export interface Finding extends Range {
  /**
   * The encodings that had to be opened, outermost first: `["base64", "gzip"]`; empty for a plain
   * hit. The positions count inside the last one.
   */
  readonly within: readonly string[];
}

export interface DeepScanLimits {
  /** Layers opened one in another. Default 3. */
  readonly depth?: number | undefined;
  /** Decompressed bytes of one layer; a larger one is not looked into. Default 16 MiB. */
  readonly maxBytes?: number | undefined;
}

interface Format {
  readonly name: string;
  readonly magic: Buffer;
  readonly open: (bytes: Buffer, maxOutputLength: number) => Buffer;
}

/**
 * RFC 1952; RFC 8878; RFC 1950 with its four levels. A truncated or longer stream gives what can be
 * read of it.
 */
const formats: readonly Format[] = [
  {
    name: "gzip",
    magic: Buffer.from("1f8b08", "hex"),
    open: (bytes, max) => inflateRawSync(afterGzipHeader(bytes), tolerant(max)),
  },
  {
    name: "zstd",
    magic: Buffer.from("28b52ffd", "hex"),
    open: (bytes, maxOutputLength) => zstdDecompressSync(bytes, { maxOutputLength }),
  },
  ...["7801", "785e", "789c", "78da"].map((magic) => ({
    name: "deflate",
    magic: Buffer.from(magic, "hex"),
    open: (bytes: Buffer, max: number) => inflateSync(bytes, tolerant(max)),
  })),
];

/** The same first bytes in base64. */
const packedStart = /(?:H4sI|KLUv|eAE|eF[4-7]|eJ[w-z]|eN[o-r])[A-Za-z0-9+/_-]{12,}/g;

/** Every hit of the scanner in the bytes and in what is compressed in them. */
export function scanDeep(
  bytes: Uint8Array,
  scanner: Scanner,
  { depth = 3, maxBytes = 2 ** 24 }: DeepScanLimits = {},
): Finding[] {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const plain = scanner.find(data).map((range) => ({ ...range, within: [] }));
  if (depth === 0) return plain;
  const inner = [...compressedParts(data, maxBytes), ...packedParts(data)].flatMap(
    ({ name, content }) => {
      // Base64 alone hides nothing from the scanner: it is no layer of its own.
      const left = name === "base64" ? depth : depth - 1;
      return scanDeep(content, scanner, { depth: left, maxBytes }).map((found) => ({
        ...found,
        within: [name, ...found.within],
      }));
    },
  );
  return [...plain, ...inner];
}

function compressedParts(data: Buffer, maxBytes: number): { name: string; content: Buffer }[] {
  return formats.flatMap(({ name, magic, open }) =>
    positions(data, magic).flatMap((at) => {
      try {
        return [{ name, content: open(data.subarray(at), maxBytes) }];
      } catch {
        return []; // these bytes only looked like a start
      }
    }),
  );
}

/** RFC 1952 section 2.3. `gunzip` itself refuses a stream that other data follows. */
function afterGzipHeader(bytes: Buffer): Buffer {
  const flags = bytes[3] ?? 0;
  let at = 10;
  if (flags & 4) at += 2 + bytes.readUInt16LE(at);
  for (const textFlag of [8, 16]) if (flags & textFlag) at = bytes.indexOf(0, at) + 1;
  if (flags & 2) at += 2;
  return bytes.subarray(at);
}

function packedParts(data: Buffer): { name: string; content: Buffer }[] {
  // PHP writes "/" as "\/" in JSON.
  const text = data.toString("latin1").replaceAll("\\/", "/");
  return [...text.matchAll(packedStart)].map(([packed]) => ({
    name: "base64",
    content: Buffer.from(packed, "base64"),
  }));
}

function positions(data: Buffer, magic: Buffer): number[] {
  const found: number[] = [];
  for (let at = data.indexOf(magic); at !== -1; at = data.indexOf(magic, at + 1)) found.push(at);
  return found;
}

function tolerant(maxOutputLength: number) {
  return { maxOutputLength, finishFlush: zlib.Z_SYNC_FLUSH };
}
