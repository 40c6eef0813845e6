import fc from "fast-check";
import { secretViews } from "svc-connectors/host";
import { describe, expect, test } from "vitest";
import { createKnownSecrets } from "./known-secrets.ts";
import { createPseudonyms } from "./pseudonyms.ts";
import { createRedactor } from "./redactor.ts";
import { findLeaks } from "./scan.ts";

const apiToken = "tok_live_Zq8Xw2Rt5Yu7Io9Pa3Sd";

function create(configured: Readonly<Record<string, string>> = { api_token: apiToken }) {
  const secrets = createKnownSecrets();
  for (const [path, value] of Object.entries(configured)) secrets.addConfigured(path, value);
  const pseudonyms = createPseudonyms(7);
  const redactor = createRedactor(secrets, pseudonyms);
  return {
    redactor,
    leaksIn: (document: unknown) => findLeaks("a.yaml", document, { secrets, pseudonyms }),
    secrets,
  };
}

/** As the recorder does it: once to learn, once for good. */
function twice(redact: () => string): string {
  redact();
  return redact();
}

/** The body with one value redacted, parsed. */
function redactedValue(value: unknown, configured?: Readonly<Record<string, string>>): unknown {
  const { redactor } = create(configured);
  const body = JSON.stringify(value);
  return JSON.parse(twice(() => redactor.redactBody(body)));
}

