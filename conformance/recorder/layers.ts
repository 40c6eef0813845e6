/**
 * Opens the layers inside of a text: base64, hex and percent encodings, and compressed data in
 * those.
 */
import {
  brotliDecompressSync,
  gunzipSync,
  inflateRawSync,
  inflateSync,
  zstdDecompressSync,
} from "node:zlib";

export interface Layer {
  /** Encodings that were undone, outermost first. */
  readonly within: readonly string[];
  readonly text: string;
}

const maxDepth = 4;
const maxOutputLength = 16 * 1_048_576;
/** Shorter ones hold no e-mail address and no token. */
const packed =
  /(?<![A-Za-z0-9+/_-])(?:[A-Za-z0-9+/_-]|\\\/|%2[BbFf]){16,}(?:={0,2}|(?:%3[Dd]){0,2})/g;
const hex = /(?<![0-9A-Za-z])(?:[0-9a-fA-F]{2}){12,}(?![0-9A-Za-z])/g;

/** Everything that is readable inside of the text, at any depth, the text itself not included. */
export function layersOf(text: string, depth = 0): Layer[] {
  if (depth >= maxDepth) return [];
  const opened = [
    ...[...text.matchAll(packed)].flatMap(([part]) =>
      openBytes("base64", Buffer.from(plainBase64(part), "base64")),
    ),
    ...[...text.matchAll(hex)].flatMap(([part]) => openBytes("hex", Buffer.from(part, "hex"))),
    ...percentDecoded(text),
  ];
  return opened.flatMap((layer) => [
    layer,
    ...layersOf(layer.text, depth + 1).map((inner) => ({
      ...inner,
      within: [...layer.within, ...inner.within],
    })),
  ]);
}

/** The text of bytes, as they are or decompressed; none when it is not readable. */
export function openBytes(name: string, bytes: Buffer): Layer[] {
  for (const [format, open] of formatsOf(bytes)) {
    try {
      return [
        { within: [name, format], text: open(bytes, { maxOutputLength }).toString("latin1") },
      ];
    } catch {
      // these bytes only looked like a start
    }
  }
  return isReadable(bytes) ? [{ within: [name], text: bytes.toString("utf8") }] : [];
}

function formatsOf(bytes: Buffer) {
  const [first = 0, second = 0] = bytes;
  if (first === 0x1f && second === 0x8b)
    return [
      ["gzip", gunzipSync],
      [
        "gzip",
        (all: Buffer, options: { maxOutputLength: number }) =>
          inflateRawSync(all.subarray(10), options),
      ],
    ] as const;
  if (first === 0x28 && second === 0xb5) return [["zstd", zstdDecompressSync]] as const;
  if (first === 0x78 && (first * 256 + second) % 31 === 0)
    return [["deflate", inflateSync]] as const;
  return isReadable(bytes) ? [] : ([["brotli", brotliDecompressSync]] as const);
}

/** Text of words and punctuation, in UTF-8; random bytes are not. */
function isReadable(bytes: Buffer): boolean {
  const text = bytes.toString("utf8");
  return text.length > 0 && !/[\u0000-\u0008\u000e-\u001f\u007f\ufffd]/.test(text);
}

const plainBase64 = (text: string) =>
  text.replaceAll("\\/", "/").replace(/%2b/gi, "+").replace(/%2f/gi, "/").replace(/%3d/gi, "=");

function percentDecoded(text: string): Layer[] {
  if (!/%[0-9A-Fa-f]{2}/.test(text)) return [];
  const decoded = text.replace(/(?:%[0-9A-Fa-f]{2})+/g, (part) =>
    Buffer.from(part.replaceAll("%", ""), "hex").toString("utf8"),
  );
  return decoded === text ? [] : [{ within: ["percent"], text: decoded }];
}
