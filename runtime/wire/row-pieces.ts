import { ConnectorError } from "../contract/errors.ts";

/** Rows are looked at in pieces of about so many bytes; a row is never cut. */
const pieceBytes = 1024 * 1024;

/**
 * The lines in pieces, with the number of rows in each: so that looking at many of them does not
 * keep the host from all else.
 * @throws CONNECTOR_PROTOCOL when there are more or fewer than `rowCount`
 */
export function* rowPieces(
  lines: Buffer,
  rowCount: number,
): Generator<readonly [piece: Buffer, rowCount: number], void, undefined> {
  if (lines.length <= pieceBytes) return yield [lines, rowCount];
  let left = rowCount;
  for (let from = 0; from < lines.length; ) {
    const found = lines.indexOf(0x0a, from + pieceBytes);
    const piece = lines.subarray(from, found === -1 ? lines.length : found + 1);
    const count = countLines(piece);
    left -= count;
    if (left < 0) break;
    yield [piece, count];
    from += piece.length;
  }
  if (left !== 0)
    throw new ConnectorError("CONNECTOR_PROTOCOL", { problem: "a line is not a row" });
}

function countLines(piece: Buffer): number {
  let count = 0;
  for (let at = piece.indexOf(0x0a); at !== -1; at = piece.indexOf(0x0a, at + 1)) count++;
  return count;
}
