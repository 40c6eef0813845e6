import { generateKeyPairSync } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { rowForms, textForms } from "../../fixtures/redacted-forms.ts";
import { batchOfRows, linesOfBatch } from "../../fixtures/rows-as-batch.ts";
import { choose } from "../../tests/effort.ts";
import { secretViews } from "./secret-views.ts";
import { createSecretRegistry } from "./secrets.ts";

const plainCanary = "q7Zt3LmX9aRk2VwB8nYc5HdJ4sPf6GxT1uKeQ0iNoMrWb";
const hardCanary = 'Ab"3\\x/9+K=7&m%Q2\nz5é8Tr"Wd\\4/Lp+6=Yh&1%Vc0\néJ';

const registryOf = (...secrets: string[]) => {
  const registry = createSecretRegistry();
  for (const secret of secrets) registry.add(secret);
  return registry;
};
const redactLine = (secret: string, line: string) =>
  registryOf(secret)
    .redactLines(Buffer.from(`${line}\n`))
    .toString()
    .trimEnd();

/** A row of texts and JSON as columns, after the filter. */
const redactRow = (secret: string, row: Readonly<Record<string, unknown>>) =>
  linesOfBatch(registryOf(secret).redactBatch(batchOfRows([row]))).trimEnd();

describe.each(rowForms)("in %s", (_, redact) => {
  const redactOne = (secret: string, row: string) => redact(registryOf(secret), row);

  test("each string and each name that holds a secret is replaced, and nothing else", () => {
    const registry = registryOf(plainCanary);
    const row = JSON.stringify({
      id: 7,
      note: `x ${plainCanary}`,
      list: [plainCanary, "ok"],
      [plainCanary]: true,
    });
    expect(redact(registry, row)).toBe(
      '{"id":7,"note":"[redacted]","list":["[redacted]","ok"],"[redacted]":true}',
    );
    expect(registry.hitCount).toBe(3);
  });

  test("numbers keep their exact text", () => {
    const numbers =
      '"a":9007199254740993,"b":0.1000000000000000055511151231257827,"c":-0,"d":1E400,"e":1.50,"f":[12345678901234567890]';
    expect(redactOne(plainCanary, `{${numbers},"s":"${plainCanary}"}`)).toBe(
      `{${numbers},"s":"[redacted]"}`,
    );
  });

  test("a property named __proto__ stays a property", () => {
    expect(redactOne(plainCanary, `{"__proto__":{"x":1},"${plainCanary}":2}`)).toBe(
      '{"__proto__":{"x":1},"[redacted]":2}',
    );
  });

  test("two hidden names of one object are kept apart", () => {
    const row = `{"a-${plainCanary}":1,"b-${plainCanary}":2}`;
    expect(redactOne(plainCanary, row)).toBe('{"[redacted]":1,"[redacted] 2":2}');
  });

  test.each([
    plainCanary,
    hardCanary,
  ])("a secret is hidden in every view inside a string", (canary) => {
    for (const { name, bytes } of secretViews(canary)) {
      const encoding = name === "UTF-16" ? "latin1" : "utf8";
      const row = JSON.stringify({
        id: 1,
        text: `seen: ${Buffer.from(bytes).toString(encoding)} end`,
      });
      expect(redactOne(canary, row), name).toBe('{"id":1,"text":"[redacted]"}');
    }
  });

  test("a short secret is hidden where it is a whole string, not as a name or a part", () => {
    expect(redactOne("a", '{"a":"a","b":["a","ba"],"c":"a b","n":1}')).toBe(
      '{"a":"[redacted]","b":["[redacted]","ba"],"c":"a b","n":1}',
    );
    expect(redactOne("a", '{"a":1}')).toBe('{"a":1}');
  });

  test("one of six to nine characters is hidden in full only, one of digits never in a number", () => {
    expect(redactOne("hunter2x", '{"a":"is hunter2x.","b":"hunter2xx"}')).toBe(
      '{"a":"[redacted]","b":"hunter2xx"}',
    );
    expect(redactOne("123456789012", '{"n":123456789012,"s":"123456789012"}')).toBe(
      '{"n":123456789012,"s":"[redacted]"}',
    );
  });

  test("a token minted later is searched for from then on; without any nothing changes", () => {
    const registry = createSecretRegistry();
    const later = "mInTeD-0123-tOkEn-4567-lAtEr";
    const row = JSON.stringify({ later });
    expect(redact(registry, row)).toBe(row);
    registry.add(later);
    expect(redact(registry, row)).toBe('{"later":"[redacted]"}');
  });
});