describe("secrets", () => {
  const secretText = fc
    .oneof(
      fc.string({ unit: fc.constantFrom(..."abcXYZ0189_-"), minLength: 12, maxLength: 40 }),
      fc.string({
        unit: fc.constantFrom(...'abXY12"\\/+=&%é\n #?:@'),
        minLength: 14,
        maxLength: 40,
      }),
    )
    .filter((text) => new Set(text).size >= 6 && text.trim() === text);
  const surroundings = fc.constantFrom(
    (secret: string) => JSON.stringify({ a: `x ${secret} y`, [secret]: [{ b: secret }] }),
    (secret: string) => JSON.stringify({ first_name: secret, street: secret, id: secret }),
    (secret: string) =>
      JSON.stringify({ inner: JSON.stringify({ deep: JSON.stringify([secret]) }) }),
    (secret: string) =>
      JSON.stringify({ next: `https://h.example/p?x=1&q=${encodeURIComponent(secret)}#f` }),
    (secret: string) =>
      new URLSearchParams([
        ["grant", "a"],
        ["v", secret],
      ]).toString(),
    (secret: string) => `<p title="${secret}">${secret}</p>`,
    (secret: string) =>
      `https://h.example/${encodeURIComponent(secret)}/x?k=${encodeURIComponent(secret)}`,
  );

  test("of any shape, in any place, never survive", () => {
    fc.assert(
      fc.property(secretText, surroundings, (secret, surround) => {
        const { redactor, secrets, leaksIn } = create({ "credentials.key": secret });
        const text = surround(secret);
        const body = twice(() => redactor.redactBody(text));
        const url = twice(() => redactor.redactText(text));
        for (const result of [body, url]) {
          expect(result).toContain("{{secret:credentials.key}}");
          expect(secrets.isIn(Buffer.from(result))).toBe(false);
          expect(leaksIn({ result })).toEqual([]);
        }
      }),
      { numRuns: 300 },
    );
  });

  test.each(
    secretViews(apiToken).map(({ name, bytes }) => [name, Buffer.from(bytes)] as const),
  )("are found in the encoding %s", (_, bytes) => {
    const { redactor, secrets } = create();
    const text = bytes.toString("latin1");
    const body = redactor.redactBody(JSON.stringify({ debug: `before ${text} after` }));
    expect(secrets.isIn(Buffer.from(body))).toBe(false);
    expect(JSON.parse(body).debug).toMatch(/^before .*\{\{secret:api_token\}\}.* after$/s);
  });

  test("take the edges of their encoding with them, and leave what stands around", () => {
    const basic = Buffer.from(`user:${apiToken}`).toString("base64");
    const { debug } = redactedValue({ debug: `sent Basic ${basic}; twice` }) as { debug: string };
    const left = debug.replace(/\{\{.*?\}\}/, "");
    expect(left).toMatch(/^sent Basic [\w]{0,6}; twice$/);
    expect(basic.startsWith(left.slice(11, -7))).toBe(true);
  });

  test("that are short are replaced as whole words and values only", () => {
    const body = {
      pin: "1234",
      note: "order 1234 of 12345",
      user: "kites1",
      sentence: "say kites1, not kites12",
      n: 1234,
    };
    expect(redactedValue(body, { pin: "1234", word: "kites1" })).toEqual({
      pin: "{{secret:pin}}",
      note: "order 1234 of 12345",
      user: "{{secret:word}}",
      sentence: "say {{secret:word}}, not kites12",
      n: "{{secret:pin}}",
    });
  });

  test("that the provider issues have one placeholder wherever they stand, also before they are known and in requests", () => {
    const { redactor } = create();
    const session = "Zk29fLq8Ws73hYt0";
    const echo = JSON.stringify({ echo: `see ${session}` });
    const answer = JSON.stringify({
      session_token: session,
      expires: 5,
      other_token: "Qw93kd82Lm1Ps7",
    });
    const request = `https://h.example/rows?s=${session}&page=2`;
    const all = () => [
      redactor.redactBody(echo),
      redactor.redactBody(answer),
      redactor.redactText(request),
    ];
    all();
    expect(all()).toEqual([
      '{"echo":"see {{issued:session_token}}"}',
      '{"session_token":"{{issued:session_token}}","expires":5,"other_token":"{{issued:other_token}}"}',
      "https://h.example/rows?s={{issued:session_token}}&page=2",
    ]);
  });

  test("of one name are numbered in the order in which they come", () => {
    expect(
      redactedValue([
        { access_token: "first-Token-1" },
        { access_token: "other-Token-2" },
        { access_token: "first-Token-1" },
      ]),
    ).toEqual([
      { access_token: "{{issued:access_token}}" },
      { access_token: "{{issued:access_token:2}}" },
      { access_token: "{{issued:access_token}}" },
    ]);
  });

  test("show by their form: a JWT, a key, a vendor's token, a password in a URL, a signed URL", () => {
    const jwt = `eyJhbGciOiJIUzI1NiJ9.${Buffer.from('{"sub":"1"}').toString("base64url")}.c2lnbmF0dXJlLW9mLXRoZS10b2tlbg`;
    const { a, b, c, d, e } = redactedValue({
      a: `token ${jwt}.`,
      b: "-----BEGIN PRIVATE KEY-----\nMIIabc\n-----END PRIVATE KEY-----",
      c: `ghp_${"a1B2".repeat(9)}`,
      d: "https://jane:hunter2@db.example.com/x",
      e: "https://files.example.com/1.png?X-Amz-Signature=ab12&w=3",
    }) as Record<string, string>;
    expect(a).toBe("token {{issued:jwt}}.");
    expect(b).toBe("{{issued:pem}}");
    expect(c).toBe("{{issued:vendor_token}}");
    expect(d).toBe("https://{{issued:url_credential}}@db.example.com/x");
    expect(e).toBe(
      "https://files.example.com/1.png?X-Amz-Signature={{issued:x-amz-signature}}&w=3",
    );
  });

  test("are no paging tokens, unless these are secrets in disguise", () => {
    const hidden = Buffer.from('{"after":"jane@corp.example"}').toString("base64");
    expect(
      redactedValue({ next_page_token: "CAUQAA==", cursor: hidden, nextToken: apiToken }),
    ).toEqual({
      next_page_token: "CAUQAA==",
      cursor: "{{issued:cursor}}",
      nextToken: "{{secret:api_token}}",
    });
  });

  test("that page have the provider's name for them, also where the connector calls them a token", () => {
    expect(
      redactedValue([{ next_token: "eyJyIjo2fQ" }, { state: { token: "eyJyIjo2fQ" } }]),
    ).toEqual([
      { next_token: "{{issued:next_token}}" },
      { state: { token: "{{issued:next_token}}" } },
    ]);
  });
});

describe("bytes", () => {
  test("that are not replaced stay: digits, spaces, escapes, order", () => {
    const { redactor } = create();
    const body = `{ "b":1.0e2 ,\t"a" : 9007199254740993,"c":"\\u00e9\\/\\n${apiToken}\\u00e9","a":-0, "d":"\\ud83d\\ude00" }\r\n`;
    expect(redactor.redactBody(body)).toBe(body.replace(apiToken, "{{secret:api_token}}"));
  });

  test("of a body without anything personal or secret stay, whatever it is", () => {
    const values = fc.jsonValue();
    fc.assert(
      fc.property(values, fc.constantFrom(0, 2), (value, indent) => {
        const body = JSON.stringify(value, null, indent);
        fc.pre(!/@|\+\d/.test(body));
        expect(create().redactor.redactBody(body)).toBe(body);
      }),
    );
  });
});

