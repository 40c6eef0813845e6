import { describe, expect, it } from "vitest";
import {
  type EvidenceLimits,
  howFound,
  leftOutNote,
  pageLimits,
  showEvidence,
} from "./evidence.ts";

const limits: EvidenceLimits = {
  maxProblems: 2,
  maxProven: 2,
  maxExchanges: 3,
  maxMessages: 4,
  maxTextLength: 30,
  leakContextLength: 5,
};

function messages(count: number, ...marked: readonly number[]) {
  const lines = Array.from({ length: count }, (_, index) => `line ${index}`);
  const shown = showEvidence({ kind: "messages", title: "log", lines, marked }, limits);
  if (shown.kind !== "messages") throw new Error("not messages");
  return shown.items.map((item) =>
    "leftOut" in item ? `-${item.leftOut}` : `${item.number}${item.isMarked ? "!" : ""}`,
  );
}

describe("evidence within its limits", () => {
  it("leaves small evidence as it is", () => {
    expect(showEvidence({ kind: "text", title: "t", text: "short" }, limits)).toEqual({
      kind: "text",
      title: "t",
      text: "short",
    });
    expect(messages(4, 2)).toEqual(["1", "2", "3!", "4"]);
  });

  it("keeps the beginning and the end of a long text and says how much is left out", () => {
    const shown = showEvidence(
      { kind: "text", title: "t", text: `${"a".repeat(5000)}${"z".repeat(5000)}` },
      limits,
    );
    expect(shown).toMatchObject({
      text: `${"a".repeat(20)}\n${leftOutNote(9970, "character")}\n${"z".repeat(10)}`,
    });
  });

  it("leaves out no less text than the note in its place has", () => {
    const text = "a".repeat(60);
    expect(showEvidence({ kind: "text", title: "t", text }, limits)).toMatchObject({ text });
  });

  it("keeps marked messages and their neighbours", () => {
    expect(messages(1000, 500)).toEqual(["-498", "499", "500", "501!", "502", "-498"]);
  });

  it("keeps the first messages where none is marked", () => {
    expect(messages(1000)).toEqual(["1", "2", "3", "4", "-996"]);
  });

  it("keeps the first marked messages where more are marked than fit", () => {
    expect(messages(10, 1, 3, 5, 7, 9)).toEqual([
      "-1",
      "2!",
      "-1",
      "4!",
      "-1",
      "6!",
      "-1",
      "8!",
      "-2",
    ]);
  });

  it("keeps the marked exchange with its number, and cuts its body", () => {
    const exchange = { request: "GET /", response: "b".repeat(1000), isMarked: false };
    const exchanges = Array.from({ length: 20 }, (_, index) => ({
      ...exchange,
      isMarked: index === 19,
    }));
    const shown = showEvidence({ kind: "exchanges", title: "t", exchanges }, limits);
    expect(shown).toMatchObject({
      items: [
        { leftOut: 17 },
        { number: 18 },
        { number: 19 },
        {
          number: 20,
          isMarked: true,
          response: expect.stringContaining("970 characters left out"),
        },
      ],
    });
  });

  it("keeps a leak whole with the text around it", () => {
    const shown = showEvidence(
      {
        kind: "leak",
        title: "t",
        text: "0123456789SECRET0123456789",
        start: 10,
        end: 16,
        encoding: "plain",
      },
      limits,
    );
    expect(shown).toMatchObject({ before: "…56789", leak: "SECRET", after: "01234…" });
  });

  it("shows a leak whose range does not fit its text", () => {
    const shown = showEvidence(
      { kind: "leak", title: "t", text: "short", start: 3, end: 99, encoding: "plain" },
      limits,
    );
    expect(shown).toMatchObject({ before: "sho", leak: "rt", after: "" });
  });

  it.each([
    ["as it is", "as it is"],
    ["base64", "as base64"],
  ])("says of a leak %s that it is found %s", (encoding, text) => {
    expect(howFound({ encoding })).toBe(text);
  });

  it("keeps evidence of 50 MB small", () => {
    const shown = showEvidence(
      {
        kind: "leak",
        title: "t",
        text: "x".repeat(50_000_000),
        start: 7,
        end: 40_000_000,
        encoding: "plain",
      },
      pageLimits,
    );
    expect(JSON.stringify(shown).length).toBeLessThan(3000);
  });
});
