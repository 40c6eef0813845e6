import fc from "fast-check";
import { ConnectorError } from "svc-connectors";
import { expect, test } from "vitest";
import { formatLsn, parseLsn } from "./lsn.ts";
import { createChangeDecoder, isNull, isUnchanged } from "./pgoutput.ts";

const u16 = (value: number) => Buffer.from([value >> 8, value & 0xff]);
const u32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const u64 = (value: bigint) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(value);
  return bytes;
};
const join = (...parts: (string | Buffer)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part)));
const text = (value: string) => join("t", u32(Buffer.byteLength(value)), value);
const row = join(u16(3), text("é1"), "n", "u");

const decodeChange = createChangeDecoder();

const messages = {
  begin: join("B", u64(5n), u64(7n), u32(9)),
  commit: join("C", "\0", u64(5n), u64(6n), u64(7n)),
  relation: join(
    "R",
    u32(42),
    "public\0",
    "t\0",
    "d",
    u16(1),
    "\x01",
    "id\0",
    u32(23),
    u32(0xffffffff),
  ),
  insert: join("I", u32(42), "N", row),
  update: join("U", u32(42), "K", row, "N", row),
  whole: join("U", u32(42), "O", row, "N", row),
  plain: join("U", u32(42), "N", row),
  delete: join("D", u32(42), "K", row),
  truncate: join("T", u32(2), "\0", u32(42), u32(43)),
};

test("a message says what was changed, and where its values lie", () => {
  expect(decodeChange(messages.begin)).toEqual({ kind: "begin", lsn: 5n, time: 7n, xid: 9 });
  expect(decodeChange(messages.commit)).toEqual({ kind: "commit", end: 6n });
  expect(decodeChange(messages.relation)).toEqual({
    kind: "relation",
    relation: {
      oid: 42,
      schema: "public",
      name: "t",
      identity: "d",
      columns: [{ name: "id", isKey: true, type: 23, modifier: -1 }],
    },
  });
  expect(decodeChange(messages.truncate)).toEqual({ kind: "truncate", oids: [42, 43] });
  const inserted = decodeChange(messages.insert);
  if (inserted.kind !== "insert") throw new Error("an insert is one");
  const { bytes, starts, lengths } = inserted.row;
  expect([...lengths]).toEqual([3, isNull, isUnchanged]);
  expect(bytes.toString("utf8", starts[0], (starts[0] as number) + 3)).toBe("é1");
  expect(decodeChange(messages.plain)).toMatchObject({ kind: "update", old: undefined });
  expect(decodeChange(messages.update)).toMatchObject({ kind: "update", old: { count: 3 } });
  expect(decodeChange(messages.delete)).toMatchObject({ kind: "delete", old: { count: 3 } });
  expect(decodeChange(join("M", "whatever")).kind).toBe("other");
});

const codeOf = (bytes: Buffer) => {
  try {
    decodeChange(bytes);
    return undefined;
  } catch (error) {
    return error instanceof ConnectorError ? error.code : error;
  }
};

test.each(Object.entries(messages))("a %s that is cut off, or has more, is refused", (_, whole) => {
  for (let end = 0; end < whole.length; end++)
    expect(codeOf(whole.subarray(0, end))).toBe("DATABASE_UNUSABLE");
  expect(codeOf(join(whole, "\0"))).toBe("DATABASE_UNUSABLE");
});

test("a message among others is taken from its beginning to its end, and no further", () => {
  const bytes = join(...Object.values(messages));
  let at = 0;
  for (const [, whole] of Object.entries(messages)) {
    const end = at + whole.length;
    const alone = createChangeDecoder()(whole);
    expect(decodeChange(bytes, at, end).kind).toBe(alone.kind);
    expect(() => decodeChange(bytes, at, end - 1)).toThrow(ConnectorError);
    at = end;
  }
});

test("no bytes but those of a message are taken, and no count takes memory that is not there", () => {
  const changed = fc.constantFrom(...Object.values(messages)).chain((whole) =>
    fc
      .array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 })
      .map((places) => {
        const bytes = Buffer.from(whole);
        for (const [at, value] of places) bytes[at] = value;
        return bytes;
      }),
  );
  const any = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes));
  fc.assert(
    fc.property(fc.oneof(changed, any), (bytes) => {
      expect([undefined, "DATABASE_UNUSABLE"]).toContain(codeOf(bytes));
    }),
    { numRuns: 2_000 },
  );
  expect(codeOf(join("T", u32(0xffffffff), "\0"))).toBe("DATABASE_UNUSABLE");
  expect(codeOf(join("I", u32(1), "N", u16(0xffff)))).toBe("DATABASE_UNUSABLE");
  expect(codeOf(join("I", u32(1), "N", u16(1), "t", u32(0xffffffff)))).toBe("DATABASE_UNUSABLE");
});

test("a place in the log has the server's form, and its order is that of the numbers", () => {
  expect(formatLsn(parseLsn("16/B374D848"))).toBe("16/B374D848");
  expect(formatLsn(0n)).toBe("0/0");
  expect(parseLsn("1/0") > parseLsn("0/FFFFFFFF")).toBe(true);
});
