/**
 * The search for leaks finds a secret in every channel that a connector has, planted in two shapes:
 * one of letters and digits, one with what encodings change. The numbers are those of the list of
 * 45 channels. Those that are no connector's belong to other parts: 20, 30, 40, 41, 42, 43, 44, 45
 * (control API, its webhooks and OAuth), 26, 27, 28 (jobs), 29 (database at rest), 31, 32 (metrics
 * and spans), 35 (dumps of the process, which the sandbox denies), 39 (reports: report/).
 */
import assert from "node:assert";
import { randomBytes } from "node:crypto";
import { inspect } from "node:util";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { Given, Message, Observation } from "../../contract/observation.ts";
import { controls } from "./leak-findings.ts";
import { createLeakSearch } from "./leaks.ts";
import { sinksOf, sinksOfGiven } from "./sinks.ts";

const shapes = {
  plain: "cnry7KQ2ZPX9VLM4RT5WN3BS6YD2",
  awkward: "cnry7KQ2\"\\/+=&%'<>#?;ZPX9VLM4RT5WN",
} as const;

const thrownBy = (work: () => unknown): unknown => {
  try {
    work();
  } catch (error) {
    return error;
  }
  return assert.fail("it did not throw");
};

const message = (body: Message): Message => body;
const log = (text: string, level = "INFO") =>
  message({ type: "LOG", log: { level, message: text } });
const failure = (error: object) => message({ type: "TRACE", trace: { type: "ERROR", error } });
const gave = (where: Given["where"], value: unknown) => ({
  given: [{ where, level: "info", value }],
});

interface Planted {
  readonly messages?: readonly Message[];
  readonly traces?: Partial<Observation["traces"]>;
  readonly given?: readonly Given[];
}

