import { describe, expect, test } from "vitest";
import { createMessageReader } from "./messages.ts";

const line = (value: unknown) => `${JSON.stringify(value)}\n`;
const log = (message: string) => ({ type: "LOG", log: { level: "INFO", message } });

/** All messages of a text that comes in pieces of so many bytes, and the lines that are none. */
function readIn(text: string, pieceBytes: number) {
  const stray: string[] = [];
  const reader = createMessageReader((one) => stray.push(one));
  const bytes = Buffer.from(text);
  const messages = [];
  for (let at = 0; at < bytes.length; at += pieceBytes)
    messages.push(...reader.push(bytes.subarray(at, at + pieceBytes)));
  return { messages: [...messages, ...reader.end()], stray };
}

describe("messages of a program", () => {
  test("are the same however its output is cut, in the middle of a letter too; a last line needs no end", () => {
    const text = `${line(log("grün 📓"))}\r\n${line(log("two"))}${JSON.stringify(log("three"))}`;
    const whole = readIn(text, 10_000);
    expect(whole.messages.map(({ body }) => body.message)).toEqual(["grün 📓", "two", "three"]);
    for (const pieceBytes of [1, 2, 3, 7]) expect(readIn(text, pieceBytes)).toEqual(whole);
  });

  test("are taken by their type alone: whatever else it writes is a stray line", () => {
    const lines = [
      "Traceback (most recent call last):",
      '{"type":"RECORD","record":',
      line({ type: "RECORD" }).trim(),
      line({ type: "RECORD", record: [] }).trim(),
      line({ type: "constructor", constructor: {} }).trim(),
      line({ type: "__proto__", __proto__: {} }).trim(),
      line([log("in a list")]).trim(),
      "42",
    ];
    expect(readIn(lines.join("\n"), 10_000)).toEqual({ messages: [], stray: lines });
  });

  test("keep each digit of their numbers", () => {
    const { messages } = readIn(
      '{"type":"RECORD","record":{"data":{"n":9007199254740993}}}\n',
      100,
    );
    expect(messages[0]?.body.data).toEqual({ n: 9007199254740993n });
  });

  test("bring a run forward, or it is ended: logs and noise do not count", () => {
    const chunk = Buffer.from(line(log("x".repeat(1_000_000))));
    const noisy = createMessageReader(() => {});
    const flood = () => {
      for (let count = 0; count < 80; count++) noisy.push(chunk);
    };
    expect(flood).toThrow("says nothing");
    const busy = createMessageReader(() => {});
    const record = Buffer.from(line({ type: "RECORD", record: { data: {} } }));
    for (let count = 0; count < 80; count++) {
      busy.push(chunk);
      busy.push(record);
    }
  });
});