describe.each(textForms)("a secret that is more than one word, in %s", (_, isHidden) => {
  test("a PEM key is found by any of its lines, a public certificate's armour is not", () => {
    const { privateKey } = pemKey();
    const registry = registryOf(privateKey);
    for (const line of privateKey.trim().split("\n").slice(1, -1))
      if (line.length >= 10) expect(isHidden(registry, `x ${line} y`)).toBe(true);
    expect(isHidden(registry, JSON.stringify({ key: privateKey }))).toBe(true);
    expect(
      isHidden(
        registry,
        "-----BEGIN CERTIFICATE-----\n-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----",
      ),
    ).toBe(false);
  });

  test("a key file in JSON is found by its strings, while its public addresses stay readable", () => {
    const registry = registryOf(JSON.stringify(keyFile));
    for (const text of [plainCanary.slice(3, 20), "key 0f3c9a7be21d", "battery-staple"])
      expect(isHidden(registry, text), text).toBe(true);
    const address =
      "GET https://www.googleapis.com/storage for other@project.iam.gserviceaccount.com";
    expect(isHidden(registry, address)).toBe(false);
  });

  test("a connection string is found by its password, while its host stays readable", () => {
    const registry = registryOf(
      "postgres://reader:s3cr%2Ft-pass@db.internal.example.com:5432/warehouse",
    );
    expect(isHidden(registry, "no route to db.internal.example.com:5432")).toBe(false);
    expect(isHidden(registry, "password is s3cr/t-pass")).toBe(true);
  });

  test("a webhook address is found by its random part", () => {
    const registry = registryOf(`https://hooks.example.com/services/T0/${plainCanary}`);
    expect(isHidden(registry, plainCanary.slice(5, 25))).toBe(true);
    expect(isHidden(registry, "https://hooks.example.com/services/T1 is up")).toBe(false);
  });

  test("ten characters of a secret are hidden, not nine, nor runs of one character", () => {
    const registry = registryOf(plainCanary, "xxxxxxxxxxxxxxxx");
    // After 13 bytes: at a multiple of three, nine bytes are ten characters and more of base64.
    expect(isHidden(registry, `started with ${plainCanary.slice(0, 10)}…`)).toBe(true);
    expect(isHidden(registry, `started with ${plainCanary.slice(0, 9)}…`)).toBe(false);
    expect(isHidden(registry, "see xxxxxxxxxxxx")).toBe(false);
  });

  test("a token minted later is searched for from then on", () => {
    const registry = registryOf(plainCanary);
    const later = "mInTeD-0123-tOkEn-4567-lAtEr";
    expect(isHidden(registry, later)).toBe(false);
    registry.add(later);
    expect(isHidden(registry, later)).toBe(true);
  });
});

const pemKey = () =>
  generateKeyPairSync("rsa", {
    modulusLength: 1024,
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });

const keyFile = {
  type: "service_account",
  private_key_id: "0f3c9a7be21d4458",
  private_key: `-----BEGIN PRIVATE KEY-----\n${plainCanary}\n-----END PRIVATE KEY-----\n`,
  client_email: "svc@project.iam.gserviceaccount.com",
  token_uri: "https://oauth2.googleapis.com/token",
  universe_domain: "googleapis.com",
  passphrase: "correct-horse-battery-staple",
};

