/**
 * A run of an image between host and worker: the worker sends its command and ends its side; the
 * host sends the program's output in pieces, and at last how it ended. Each piece has a head, so
 * that nothing in the output can be taken for the end.
 */
import { ConnectorError } from "../contract/errors.ts";
import type { ImageEnding } from "../contract/image.ts";
import { isJsonObject } from "../contract/json.ts";

const pieceKind = { output: 0, ending: 1 } as const;
const headBytes = 5;
/** A piece of output is a chunk of a pipe; an ending is short. */
const maxPieceBytes = 4 * 1024 * 1024;

export const outputPiece = (bytes: Uint8Array): Buffer => toPiece(pieceKind.output, bytes);
export const endingPiece = (ending: ImageEnding): Buffer =>
  toPiece(pieceKind.ending, Buffer.from(JSON.stringify(ending)));

function toPiece(kind: number, bytes: Uint8Array): Buffer {
  const head = Buffer.allocUnsafe(headBytes);
  head.writeUInt8(kind, 0);
  head.writeUInt32LE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

/**
 * The output of a program, piece by piece; returns how it ended.
 * @throws CONNECTOR_PROTOCOL when the session ends without that
 */
export async function* readPieces(
  session: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, ImageEnding, undefined> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of session) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (rest.length >= headBytes) {
      const length = rest.readUInt32LE(1);
      if (length > maxPieceBytes) throw broken();
      if (rest.length < headBytes + length) break;
      const bytes = rest.subarray(headBytes, headBytes + length);
      if (rest.readUInt8(0) === pieceKind.ending) return parseEnding(bytes);
      yield bytes;
      rest = rest.subarray(headBytes + length);
    }
  }
  throw broken();
}

function parseEnding(bytes: Buffer): ImageEnding {
  const value: unknown = JSON.parse(bytes.toString("utf8"));
  if (isJsonObject(value) && typeof value.exitCode === "number")
    return value as unknown as ImageEnding;
  throw broken();
}

const broken = () =>
  new ConnectorError("CONNECTOR_PROTOCOL", { problem: "the session with the image broke off" });
