/** ZIP archives for tests, well-made or with lies in them. */
import { crc32, deflateRawSync } from "node:zlib";

export interface ZipEntry {
  readonly name: string;
  readonly text: string | Buffer;
  /** Default 8, deflate. */
  readonly method?: number;
  /** Default: the true one. */
  readonly crc?: number;
  readonly flags?: number;
}

export function zipOf(entries: readonly ZipEntry[], comment = ""): Buffer {
  const files: Buffer[] = [];
  const list: Buffer[] = [];
  let offset = 0;
  for (const { name, text, method = 8, crc, flags = 0 } of entries) {
    const plain = Buffer.from(text);
    const packed = method === 8 ? deflateRawSync(plain) : plain;
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0);
    facts.writeUInt16LE(flags, 2);
    facts.writeUInt16LE(method, 4);
    facts.writeUInt32LE(crc ?? crc32(plain), 10);
    facts.writeUInt32LE(packed.length, 14);
    facts.writeUInt32LE(plain.length, 18);
    facts.writeUInt16LE(Buffer.byteLength(name), 22);
    const file = [Buffer.from("PK\x03\x04"), facts, Buffer.from(name), packed];
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    list.push(Buffer.from("PK\x01\x02\x14\x00", "latin1"), facts, place, Buffer.from(name));
    files.push(...file);
    offset += Buffer.concat(file).length;
  }
  const listed = Buffer.concat(list);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(offset, 16);
  end.writeUInt16LE(comment.length, 20);
  return Buffer.concat([...files, listed, end, Buffer.from(comment)]);
}