describe("redactLines", () => {
  test("gives clean lines back as the same buffer", () => {
    const lines = Buffer.from('{"id":1}\n{"id":2}\n');
    const registry = registryOf(plainCanary);
    expect(registry.redactLines(lines)).toBe(lines);
    expect(registry.hitCount).toBe(0);
  });

  test("replaces each string and each name that holds a secret, and nothing else", () => {
    const registry = registryOf(plainCanary);
    const line = JSON.stringify({
      id: 7,
      note: `x ${plainCanary}`,
      list: [plainCanary, "ok"],
      [plainCanary]: true,
    });
    const clean = '{"other":  "line"}\n';
    expect(registry.redactLines(Buffer.from(`${clean}${line}\n${clean}`)).toString()).toBe(
      `${clean}{"id":7,"note":"[redacted]","list":["[redacted]","ok"],"[redacted]":true}\n${clean}`,
    );
    expect(registry.hitCount).toBe(3);
  });

  test.each([plainCanary, hardCanary])("hides a secret in every view inside a string", (canary) => {
    for (const { name, bytes } of secretViews(canary)) {
      if (name === "UTF-16") continue;
      const line = JSON.stringify({ id: 1, text: `seen: ${Buffer.from(bytes).toString()} end` });
      expect(redactLine(canary, line), name).toBe('{"id":1,"text":"[redacted]"}');
      expect(redactRow(canary, JSON.parse(line)), name).toBe('{"id":1,"text":"[redacted]"}');
      expect(redactRow(canary, { list: [JSON.parse(line).text] }), name).toBe(
        '{"list":["[redacted]"]}',
      );
    }
    const utf16 = JSON.stringify({ text: Buffer.from(canary, "utf16le").toString("latin1") });
    expect(redactLine(canary, utf16)).toBe('{"text":"[redacted]"}');
    expect(redactRow(canary, JSON.parse(utf16))).toBe('{"text":"[redacted]"}');
  });

  test("stops a line whose secret is written as an array of numbers", () => {
    const line = JSON.stringify({ bytes: [...Buffer.from(plainCanary)] });
    expect(() => redactLine(plainCanary, line)).toThrow(
      expect.objectContaining({ code: "LEAK_BLOCKED" }),
    );
  });

  test("stops a line that is no JSON and holds a secret", () => {
    expect(() => redactLine(plainCanary, `{"a":"${plainCanary}`)).toThrow(
      expect.objectContaining({ code: "LEAK_BLOCKED" }),
    );
  });

  test("gives valid JSON of the same shape without the secret, whatever stands around it", () => {
    const withSecret = fc
      .tuple(fc.string(), fc.constantFrom(...secretViews(hardCanary)), fc.string())
      .map(([before, view, after]) => before + Buffer.from(view.bytes).toString() + after);
    const value = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        withSecret,
        fc.string({ unit: "binary" }),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie("value")),
        fc.dictionary(fc.oneof(fc.string(), withSecret), tie("value")),
      ),
    })).value;
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 4 }), (rows) => {
        const registry = registryOf(hardCanary);
        const lines = Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
        const redacted = registry.redactLines(lines);
        expect(redacted.toString().split("\n")).toHaveLength(rows.length + 1);
        const parsed = redacted
          .toString()
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line));
        expect(parsed.map(shapeOf)).toEqual(
          rows.map((row) => shapeOf(JSON.parse(JSON.stringify(row)))),
        );
        expect(registry.contains(redacted)).toBe(false);
        const batch = registry.redactBatch(batchOfRows(rows.map((row) => ({ row }))));
        const inBatch = linesOfBatch(batch);
        expect(inBatch.split("\n")).toHaveLength(rows.length + 1);
        expect(registry.contains(Buffer.from(inBatch))).toBe(false);
      }),
      { numRuns: choose({ quick: 100, whole: 500 }) },
    );
  });
});