/** A run with the secret in one channel of its output. */
const channels: { readonly [channel: string]: (secret: string) => Planted } = {
  "1 error.message": (secret) => ({
    messages: [failure({ message: `The token ${secret} was refused.` })],
  }),
  "2 error.stack": (secret) => ({
    messages: [
      failure({ message: "Failed.", stack_trace: new Error(`refused ${secret}`).stack ?? "" }),
    ],
  }),
  "3 error.cause": (secret) =>
    gave("thrown", new Error("Failed.", { cause: new Error(`refused ${secret}`) })),
  "4 AggregateError.errors": (secret) =>
    gave("thrown", new AggregateError([new Error("one"), new Error(`other ${secret}`)], "Failed.")),
  "5 AxiosError.config": (secret) => ({
    messages: [
      log(
        inspect(
          Object.assign(new Error("Request failed"), {
            config: { headers: { Authorization: `Bearer ${secret}` } },
          }),
        ),
      ),
    ],
  }),
  "6 got options": (secret) => ({
    messages: [log(JSON.stringify({ options: { headers: { "x-api-key": secret } } }))],
  }),
  "7 headers of a response error": (secret) => ({
    messages: [
      failure({
        message: "Failed.",
        internal_message: inspect({ headers: { "set-cookie": [`sid=${secret}`] } }),
      }),
    ],
  }),
  "8 a URL with the token in its query": (secret) => ({
    messages: [
      log(
        `GET ${new URL(`https://api.example.com/rows?token=${encodeURIComponent(secret)}`)} failed`,
      ),
    ],
  }),
  "9 user and password in a URL": (secret) => ({
    messages: [log(`GET https://user:${encodeURIComponent(secret)}@api.example.com/`)],
  }),
  "10 the Location of a redirect": (secret) => ({
    messages: [log(`redirected to /login?session=${encodeURIComponent(secret)}`)],
  }),
  "11 a Referer that is sent on": (secret) => ({
    messages: [log(`referer: https://app.example.com/?key=${encodeURIComponent(secret)}`, "DEBUG")],
  }),
  "12 a provider's error body": (secret) => ({
    messages: [failure({ message: `HTTP 400: {"sent":${JSON.stringify(secret)}}` })],
  }),
  "13 a snippet of a JSON parser": (secret) => ({
    messages: [log(String(thrownBy(() => JSON.parse(secret))))],
  }),
  "14 the value that a schema refused": (secret) => ({
    messages: [
      message({
        type: "CONNECTION_STATUS",
        connectionStatus: {
          status: "FAILED",
          message: `page_size must be integer, got ${JSON.stringify(secret)}`,
        },
      }),
    ],
  }),
  "15 the detail of a unique violation": (secret) => ({
    messages: [
      failure({ message: "Failed.", internal_message: `Key (token)=(${secret}) already exists.` }),
    ],
  }),
  "16 bound parameters of SQL": (secret) => ({
    messages: [log(`SELECT 1 WHERE token = $1 -- [${inspect(secret)}]`)],
  }),
  "17 fields of a log line": (secret) => gave("log", { message: "page", token: secret }),
  "18 a log line with all settings": (secret) => ({
    messages: [log(JSON.stringify({ api_token: secret, page_size: 2 }))],
  }),
  "19 the debug output of a library": (secret) => ({
    traces: { errorOutput: `HTTP 12: outgoing Authorization: Bearer ${secret}\n` },
  }),
  "21 response headers": (secret) => ({ messages: [log(`set-cookie: sid=${secret}; Path=/`)] }),
  "22 an ETag that holds it": (secret) => ({
    messages: [log(`etag: "${Buffer.from(secret).toString("base64url")}"`)],
  }),
  "23 a pagination token": (secret) => ({
    messages: [
      message({
        type: "STATE",
        state: {
          type: "STREAM",
          stream: {
            stream_descriptor: { name: "a" },
            stream_state: { next: Buffer.from(`{"after":1,"key":"${secret}"}`).toString("base64") },
          },
        },
      }),
    ],
  }),
  "24 a state": (secret) => ({
    messages: [
      message({
        type: "STATE",
        state: {
          type: "STREAM",
          stream: { stream_descriptor: { name: "a" }, stream_state: { token: secret } },
        },
      }),
    ],
  }),
  "25 a record": (secret) => ({
    messages: [
      message({ type: "RECORD", record: { stream: "a", data: { id: 1, own_token: secret } } }),
    ],
  }),
  "33 arguments of a process": (secret) => ({
    traces: {
      artefacts: [
        { name: "docker inspect", text: JSON.stringify([{ Args: ["--token", secret] }]) },
      ],
    },
  }),
  "34 the environment": (secret) => ({
    traces: {
      artefacts: [
        {
          name: "docker inspect",
          text: JSON.stringify([{ Config: { Env: [`TOKEN=${secret}`] } }]),
        },
      ],
    },
  }),
  "36 a temporary file": (secret) => ({
    traces: {
      artefacts: [
        { name: "/tmp/debug.json", text: `{"request":{"auth":${JSON.stringify(secret)}}}` },
      ],
    },
  }),
  "37 a default of the spec": (secret) => ({
    messages: [
      message({
        type: "SPEC",
        spec: { connectionSpecification: { properties: { token: { default: secret } } } },
      }),
    ],
  }),
  "38 a snapshot in the catalog": (secret) => ({
    messages: [
      message({
        type: "CATALOG",
        catalog: {
          streams: [{ name: "a", json_schema: { examples: [{ token: secret }] } } as never],
        },
      }),
    ],
  }),
  "standard output past the protocol": (secret) => ({
    traces: { strayOutput: ["starting", `token=${secret}`] },
  }),
  "a warning of the process": (secret) => ({
    traces: { accidents: [`unhandledRejection: Error: ${secret}`] },
  }),
};

