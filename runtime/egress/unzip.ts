/**
 * ZIP archives that come as answers: a stranger's bytes, of which nothing is believed. What is
 * unpacked is counted as it is unpacked, whatever the archive says of its size. No library does:
 * fflate makes room for the size that an archive states, and yauzl bounds a file by that size, not
 * by what is left; Node's zlib inflates within a bound.
 * @see PKWARE APPNOTE 6.3.10, sections 4.3.7, 4.3.12 and 4.3.16
 */
import { crc32 } from "node:zlib";
import { ConnectorError } from "../contract/errors.ts";
import { inflateWithin, tooLarge } from "./response.ts";

const endMark = 0x06054b50;
const entryMark = 0x02014b50;
const fileMark = 0x04034b50;
const endLength = 22;
/** A comment behind the end has at most this many bytes. */
const maxCommentBytes = 65_535;
/** An export comes in a handful of files. */
const maxFiles = 10_000;

export const isZip = (bytes: Buffer): boolean =>
  bytes.length >= endLength && [fileMark, endMark].includes(bytes.readUInt32LE(0));

/**
 * The files of an archive, in the order in which it lists them, without folders.
 * @param maxBytes of all of them together
 * @throws RESPONSE_TOO_LARGE · RESPONSE_INVALID for one that is damaged, encrypted, or in a form
 * (ZIP64, methods besides "stored" and "deflated") that is not read
 */
export async function unzip(bytes: Buffer, maxBytes: number): Promise<Buffer[]> {
  try {
    const files: Buffer[] = [];
    let left = maxBytes;
    for (const entry of entriesOf(bytes)) {
      const plain = await fileOf(bytes, entry, left);
      left -= plain.length;
      if (left < 0) throw tooLarge(maxBytes);
      if (crc32(plain) !== entry.crc) throw damaged("a file of it is not what was packed");
      if (!entry.isFolder) files.push(plain);
    }
    return files;
  } catch (error) {
    // A number of it led out of it.
    throw error instanceof RangeError ? damaged("it is cut short") : error;
  }
}

interface Entry {
  readonly isFolder: boolean;
  readonly method: number;
  readonly crc: number;
  readonly packedBytes: number;
  readonly offset: number;
}

/** The list of files, which stands before the end. */
function entriesOf(bytes: Buffer): Entry[] {
  const end = endOf(bytes);
  const count = bytes.readUInt16LE(end + 10);
  let at = bytes.readUInt32LE(end + 16);
  if (count === 0xffff || at === 0xffffffff) throw damaged("ZIP64 is not read");
  if (count > maxFiles) throw damaged(`it has more than ${maxFiles} files`);
  return Array.from({ length: count }, () => {
    if (bytes.readUInt32LE(at) !== entryMark) throw damaged("its list of files is not there");
    if ((bytes.readUInt16LE(at + 8) & 1) !== 0) throw damaged("it is encrypted");
    const nameBytes = bytes.readUInt16LE(at + 28);
    const entry = {
      isFolder: nameBytes > 0 && bytes.readUInt8(at + 45 + nameBytes) === 0x2f,
      method: bytes.readUInt16LE(at + 10),
      crc: bytes.readUInt32LE(at + 16),
      packedBytes: bytes.readUInt32LE(at + 20),
      offset: bytes.readUInt32LE(at + 42),
    };
    at += 46 + nameBytes + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
    return entry;
  });
}

function endOf(bytes: Buffer): number {
  const first = Math.max(0, bytes.length - endLength - maxCommentBytes);
  for (let at = bytes.length - endLength; at >= first; at--)
    if (bytes.readUInt32LE(at) === endMark) return at;
  throw damaged("it is cut short");
}

async function fileOf(bytes: Buffer, entry: Entry, maxBytes: number): Promise<Buffer> {
  const { offset, method, packedBytes } = entry;
  if (bytes.readUInt32LE(offset) !== fileMark) throw damaged("a file of it is not there");
  const start = offset + 30 + bytes.readUInt16LE(offset + 26) + bytes.readUInt16LE(offset + 28);
  if (start + packedBytes > bytes.length) throw damaged("it is cut short");
  const packed = bytes.subarray(start, start + packedBytes);
  if (method === 0) return packed;
  if (method === 8) return await inflateWithin(packed, maxBytes);
  throw damaged(`its method ${method} is not read`);
}

const damaged = (problem: string) =>
  new ConnectorError("RESPONSE_INVALID", { reason: `the ZIP archive cannot be read: ${problem}` });