describe("redactText", () => {
  test("replaces the secret and the word around it", () => {
    const registry = registryOf(plainCanary);
    const header = Buffer.from(`user:${plainCanary}`).toString("base64").replace(/=+$/, "");
    expect(registry.redactText(`a ${plainCanary}! b Basic ${header} c`)).toBe(
      "a [redacted]! b Basic [redacted] c",
    );
    expect(registry.hitCount).toBe(2);
  });

  test("keeps text around it that is not ASCII", () => {
    expect(registryOf(plainCanary).redactText(`é🙂 ${plainCanary} 🙂é`)).toBe("é🙂 [redacted] 🙂é");
  });

  test("replaces ten characters of a secret, not nine", () => {
    const registry = registryOf(plainCanary);
    expect(registry.redactText(`starts with ${plainCanary.slice(0, 10)}…`)).toBe(
      "starts with [redacted]…",
    );
    expect(registry.redactText(`starts with ${plainCanary.slice(0, 9)}…`)).toBe(
      `starts with ${plainCanary.slice(0, 9)}…`,
    );
  });

  test("leaves no view of a secret in any text", () => {
    const registry = registryOf(plainCanary, hardCanary);
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.string(),
            fc
              .constantFrom(...[plainCanary, hardCanary].flatMap(secretViews))
              .map((view) => Buffer.from(view.bytes).toString()),
          ),
        ),
        (parts) => !registry.contains(Buffer.from(registry.redactText(parts.join("")))),
      ),
      { numRuns: choose({ quick: 200, whole: 1_000 }) },
    );
  });
});

describe("a short or plain secret", () => {
  const log =
    'GET /a/1?page=1 took 1 ms (a, b): "a":1, {"a":"ab"} test password a(b [1] exit code 1';

  test.each([
    "",
    " ",
    "a",
    "1",
    "a(b",
    "[",
    "\\",
    "ms",
    "11",
    "page",
    '"',
    "$&",
  ])("%j does not wipe out a log line", (secret) => {
    expect(registryOf(secret).redactText(log)).toBe(log);
  });

  test.each([
    "a",
    "1",
    "a(b",
    "$&",
    '"',
    "\\",
    "é",
    "abcde",
    "123456789",
  ])("%j is hidden where it is a complete value", (secret) => {
    const registry = registryOf(secret);
    expect(registry.redactText(secret)).toBe("[redacted]");
    expect(registry.redactText(`{"password":${JSON.stringify(secret)}}`)).toBe(
      '{"password":"[redacted]"}',
    );
    expect(registry.redactText(`https://me:${encodeURIComponent(secret)}@example.com/`)).toBe(
      "https://me:[redacted]@example.com/",
    );
    expect(registry.redactText(`/x?api_key=${encodeURIComponent(secret)}&y=1`)).toBe(
      "/x?api_key=[redacted]&y=1",
    );
    expect(
      registry.redactText(`Authorization: Basic ${Buffer.from(`me:${secret}`).toString("base64")}`),
    ).toBe("Authorization: Basic [redacted]");
    expect(registry.contains(Buffer.from(secret))).toBe(true);
  });

  test("of up to five characters is hidden in a record where it is a whole string, not as a name or a part", () => {
    expect(redactLine("a", '{"a":"a","b":["a","ba"],"c":"a b","n":1}')).toBe(
      '{"a":"[redacted]","b":["[redacted]","ba"],"c":"a b","n":1}',
    );
    expect(redactRow("a", { a: "a", b: ["a", "ba"], c: "a b", n: 1 })).toBe(
      '{"a":"[redacted]","b":["[redacted]","ba"],"c":"a b","n":1}',
    );
  });

  test("leaves a record as it is, to the byte, where it is only the name of a property", () => {
    const lines = Buffer.from('{"a": 1.0}\n');
    expect(registryOf("a").redactLines(lines)).toBe(lines);
  });

  test("of six to nine characters is hidden in full only, and not inside a longer word", () => {
    const registry = registryOf("hunter2x");
    expect(registry.redactText("password hunter2x, not hunter2xx nor xhunter2x nor hunter2")).toBe(
      "password [redacted], not hunter2xx nor xhunter2x nor hunter2",
    );
    expect(registry.redactText("a\\nhunter2x")).toBe("a\\n[redacted]");
    expect(registry.redactText(Buffer.from("hunter2x").toString("hex"))).toBe("[redacted]");
    expect(
      registry.contains(Buffer.from(`Basic ${Buffer.from("someone:hunter2x").toString("base64")}`)),
    ).toBe(true);
    expect(redactLine("hunter2x", '{"a":"is hunter2x.","b":"hunter2xx"}')).toBe(
      '{"a":"[redacted]","b":"hunter2xx"}',
    );
    expect(redactRow("hunter2x", { a: "is hunter2x.", b: "hunter2xx" })).toBe(
      '{"a":"[redacted]","b":"hunter2xx"}',
    );
  });

  test("that is all digits is hidden as a whole word, and never in a number of a record", () => {
    const registry = registryOf("123456789012");
    expect(registry.redactText("id 123456789012, 1234567890123, 12345678901")).toBe(
      "id [redacted], 1234567890123, 12345678901",
    );
    const lines = Buffer.from('{"n":123456789012}\n');
    expect(registry.redactLines(lines)).toBe(lines);
    expect(redactLine("123456789012", '{"n":123456789012,"s":"123456789012"}')).toBe(
      '{"n":123456789012,"s":"[redacted]"}',
    );
    expect(redactRow("123456789012", { n: 123_456_789_012, s: "123456789012" })).toBe(
      '{"n":123456789012,"s":"[redacted]"}',
    );
  });

  test("does not hide runs of one character", () => {
    expect(registryOf("xxxxxxxxxxxxxxxx").redactText("see xxxxxxxxxxxx")).toBe("see xxxxxxxxxxxx");
  });
});

