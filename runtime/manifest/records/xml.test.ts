import { describe, expect, test } from "vitest";
import { parseXml } from "./xml.ts";

describe("XML", () => {
  test.each([
    ["an element alone", "<a/>", { a: null }],
    ["text, trimmed", "<a>\n  x y\n</a>", { a: "x y" }],
    ["what repeats", "<a><b>1</b><c/><b>2</b><b/></a>", { a: { b: ["1", "2", null], c: null } }],
    [
      "attributes and text",
      `<a id="1" k='"2"'>x</a>`,
      { a: { "@id": "1", "@k": '"2"', "#text": "x" } },
    ],
    ["text around elements", "<a>x<b/>y</a>", { a: { b: null, "#text": "xy" } }],
    ["entities and CDATA", "<a>&lt;&#65;&#x42;<![CDATA[<&amp;]]></a>", { a: "<AB<&amp;" }],
    [
      "namespaces",
      `<n:a xmlns:n="urn:x"><n:b/></n:a>`,
      { "n:a": { "@xmlns:n": "urn:x", "n:b": null } },
    ],
    [
      "what is said before and behind",
      `\uFEFF<?xml version="1.0"?><!DOCTYPE a><!-- <b> --><a/>\n`,
      { a: null },
    ],
    [
      "names of insides",
      `<a constructor="x"><toString/></a>`,
      { a: { "@constructor": "x", toString: null } },
    ],
  ])("gives %s", (_, text, value) => {
    expect(parseXml(text)).toEqual(value);
  });

  const bomb = `<!DOCTYPE a [<!ENTITY x "xxxxxxxxxx"><!ENTITY y "&x;&x;">]><a>&y;</a>`;
  test.each([
    ["with entities of its own", bomb, "declares entities"],
    ["with an entity that is not known", "<a>&y;</a>", "entity"],
    ["with an ampersand alone", "<a>x & y</a>", "entity"],
    ["that is nested deeply", `${"<a>".repeat(50_000)}`, "deeper than 100"],
    ["that is cut short", "<a><b>1</b>", "cut short"],
    ["that is cut within a tag", `<a><b id="1`, "does not end"],
    ["that is cut within a comment", "<a><!-- x", "cut short"],
    ["whose elements cross", "<a><b></a></b>", "ends that has not begun"],
    ["with two roots", "<a/><b/>", "two roots"],
    ["with text outside", "x<a/>", "outside"],
    ["with an attribute twice", `<a x="1" x="2"/>`, "twice"],
    ["with an attribute without quotes", "<a x=1/>", "does not end"],
    ["that is nothing", "", "cut short"],
    [
      "in another encoding",
      `<?xml version="1.0" encoding="ISO-8859-1"?><a>\uFFFD</a>`,
      "ISO-8859-1",
    ],
  ])("%s is one clear error", (_, text, problem) => {
    expect(() => parseXml(text)).toThrow(
      expect.objectContaining({
        code: "RESPONSE_INVALID",
        details: { reason: expect.stringContaining(problem) },
      }),
    );
  });

  test("takes time by its length, whatever stands in it", () => {
    const longs = [
      `<a ${" ".repeat(400_000)}`,
      `<a ${'x="1" '.repeat(100)}${"y".repeat(400_000)}`,
      `<a>${"&".repeat(400_000)}</a>`,
      `<a>${"<b>".repeat(90)}${"</b".repeat(100_000)}`,
    ];
    for (const text of longs) expect(() => parseXml(text)).toThrow("");
  }, 10_000);
});
