import { fullFormats } from "ajv-formats/dist/formats.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { localFormats, textFormats } from "./formats.ts";

/**
 * The verdict of ajv-formats in full mode, which has a regular expression, a function, or an object
 * with one of them.
 */
function ajvAccepts(format: string, text: string): boolean {
  const definition = fullFormats[format as keyof typeof fullFormats] as unknown;
  const inner =
    typeof definition === "object" && definition !== null && "validate" in definition
      ? definition.validate
      : definition;
  return inner instanceof RegExp
    ? inner.test(text)
    : Boolean((inner as (text: string) => unknown)(text));
}

const samples: { readonly [format: string]: readonly string[] } = {
  "date-time": [
    "2024-02-29T23:59:59Z",
    "2023-02-29T00:00:00Z",
    "1900-02-29T00:00:00Z",
    "2000-02-29T00:00:00Z",
    "2024-01-01 10:00:00.123456+05:30",
    "2024-01-01t10:00:00z",
    "2024-01-01T24:00:00Z",
    "2024-01-01T10:00:00",
    "2024-01-01T10:00:00+0530",
    "2024-01-01T10:00:00-05",
    "2016-12-31T23:59:60Z",
    "2016-12-31T23:58:60Z",
    "2016-12-31T15:59:60-08:00",
    "2016-12-31T15:59:60+08:00",
    "2024-01-01",
    "infinity",
    "2024-01-01T10:00:00.Z",
    "2024-13-01T10:00:00Z",
    "2024-01-01T10:00Z",
    "12024-01-01T10:00:00Z",
    "",
    "T",
    "2024-04-31T00:00:00Z",
    "2024-01-01T10:00:00Zx",
    "2024-01-01T10:00:00+24:00",
    "2024-01-01T10:00:00+1:00",
    "２024-01-01T10:00:00Z",
    "2024/01/01T10:00:00Z",
  ],
  date: [
    "2024-02-29",
    "2023-02-29",
    "2024-1-01",
    "2024-01-32",
    "2024-01-00",
    "2024-00-10",
    "2024-01-01T",
    " 2024-01-01",
    "1900-02-29",
  ],
  time: [
    "10:00:00Z",
    "10:00:00",
    "23:59:60Z",
    "10:00:00.5+01:00",
    "24:00:00Z",
    "10:60:00Z",
    "1:00:00Z",
    "00:59:60+01:00",
  ],
  uuid: [
    "6f9619ff-8b86-d011-b42d-00cf4fc964ff",
    "urn:uuid:6F9619FF-8B86-D011-B42D-00CF4FC964FF",
    "6f9619ff8b86d011b42d00cf4fc964ff",
    "x",
  ],
  duration: ["P1D", "PT1H30M", "P", "PT", "P1W", "1D"],
  email: [
    "a@example.com",
    "a.b+c@sub.example.com",
    "a@localhost",
    "a b@example.com",
    "@example.com",
    "a@-x.com",
  ],
  hostname: ["example.com", "a", "-a.com", "a..b", "example.com."],
  ipv4: ["1.2.3.4", "1.2.3.4.", "1.2.3", "256.1.1.1", "01.2.3.4", "1.2.3.4.5"],
  ipv6: [
    "::",
    "::1",
    "1::",
    "1:2:3:4:5:6:7:8",
    "1:2:3:4:5:6:7",
    "::ffff:1.2.3.4",
    "1::2::3",
    "12345::",
    "fe80::1%eth0",
    "1:2:3:4:5:6:7::",
    ":1",
    "1.2.3.4::",
  ],
  uri: [
    "https://example.com/a?b=c#d",
    "http://[::1]:80/",
    "mailto:a@example.com",
    "urn:x:y",
    "//example.com",
    "example.com",
    "http://a b",
    "",
    "https://exämple.com",
    "http://user:pw@host:1/%41",
    "http://h/%4",
    "file:///etc",
    "http://[::1",
    "http://h/[a]",
    "a:",
    "a:b#c#d",
    "http://[zz]/",
  ],
  "uri-reference": [
    "/a/b",
    "a",
    "",
    "?q",
    "#f",
    "//h/p",
    "http://h",
    "a b",
    "\\",
    "[x]",
    "0ttp://[::1]:80/",
    "http://[::1]080/",
    "http://[::1]:x/",
  ],
  "json-pointer": ["", "/a/~0b", "a", "/~2"],
};

test.each(Object.keys(samples))("%s accepts what ajv-formats accepts", (format) => {
  for (const text of samples[format] ?? []) {
    expect([text, textFormats.get(format)?.accepts(text)]).toEqual([
      text,
      ajvAccepts(format, text),
    ]);
  }
});

test("property: nothing is accepted that ajv-formats would not accept", () => {
  const formats = [...textFormats.keys()];
  const mutated = fc
    .tuple(
      fc.constantFrom(...Object.values(samples).flat()),
      fc.nat(60),
      fc.constantFrom(...'0123456789:-+.TZ[]%/#?@a \n"\\é'),
    )
    .map(([text, at, character]) => text.slice(0, at) + character + text.slice(at + 1));
  fc.assert(
    fc.property(
      fc.oneof(mutated, fc.string(), fc.webUrl(), fc.ipV6(), fc.emailAddress()),
      fc.constantFrom(...formats),
      (text, format) => {
        if (textFormats.get(format)?.accepts(text))
          expect([format, text, ajvAccepts(format, text)]).toEqual([format, text, true]);
      },
    ),
    { numRuns: 5_000 },
  );
});

test("property: a text that a plain format accepts needs no escaping", () => {
  const plain = [...textFormats.values()].filter((format) => format.isPlain);
  const characters = fc.string({
    unit: fc.constantFrom(...'0123456789-:.TZz+ "\\\n\u0000\ud800'),
    maxLength: 40,
  });
  fc.assert(
    fc.property(fc.oneof(characters, fc.constantFrom(...Object.values(samples).flat())), (text) => {
      for (const format of plain)
        if (format.accepts(text)) expect(JSON.stringify(text)).toBe(`"${text}"`);
    }),
  );
});

test("an Airbyte type without time zone needs no offset", () => {
  expect(localFormats.get("date-time")?.accepts("2024-01-01T10:00:00.123456")).toBe(true);
  expect(localFormats.get("time")?.accepts("10:00:00")).toBe(true);
  expect(localFormats.get("date-time")?.accepts("2024-01-01")).toBe(false);
});
