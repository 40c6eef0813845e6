/** Batches that no packer wrote: each is refused with one error, whatever it says of itself. */
import { describe, expect, test } from "vitest";
import { type ColumnPlaces, payloadOf, placesOf } from "../../fixtures/batch-payloads.ts";
import { columnOf } from "../../fixtures/batches.ts";
import type { Batch, Column } from "../contract/batch.ts";
import { checkTexts } from "./check-texts.ts";
import { createBatchInspector, createBatchMemory } from "./inspect.ts";

const uuid = Buffer.from("00112233445566778899aabbccddeeff", "hex");
const columns: Column[] = [
  columnOf("id", { kind: "integer", encoding: "int64", isKey: true }, [1n, 2n, 3n]),
  columnOf("name", { kind: "text", encoding: "utf8", isKey: true }, ["ab", "cd", "efé"]),
  columnOf("text", { kind: "text", encoding: "utf8" }, ["abc", null, "é"]),
  columnOf("json", { kind: "json", encoding: "json" }, ["[1,22]", null, '"text"']),
  columnOf("digits", { kind: "number", encoding: "number" }, ["1234.5", "-1", null]),
  columnOf("ok", { kind: "boolean", encoding: "bool" }, [true, null, false]),
  columnOf("count", { kind: "integer", encoding: "int32" }, [1, null, 3]),
  columnOf("rate", { kind: "number", encoding: "float64" }, [1.5, null, 3]),
  columnOf("day", { kind: "date", encoding: "date32" }, [0, null, 1]),
  columnOf("time", { kind: "time", encoding: "time64" }, [0n, null, 1n]),
  columnOf("at", { kind: "timestamptz", encoding: "timestamp64" }, [0n, null, 1n]),
  columnOf("price", { kind: "number", encoding: "decimal64", scale: 2 }, [150n, null, 1n]),
  columnOf("sum", { kind: "number", encoding: "decimal128", scale: 3 }, [150n, null, 1n]),
  columnOf("uuid", { kind: "uuid", encoding: "uuid128" }, [uuid, null, uuid]),
  columnOf("binary", { kind: "binary", encoding: "binary" }, [uuid, null, uuid]),
];
const batch: Batch = { rowCount: 3, columns, notes: [{ row: 1, fields: ["text", "json.0"] }] };
const places = placesOf(batch);
const inspect = createBatchInspector(columns);

/** A change to the payload: in place, or a new one. */
type Forge = (payload: Buffer) => Buffer | unknown;
const placeOf = (name: string) => places.columns[name] as ColumnPlaces;
const head = (name: string, byte: number, value: number): Forge => {
  return (payload) => payload.writeUInt8(value, placeOf(name).head + byte);
};
const textBytes = (name: string, value: number): Forge => {
  return (payload) => payload.writeUInt32LE(value >>> 0, placeOf(name).head + 4);
};
const offset = (name: string, row: number, value: number): Forge => {
  return (payload) => payload.writeUInt32LE(value, placeOf(name).offsets + row * 4);
};
const values = (name: string, bytes: string | readonly number[], from = 0): Forge => {
  return (payload) => payload.set(Buffer.from(bytes as string), placeOf(name).values + from);
};
const long = (name: string, value: bigint, row = 0): Forge => {
  return (payload) =>
    payload.writeBigUInt64LE(BigInt.asUintN(64, value), placeOf(name).values + row * 8);
};
const huge = (value: bigint): Forge => {
  return (payload) => {
    long("sum", value)(payload);
    long("sum", value >> 64n, 1)(payload);
  };
};
const day = (value: number): Forge => {
  return (payload) => payload.writeInt32LE(value, placeOf("day").values);
};
const notes = (text: string | Buffer): Forge => {
  return (payload) => {
    const bytes = Buffer.from(text as string);
    payload.writeUInt32LE(bytes.length, 8);
    const padding = Buffer.alloc(-bytes.length & 7);
    return Buffer.concat([payload.subarray(0, places.notes), bytes, padding]);
  };
};
const word = (at: number, value: number): Forge => {
  return (payload) => payload.writeUInt32LE(value >>> 0, at);
};