describe("people", () => {
  test("keep their joins: the same address is the same pseudonym in a value, a text, a key and a URL", () => {
    const { redactor } = create();
    const body = redactor.redactBody(
      JSON.stringify({
        email: "Jane.Doe@corp.example",
        text: "to jane.doe@corp.example!",
        "jane.doe@corp.example": 1,
      }),
    );
    const { email, text, ...keys } = JSON.parse(body);
    expect(email).toMatch(/^p-[0-9a-f]{12}@example\.com$/);
    expect(text).toBe(`to ${email}!`);
    expect(Object.keys(keys)).toEqual([email]);
    const url = redactor.redactText(
      "https://h.example/u/jane.doe%40corp.example?email=jane.doe%40corp.example&p=1",
    );
    expect(decodeURIComponent(url)).toBe(`https://h.example/u/${email}?email=${email}&p=1`);
  });

  test("have names whose words join, and letters as before", () => {
    const value = redactedValue({
      first_name: "Jane",
      user: { name: "Jane DOE" },
      product: { name: "Jane" },
    });
    const { first_name, user, product } = value as {
      first_name: string;
      user: { name: string };
      product: { name: string };
    };
    expect(first_name).toMatch(/^[A-Z][a-z]+$/);
    expect(first_name).not.toBe("Jane");
    expect(user.name).toMatch(new RegExp(`^${first_name} [A-Z]+$`));
    expect(product.name).toBe("Jane");
  });

  test("have numbers of the same form, and ids are left alone", () => {
    const before = {
      phone: "+49 (0151) 234-567",
      mobile: 491512345678,
      ip_address: "84.23.1.9",
      postal_code: "SW1A 2AA",
      iban: "DE89370400440532013000",
      card_number: "4111111111111111",
      user_id: "4111111111111111",
      uuid: "9d112cf9-3484-4fba-8d5c-cf0631651380",
      version: "1.2.3",
      at: "2026-06-01T00:00:00+02:00",
    };
    const after = redactedValue(before) as Record<string, string>;
    expect(after.phone).toMatch(/^\+49 \(\d{4}\) \d{3}-\d{3}$/);
    expect(String(after.mobile)).toMatch(/^\d{12}$/);
    expect(after.ip_address).toMatch(/^198\.1[89]\.\d+\.\d+$/);
    expect(after.postal_code).toMatch(/^[A-Z]{2}\d[A-Z] \d[A-Z]{2}$/);
    expect(after.iban).toMatch(/^DE\d{20}$/);
    expect(after.card_number).toMatch(/^\d{16}$/);
    for (const name of [
      "phone",
      "mobile",
      "ip_address",
      "postal_code",
      "iban",
      "card_number",
    ] as const)
      expect(after[name], name).not.toBe(before[name]);
    for (const name of ["user_id", "uuid", "version", "at"] as const)
      expect(after[name], name).toBe(before[name]);
  });

  test("never survive in a body, and different people stay different", () => {
    // The characters that end an address in a URL are legal in one; nobody has them.
    const address = fc.emailAddress().filter((text) => !/[=?&/{}`]/.test(text));
    const person = fc.record({ email: address, phone: fc.stringMatching(/^\+[1-9]\d{10}$/) });
    fc.assert(
      fc.property(fc.array(person, { minLength: 1, maxLength: 5 }), (people) => {
        const { redactor, leaksIn } = create();
        const body = redactor.redactBody(
          JSON.stringify({ people, text: people.map(({ email }) => `<${email}>`).join() }),
        );
        const distinct = new Set(people.map(({ email }) => email.toLowerCase())).size;
        expect(
          new Set(JSON.parse(body).people.map(({ email }: { email: string }) => email)).size,
        ).toBe(distinct);
        for (const { phone } of people) expect(body).not.toContain(phone);
        expect(leaksIn({ body })).toEqual([]);
      }),
    );
  });
});