test("an empty registry changes nothing", () => {
  const registry = createSecretRegistry();
  const lines = Buffer.from(`{"a":"${plainCanary}"}\n`);
  expect(registry.redactLines(lines)).toBe(lines);
  expect(registry.redactText("text")).toBe("text");
  expect(registry.contains(Buffer.alloc(0))).toBe(false);
});

/** The same nesting and types, strings and names left out. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value === "object" && value !== null)
    return Object.values(value)
      .map(shapeOf)
      .map((inner) => JSON.stringify(inner))
      .sort();
  return typeof value === "string" ? "string" : value;
}

describe("many and long secrets", () => {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  let state = 11;
  /** Repeatable: Park and Miller, 1988. */
  const randomText = (length: number) =>
    Array.from({ length }, () => {
      state = (state * 48_271) % 2_147_483_647;
      return alphabet[state % alphabet.length];
    }).join("");
  const cpuMs = (work: () => unknown) => {
    const before = process.threadCpuUsage();
    work();
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  };
  const limits = { together: 64 * 1024, short: 50, passing: 16 * 1024 };

  test("a long secret is found in every view, wherever ten of its characters stand", () => {
    const secret = randomText(5_000);
    const registry = registryOf(secret);
    for (const encode of [
      (text: string) => text,
      (text: string) => text.toUpperCase(),
      (text: string) => Buffer.from(text).toString("hex"),
      (text: string) => [...text].join(" "),
      (text: string) => Buffer.from(text).toString("base64"),
      (text: string) => JSON.stringify(Buffer.from(text)),
    ]) {
      const missed: number[] = [];
      for (let start = 0; start + 14 <= secret.length; start += 7)
        if (!registry.contains(Buffer.from(encode(secret.slice(start, start + 14)))))
          missed.push(start);
      expect(missed).toEqual([]);
    }
    // The names of a typed array's values count on.
    const typed = JSON.stringify(new Uint8Array(Buffer.from(secret)));
    for (let start = 1; start + 140 < typed.length; start += 97)
      expect(registry.contains(Buffer.from(typed.slice(start, start + 140)))).toBe(true);
    expect(registry.redactText(`x ${secret} y`)).toBe("x [redacted] y");
  });

  test("an addition costs what it is long, not what is known already", () => {
    const registry = createSecretRegistry();
    const first = cpuMs(() => {
      registry.add(randomText(60_000));
      registry.contains(Buffer.from("x"));
    });
    const spent = cpuMs(() => {
      for (let index = 0; index < 20; index++) {
        registry.add(randomText(50));
        registry.contains(Buffer.from("x"));
      }
    });
    expect(spent).toBeLessThan(first);
  });

  test("beyond its limit a run is given no further secret, and its search stays as it is", () => {
    const registry = createSecretRegistry(limits);
    const added: string[] = [];
    const add = () => {
      const secret = randomText(6_000);
      registry.add(secret);
      added.push(secret);
    };
    expect(() => {
      for (let index = 0; index < 30; index++) add();
    }).toThrow(expect.objectContaining({ code: "CONNECTOR_PROTOCOL" }));
    expect(added).toHaveLength(10);
    for (const secret of added) expect(registry.contains(Buffer.from(secret))).toBe(true);
    registry.add(added[0] as string); // known already
  });

  test("short secrets have a limit of their own: each is looked for one by one", () => {
    const registry = createSecretRegistry(limits);
    expect(() => {
      for (let index = 0; index < 51; index++) registry.add(`k${index}`);
    }).toThrow(expect.objectContaining({ code: "CONNECTOR_PROTOCOL" }));
  });

  test("of tokens that replace each other the last ones are found, whatever their number", async () => {
    const registry = createSecretRegistry(limits);
    const tokens = Array.from({ length: 100 }, () => randomText(2_000));
    for (const token of tokens) {
      registry.addPassing(token);
      expect(registry.contains(Buffer.from(token))).toBe(true);
    }
    await registry.prepare();
    for (const token of tokens.slice(-7)) expect(registry.contains(Buffer.from(token))).toBe(true);
    expect(registry.contains(Buffer.from(tokens[0] as string))).toBe(false);
  });

  test("a token that is a setting too does not pass", async () => {
    const registry = createSecretRegistry(limits);
    const setting = randomText(500);
    registry.add(setting);
    registry.addPassing(setting);
    for (let index = 0; index < 100; index++) registry.addPassing(randomText(2_000));
    await registry.prepare();
    expect(registry.contains(Buffer.from(setting))).toBe(true);
  });

  test("is prepared in pieces, with turns of the event loop between them", async () => {
    const registry = createSecretRegistry();
    registry.add(randomText(96 * 1024));
    let turns = 0;
    const look = () => {
      turns++;
      next = setImmediate(look);
    };
    let next = setImmediate(look);
    await registry.prepare();
    clearImmediate(next);
    // A kilobyte of a secret takes a few milliseconds.
    expect(turns).toBeGreaterThan(90);
    expect(registry.contains(Buffer.from("x"))).toBe(false);
  });

  test("a number of thousands of digits is searched for like a shorter one", () => {
    const number = "12".repeat(16_384);
    const registry = registryOf(number);
    expect(registry.redactText(`x ${number} y`)).toBe("x [redacted] y");
    expect(redactLine(number, `{"text":"${number}"}`)).toBe('{"text":"[redacted]"}');
  });

  test("a token of one gram over and over stops no host: output like it is a hit", () => {
    const token = Array.from({ length: 1_000 }, (_, index) => `AAAAAA${index.toString(36)}`).join(
      "x",
    );
    const registry = registryOf(token);
    const output = Buffer.from("AAAAAA!".repeat(150_000));
    // Compared with each of the thousand places it takes minutes.
    const spent = cpuMs(() => {
      expect(registry.contains(output)).toBe(true);
      const line = `{"text":"${"AAAAAA!".repeat(20_000)}"}\n`;
      expect(registry.redactLines(Buffer.from(line)).toString()).toBe('{"text":"[redacted]"}\n');
    });
    expect(spent).toBeLessThan(20_000);
  });
});