const forged: Record<string, Forge> = {
  nothing: () => Buffer.alloc(0),
  "one that ends in its head": (payload) => payload.subarray(0, 15),
  "one that ends in the heads of its columns": (payload) => payload.subarray(0, 32),
  "one that ends in its values": (payload) => payload.subarray(0, places.notes - 8),
  "one without its last byte": (payload) => payload.subarray(0, -1),
  "one with bytes behind its end": (payload) => Buffer.concat([payload, Buffer.alloc(8)]),
  "a column less": word(4, columns.length - 1),
  "a column more": word(4, columns.length + 1),
  "four billion columns": word(4, 2 ** 32 - 1),
  "bytes where nothing stands": word(12, 1),
  "a row less": word(0, 2),
  "eight rows more": word(0, 11),
  "65,536 rows of nothing": word(0, 65_536),
  "a million empty rows": word(0, 1_000_000),
  "four billion rows": word(0, 2 ** 32 - 1),
  "an encoding that does not exist": head("id", 0, 0),
  "another encoding that does not exist": head("id", 0, 255),
  "an encoding of another kind": head("uuid", 0, 9),
  "texts in a column of numbers": head("id", 0, 11),
  "a flag that is none": head("text", 1, 2),
  "a flag that shifts all that follows": head("text", 1, 0),
  "a byte of a head that says nothing": head("id", 3, 1),
  "an integer with a scale": head("id", 2, 1),
  "a scale beyond 18 digits": head("price", 2, 19),
  "a scale beyond 38 digits": head("sum", 2, 39),
  "texts beside numbers": textBytes("id", 8),
  "fewer bytes of texts": textBytes("text", 4),
  "more bytes of texts": textBytes("text", 6),
  "more bytes of texts than the payload has": textBytes("text", 100_000),
  "texts of 2 GiB": textBytes("text", 2 ** 31),
  "texts of 4 GiB, which round to none": textBytes("binary", -1),
  "texts of which the end lies before the start": textBytes("binary", -16),
  "notes of 4 GiB": word(8, -1),
  "notes that lie before their start": word(8, -64),
  "texts that do not begin at the start": offset("text", 0, 1),
  "texts that run back": offset("name", 1, 5),
  "texts that run out": offset("name", 2, 100_000),
  "texts that end behind the last": offset("name", 3, 100),
  "bytes behind the last text": offset("name", 3, 6),
  "bits beyond the rows": (payload) => {
    payload[placeOf("text").validity] = 0b1101;
  },
  "bytes between validity and texts": (payload) =>
    payload.writeUInt8(1, placeOf("text").validity + 1),
  "bytes between two columns": values("text", [1], 5),
  "a text under a null": (payload) => {
    payload[placeOf("text").validity] = 0b110;
  },
  "a boolean under a null": values("ok", [1], 1),
  "a number under a null": (payload) => payload.writeInt32LE(1, placeOf("count").values + 4),
  "a negative zero under a null": (payload) =>
    payload.writeDoubleLE(-0, placeOf("rate").values + 8),
  "a decimal under a null": long("sum", 1n, 3),
  "a uuid under a null": values("uuid", [1], 31),
  "a byte that no text has": values("name", [0xff]),
  "an overlong character": values("name", [0xc0, 0x80]),
  "half of a surrogate pair": values("name", [0xed, 0xa0, 0x80]),
  "a character beyond the last": values("name", [0xf4, 0x90, 0x80, 0x80]),
  "a character that is cut off": values("name", [0xc3], 7),
  "a text that begins inside a character": offset("name", 2, 7),
  "JSON of nothing": (payload) => {
    payload[placeOf("json").validity] = 0b111;
  },
  "a word that is no JSON": values("json", "undefi"),
  "JSON with white space": values("json", "[1, 2]"),
  "two JSON values": values("json", "[1][2]"),
  "JSON that goes on in the next row": values("json", "[1,2,3"),
  "JSON with a comma too many": values("json", "[1,2,]"),
  "JSON with a leading zero": values("json", "[1,02]"),
  "JSON of infinity": values("json", "[-Inf]"),
  "a line break in JSON": values("json", '"a\nbc"'),
  "an escape that JSON does not have": values("json", '"\\q12"'),
  "an escape that nobody needs": values("json", '"a\\/b"'),
  "a JSON number that ends too early": values("json", "12345."),
  "a JSON number of two": values("json", "1-2345"),
  "a JSON number behind zeros": values("json", "001234"),
  "a number with a leading zero": values("digits", "0123.5"),
  "a number without an end": values("digits", "12345."),
  "a number without a start": values("digits", ".12345"),
  "a number with an empty exponent": values("digits", "1.5e+-"),
  "a number of letters": values("digits", "0x1234"),
  "a number with white space": values("digits", " 12345"),
  "a number that is only a sign": values("digits", "12345-"),
  "a boolean of two": values("ok", [2]),
  "a day before the calendar": day(-2_440_589),
  "a day after the calendar": day(2_145_042_906),
  "a negative time": long("time", -1n),
  "a time after midnight": long("time", 86_400_000_001n),
  "an instant before the calendar": long("at", -210_866_803_200_000_001n),
  "a decimal of 19 digits": long("price", 10n ** 18n),
  "a negative decimal of 19 digits": long("price", -(10n ** 18n)),
  "a decimal of 39 digits": huge(10n ** 38n),
  "a negative decimal of 39 digits": huge(-(10n ** 38n)),
  "the least of all decimals": huge(-(2n ** 127n)),
  "notes that are no JSON": notes("[[1,"),
  "notes that are no text": notes(Buffer.from('[[1,"\xff"]]', "latin1")),
  "notes that are no list": notes('{"1":"a"}'),
  "notes without a row": notes("[]"),
  "notes without a field": notes("[[1]]"),
  "notes of a row that is none": notes('[[3,"a"]]'),
  "notes of half a row": notes('[[0.5,"a"]]'),
  "notes of a row before the first": notes('[[-1,"a"]]'),
  "notes of rows that run back": notes('[[1,"a"],[0,"a"]]'),
  "two notes of one row": notes('[[1,"a"],[1,"b"]]'),
  "notes with a number for a field": notes("[[1,1]]"),
  "notes inside of notes": notes('[[1,["a"]]]'),
  "more notes than a row has": notes(JSON.stringify([[1, ...Array(21).fill("a")]])),
  "notes of more than a MiB": notes(JSON.stringify([[1, "a".repeat(2 ** 20)]])),
  "notes of too many values": notes(`[[1${',""'.repeat(200_001)}]]`),
};