/** Ways in which text is written; each is put into a log line. */
const encodings: { readonly [name: string]: (secret: string) => string } = {
  base64: (secret) => Buffer.from(secret).toString("base64"),
  "base64 in the middle of a word": (secret) => Buffer.from(`ab${secret}yz`).toString("base64"),
  base64url: (secret) => Buffer.from(secret).toString("base64url"),
  "HTTP Basic": (secret) => `Basic ${Buffer.from(`user:${secret}`).toString("base64")}`,
  hex: (secret) => Buffer.from(secret).toString("hex"),
  "upper-case hex": (secret) => Buffer.from(secret).toString("hex").toUpperCase(),
  "percent escapes": (secret) => encodeURIComponent(secret),
  "percent escapes of every byte": (secret) =>
    [...Buffer.from(secret)]
      .map((byte) => `%${byte.toString(16).padStart(2, "0").toUpperCase()}`)
      .join(""),
  "JSON in JSON": (secret) => JSON.stringify(JSON.stringify({ secret })),
  "HTML escapes": (secret) =>
    [...secret].map((character) => `&#${character.codePointAt(0)};`).join(""),
  "unicode escapes": (secret) =>
    [...secret]
      .map((character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  "a Buffer as JSON": (secret) => JSON.stringify(Buffer.from(secret)),
  reversed: (secret) => [...secret].reverse().join(""),
  "the first eight characters": (secret) => `${secret.slice(0, 8)}…`,
  "the last eight characters": (secret) => `…${secret.slice(-8)}`,
  "two halves in two fields": (secret) =>
    JSON.stringify({ a: secret.slice(0, secret.length >> 1), b: secret.slice(secret.length >> 1) }),
  "gzip in base64": (secret) =>
    gzipSync(JSON.stringify({ authorization: `Bearer ${secret}` })).toString("base64"),
  "deflate in base64": (secret) =>
    deflateSync(JSON.stringify({ authorization: `Bearer ${secret}` })).toString("base64"),
  "zstd in base64": (secret) =>
    zstdCompressSync(JSON.stringify({ authorization: `Bearer ${secret}` })).toString("base64"),
};

function textsOf({ messages = [], traces = {}, given = [] }: Planted) {
  const observed = messages.map((one) => ({
    message: one,
    line: JSON.stringify(one),
    requestCount: 0,
    atMs: 0,
  }));
  const whole = {
    strayOutput: [],
    errorOutput: "",
    waits: [],
    accidents: [],
    denied: [],
    redactions: [],
    artefacts: [],
    openConnections: 0,
    leftHandles: [],
    ...traces,
  };
  return [
    ...sinksOf({ messages: observed, traces: whole as unknown as Observation["traces"] }),
    ...sinksOfGiven(given),
  ];
}

describe.each(Object.entries(shapes))("a secret of the shape %s", (_, value) => {
  const canary = { name: "config token", value };
  const search = createLeakSearch([
    canary,
    { name: "config other", value: "cnryHJUXEGBZ3MTC4KNYOF6QDIW5" },
  ]);
  const found = (planted: Planted) => textsOf(planted).flatMap(({ text }) => search.find(text));

  test.each(Object.entries(channels))("is found in channel %s", (_name, plant) => {
    expect(found(plant(value)).map((leak) => leak.canary)).toContain(canary);
    expect(found(plant("redacted"))).toEqual([]);
  });

  test.each(Object.entries(encodings))("is found as %s", (_name, encode) => {
    const text = `before ${encode(value)} after`;
    const others = Array.from({ length: 400 }, (_, index) => `clean ${"text ".repeat(index)}`);
    expect(search.isClean([...others, text])).toBe(false);
    expect(search.isClean([...others, ...others])).toBe(true);
    const leaks = found({ messages: [log(text)] });
    expect(leaks.map((leak) => leak.canary)).toContain(canary);
    expect(leaks.some(({ canary: other }) => other !== canary)).toBe(false);
  });

  test("is reported to stand as it is where it does, at its place", () => {
    const text = `é before ${value} after`;
    expect(search.find(text)).toEqual([
      { canary, isVerbatim: true, encoding: "as it is", start: 9, end: 9 + value.length },
    ]);
  });

  test("is reported with its encoding where it was changed", () => {
    const basic = encodings["HTTP Basic"]?.(value) ?? "";
    expect(search.find(basic)).toMatchObject([
      { isVerbatim: false, encoding: "base64, as in HTTP Basic" },
    ]);
    expect(search.find(encodings["gzip in base64"]?.(value) ?? "")).toMatchObject([
      { isVerbatim: false, encoding: "gzip in base64" },
    ]);
    expect(search.find(`${value.slice(0, 8)}…`)).toMatchObject([
      { isVerbatim: false, encoding: "its first 8 characters" },
    ]);
  });

  test("is not seen in what does not hold it: seven characters, a hash, random base64, brotli", () => {
    const others = [
      value.slice(0, 7),
      value.slice(-7),
      randomBytes(300).toString("base64"),
      brotliCompressSync(randomBytes(100)).toString("base64"),
    ];
    expect(others.flatMap((text) => search.find(`"${text}"`))).toEqual([]);
  });
});

test("the control of a search fails when the search finds nothing", () => {
  const canaries = [{ name: "config token", value: shapes.plain }];
  expect(controls(createLeakSearch(canaries), canaries)).toBe(true);
  expect(controls({ find: () => [], isClean: () => true }, canaries)).toBe(false);
});

test("settings that a connector gives back to be kept are no leak", () => {
  const control = message({
    type: "CONTROL",
    control: { type: "CONNECTOR_CONFIG", connectorConfig: { config: { token: shapes.plain } } },
  });
  expect(textsOf({ messages: [control] })).toEqual([]);
});