test("the batch that is forged below is none that is refused", () => {
  const { notes, ...rest } = inspect(payloadOf(batch));
  expect(notes).toEqual(batch.notes);
  expect(rest.columns.map(({ name }) => name)).toEqual(columns.map(({ name }) => name));
});

describe("a forged batch is refused with one error, and nothing of it is looked at further", () => {
  test.each(Object.entries(forged))("%s", (_, forge) => {
    const payload = payloadOf(batch);
    const changed = forge(payload);
    expect(() => inspect(Buffer.isBuffer(changed) ? changed : payload)).toThrow(
      expect.objectContaining({ code: "CONNECTOR_PROTOCOL" }),
    );
  });

  test("a null in a column of the key", () => {
    const key = columnOf("id", { kind: "integer", encoding: "int64", isKey: true }, [1n, null]);
    expect(() =>
      createBatchInspector([key])(payloadOf({ rowCount: 2, columns: [key], notes: [] })),
    ).toThrow(expect.objectContaining({ code: "CONNECTOR_PROTOCOL" }));
  });

  test("JSON that is nested deeper than rows may be", () => {
    const nested = (depth: number) => {
      const text = "[".repeat(depth) + "]".repeat(depth);
      const column = columnOf("json", { kind: "json", encoding: "json" }, [text]);
      return () =>
        createBatchInspector([column])(payloadOf({ rowCount: 1, columns: [column], notes: [] }));
    };
    expect(nested(256)().rowCount).toBe(1);
    expect(nested(257)).toThrow(expect.objectContaining({ code: "CONNECTOR_PROTOCOL" }));
  });
});

test("texts that share their bytes with the notes are refused", () => {
  const column = columnOf("b", { kind: "binary", encoding: "binary" }, [""]);
  const one: Batch = { rowCount: 1, columns: [column], notes: [{ row: 0, fields: ["12345678"] }] };
  const payload = payloadOf(one);
  const { head, offsets } = placesOf(one).columns.b as ColumnPlaces;
  payload.writeUInt32LE(2 ** 32 - 1, head + 4);
  payload.writeUInt32LE(payload.length - placesOf(one).notes, offsets + 4);
  expect(() => createBatchInspector([column])(payload)).toThrow(
    expect.objectContaining({ code: "CONNECTOR_PROTOCOL" }),
  );
});

test("a batch of several rows has a limit, so that other runs go on; one row may be larger", () => {
  const rows = (...lengths: number[]) => {
    const column = columnOf(
      "text",
      { kind: "text", encoding: "utf8" },
      lengths.map((length) => "x".repeat(length)),
    );
    const many: Batch = { rowCount: lengths.length, columns: [column], notes: [] };
    return () => createBatchInspector([column])(payloadOf(many)).rowCount;
  };
  expect(rows(2 ** 20, 2 ** 20 - 64)()).toBe(2);
  expect(rows(2 ** 24)()).toBe(1);
  expect(rows(2 ** 20, 2 ** 20)).toThrow(expect.objectContaining({ code: "CONNECTOR_PROTOCOL" }));
});

test("numbers as JSON are each looked at once, however many stand behind them", () => {
  // Looked at up to the end of all each time, they would take longer than a test may.
  const rowCount = 65_000;
  const length = 250;
  const offsets = Uint32Array.from({ length: rowCount + 1 }, (_, row) => row * length);
  const bytes = Buffer.alloc(rowCount * length, "7");
  checkTexts({ offsets, bytes, rowCount, validity: undefined }, "json");
  bytes[length * 3] = 0x30; // no number begins with a zero
  expect(() => checkTexts({ offsets, bytes, rowCount, validity: undefined }, "json")).toThrow();
});

test("the streams of a run share the memory of their batches", () => {
  const memory = createBatchMemory();
  const [first, second] = [1, 2].map(() => createBatchInspector(columns, memory)(payloadOf(batch)));
  const buffers = [first, second].map(
    (one) => (one?.columns[0] as Column & { values: BigInt64Array }).values.buffer,
  );
  expect(buffers[0]).toBe(buffers[1]);
});
