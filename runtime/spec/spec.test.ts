import { Script } from "node:vm";
import { describe, expect, test, vi } from "vitest";
import { bearer, http, secret, Type } from "../author.ts";
import type {
  CatalogStream,
  ConfiguredCatalog,
  Manifest,
  StreamState,
} from "../contract/catalog.ts";
import type { JsonObject, JsonValue } from "../contract/json.ts";
import { parseConfig } from "./config.ts";
import { parseManifest } from "./manifest.ts";
import { parseSelection } from "./selection.ts";
import { createStreamList } from "./streams.ts";
import { validateAll } from "./validation.ts";

const token = "tok-0123456789-abcdef";
const spec = Type.Object({
  api_token: secret(Type.String({ minLength: 1 })),
  region: Type.Union([Type.Literal("eu"), Type.Literal("us")], { default: "eu" }),
  size: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  tls: Type.Optional(Type.Object({ key: secret(Type.String()), name: Type.String() })),
  certificate: Type.Optional(Type.String({ multiline: true })),
});
const stream: CatalogStream = {
  name: "rows",
  json_schema: {
    type: "object",
    properties: { id: { type: "integer" }, updated_at: { type: "string" } },
  },
  supported_sync_modes: ["full_refresh", "incremental"],
  source_defined_cursor: true,
  default_cursor_field: ["updated_at"],
  source_defined_primary_key: [["id"]],
  is_resumable: true,
};

/** A manifest as a worker sends it: plain JSON. */
function manifest(changes: Record<string, unknown> = {}): JsonValue {
  const definition = {
    id: "conn_test",
    version: "1.0.0",
    title: "Test",
    spec,
    egress: http({ baseUrl: "https://{region}.example.com", auth: bearer("api_token") }),
    state: Type.Object({ updated_at: Type.String() }),
    streams: [stream],
    ...changes,
  };
  return JSON.parse(JSON.stringify(definition)) as JsonValue;
}
const good = (): Manifest => parseManifest(manifest());
const code = (wanted: string, details: object = {}) =>
  expect.objectContaining({ code: wanted, details: expect.objectContaining(details) });

describe("a manifest", () => {
  test("is accepted as a worker sends it", () => {
    expect(good()).toMatchObject({ id: "conn_test", egress: { kind: "http" } });
  });

  test.each([
    ["id", { id: "Test" }, "id"],
    ["version", { version: "1.0" }, "version"],
    [
      "spec that is no schema",
      { spec: { type: "object", properties: { a: { type: "nothing" } } } },
      "spec",
    ],
    ["state that is no schema", { state: { type: 7 } }, "state"],
    ["egress of another kind", { egress: { kind: "smtp" } }, "egress.kind"],
    [
      "plain http",
      { egress: { ...http({ baseUrl: "http://example.com", auth: [] }) } },
      "egress.baseUrl",
    ],
    [
      "field that is not declared",
      { egress: http({ baseUrl: "https://example.com", auth: bearer("nope") }) },
      "spec.properties.nope",
    ],
    [
      "bearer that is not secret",
      { egress: http({ baseUrl: "https://example.com", auth: bearer("region") }) },
      "spec.properties.region",
    ],
    [
      "error code that does not exist",
      {
        egress: http({
          baseUrl: "https://example.com",
          auth: [],
          errors: [{ status: 400, code: "NOPE" as never }],
        }),
      },
      "egress.errors.0.code",
    ],
    ["unknown member", { hack: 1 }, "hack"],
    [
      "stream name twice but for case",
      { streams: [stream, { ...stream, name: "ROWS" }] },
      "stream ROWS",
    ],
    [
      "key that the schema lacks",
      { streams: [{ ...stream, source_defined_primary_key: [["uid"]] }] },
      "stream rows",
    ],
  ])("with a wrong %s is refused, naming the place", (_, changes, path) => {
    expect(() => parseManifest(manifest(changes))).toThrow(code("CONNECTOR_INVALID", { path }));
  });

  test.each([
    ["a keyword is unknown", { type: "string", minLenght: 2 }, "minLenght is not a keyword of it"],
    ["a keyword has no such value", { type: "nothing" }, "look at properties.a.type"],
    ["a name is no name", { type: "string", "read this: …": 1 }, undefined],
  ])("with a spec in which %s is refused, and says where", (_, property, place) => {
    const spec = { type: "object", properties: { a: property } };
    const problem = `is not a valid JSON Schema${place === undefined ? "" : `: ${place}`}`;
    expect(() => parseManifest(manifest({ spec }))).toThrow(
      code("CONNECTOR_INVALID", { path: "spec", problem }),
    );
  });

  test.each<[string, object]>([
    ["a list", { type: "array", items: secret(Type.String()) }],
    ["a map", { type: "object", additionalProperties: secret(Type.String()) }],
    ["a reference", { $ref: "#/$defs/key", $defs: { key: secret(Type.String()) } }],
    ["a condition", { type: "string", if: {}, else: secret(Type.String()) }],
  ])("with a secret in %s is refused, because it would reach the worker", (_, property) => {
    const changed = {
      type: "object",
      properties: { api_token: secret(Type.String()), region: Type.Literal("eu"), other: property },
    };
    expect(() => parseManifest(manifest({ spec: changed }))).toThrow(code("CONNECTOR_INVALID"));
  });
});

describe("a configuration", () => {
  test("is taken apart: the whole for the host, the rest for the worker", () => {
    const config = { api_token: token, tls: { key: "secret-key-000", name: "n" } };
    const parsed = parseConfig(good(), config);
    expect(parsed.whole).toEqual({ ...config, region: "eu" });
    expect(parsed.withoutSecrets).toEqual({ region: "eu", tls: { name: "n" } });
    expect(parsed.secrets).toEqual([token, "secret-key-000"]);
    expect(config).not.toHaveProperty("region");
  });

  test.each<[string, JsonValue, string]>([
    ["a missing setting", {}, "api_token"],
    ["a wrong type", { api_token: token, size: "12" }, "size"],
    ["a value out of range", { api_token: token, size: 101 }, "size"],
    ["a value outside of the choice", { api_token: token, region: token }, "region"],
    ["an unknown setting", { api_token: token, sise: 1 }, "sise"],
    ["an empty secret", { api_token: "" }, "api_token"],
    ["NUL in a text", { api_token: `${token}\0` }, "api_token"],
    ["a line break in a text", { api_token: `${token}\r\nHost: evil` }, "api_token"],
    ["a list", [token], "the document"],
    ["null", null, "the document"],
    ["a text", token, "the document"],
    ["more than 1 MiB", { api_token: "x".repeat(1024 * 1024) }, "the document"],
  ])("with %s is refused, naming the place and no value", (_, config, path) => {
    let failure: { message?: string } = {};
    try {
      parseConfig(good(), config);
    } catch (error) {
      failure = error as Error;
    }
    expect(failure).toEqual(code("CONFIG_INVALID", { path }));
    expect(failure.message).not.toContain(token);
  });

  test("of which several settings are missing is told of all of them, and by which command they are shown", () => {
    const three = manifest({
      spec: Type.Object({
        host: Type.String(),
        port: Type.Integer({ default: 1 }),
        user: Type.String(),
        api_token: secret(Type.String()),
        note: Type.Optional(Type.String()),
      }),
      egress: http({ baseUrl: "https://a.example.com", auth: bearer("api_token") }),
    });
    const problemWith = (config: JsonValue, name?: string) => {
      try {
        parseConfig(parseManifest(three), config, name);
      } catch (error) {
        return (error as Error).message;
      }
      return undefined;
    };
    expect(problemWith({}, "postgres")).toBe(
      "The configuration is not valid: host is missing, and so are user and api_token. Correct that setting; `svc spec postgres` lists them all.",
    );
    expect(problemWith({ host: "h" })).toContain("user is missing, and so is api_token.");
    expect(problemWith({ host: "h", user: "u" })).toContain(
      "api_token is missing. Correct that setting; `svc spec <connector>` lists them all.",
    );
    expect(problemWith({ hots: "h" })).toContain("is missing, and so are user and api_token.");
  });

  test("may have line breaks where the spec says multiline", () => {
    expect(parseConfig(good(), { api_token: token, certificate: "a\nb" }).whole.certificate).toBe(
      "a\nb",
    );
  });

  test("keeps secrets that may be null, numbers, or marked in the words of Airbyte or JSON Schema from the worker", () => {
    const marked = parseManifest(
      manifest({
        spec: {
          type: "object",
          properties: {
            api_token: secret(Type.String()),
            region: { enum: ["eu"] },
            nullable: { anyOf: [secret(Type.String()), { type: "null" }] },
            pin: { type: "integer", airbyte_secret: true },
            hidden: { type: "string", writeOnly: true },
          },
        },
      }),
    );
    const parsed = parseConfig(marked, {
      api_token: token,
      region: "eu",
      nullable: "nullable-secret",
      pin: 123456,
      hidden: "hidden-secret",
    });
    expect(parsed.withoutSecrets).toEqual({ region: "eu" });
    expect(parsed.secrets).toEqual([token, "nullable-secret", "123456", "hidden-secret"]);
  });

  const twice = (at: number) => ({
    anyOf: [{ $ref: `#/$defs/d${at}` }, { $ref: `#/$defs/d${at}` }],
  });
  test.each([
    ["a pattern that goes back again and again", { type: "string", pattern: "^(a+)+$" }, {}],
    [
      "references that double the work thirty times",
      twice(0),
      Object.fromEntries(
        Array.from({ length: 31 }, (_, at) => [
          `d${at}`,
          at < 30 ? twice(at + 1) : { type: "null" },
        ]),
      ),
    ],
  ])("whose check would never end stops the connector, not the host: %s", (_, region, $defs) => {
    const slow = parseManifest(
      manifest({
        spec: { type: "object", properties: { api_token: secret(Type.String()), region }, $defs },
      }),
    );
    expect(() => parseConfig(slow, { api_token: token, region: `${"a".repeat(40)}!` })).toThrow(
      code("CONNECTOR_INVALID", { path: "schema" }),
    );
  });

  test("cannot reach the prototype", () => {
    const hostile = JSON.parse(`{"api_token":"${token}","__proto__":{"size":5}}`) as JsonObject;
    expect(parseConfig(good(), hostile).whole.size).toBeUndefined();
  });
});

describe("a selection", () => {
  const catalog = (changes: object = {}): ConfiguredCatalog => ({
    streams: [{ stream, sync_mode: "incremental", ...changes }],
  });
  const state = (value: JsonValue): StreamState[] => [{ stream: { name: "rows" }, state: value }];

  test("of many streams has their states validated together, and a fault names its stream", () => {
    const names = Array.from({ length: 100 }, (_, at) => `rows_${at}`);
    const watched = parseManifest(
      manifest({
        state: Type.Object({ updated_at: Type.String({ pattern: "^(a+)+$" }) }),
        streams: names.map((name) => ({ ...stream, name })),
      }),
    );
    const all: ConfiguredCatalog = {
      streams: names.map((name) => ({ stream: { ...stream, name }, sync_mode: "incremental" })),
    };
    const statesWith = (last: string): StreamState[] =>
      names.map((name, at) => ({
        stream: { name },
        state: { updated_at: at === 99 ? last : "aaa" },
      }));
    const watches = vi.spyOn(Script.prototype, "runInContext");
    expect(parseSelection(watched, all, statesWith("aaa"))).toHaveLength(100);
    expect(watches).toHaveBeenCalledTimes(2);
    watches.mockRestore();
    expect(() => parseSelection(watched, all, statesWith("b"))).toThrow(
      code("STATE_INVALID", { stream: "rows_99", path: "updated_at" }),
    );
    expect(() => parseSelection(watched, all, statesWith(`${"a".repeat(40)}!`))).toThrow(
      code("CONNECTOR_INVALID", { path: "schema" }),
    );
  });

  test("of states that are long together, and each quick enough, is not refused", () => {
    const busyMs = 40;
    const work = (document: number) => {
      const end = performance.now() + busyMs;
      while (performance.now() < end);
      return document;
    };
    expect(validateAll([1, 2, 3, 4, 5, 6, 7, 8], work)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  test("becomes orders: mode, cursor, state and the key among the selected fields", () => {
    const [order] = parseSelection(
      good(),
      catalog({ selected_fields: ["id"] }),
      state({ updated_at: "2026-01-01" }),
    );
    expect(order).toMatchObject({
      syncMode: "incremental",
      cursorField: "updated_at",
      selectedFields: ["id", "updated_at"],
      state: { updated_at: "2026-01-01" },
    });
  });

  test("of a source with discover believes the configured catalog", () => {
    const { streams: _, ...dynamic } = good();
    expect(parseSelection(dynamic, catalog(), [])).toHaveLength(1);
  });

  test.each<[string, ConfiguredCatalog, string]>([
    [
      "an unknown stream",
      { streams: [{ stream: { ...stream, name: "other" }, sync_mode: "full_refresh" }] },
      "STREAM_UNKNOWN",
    ],
    ["no stream", { streams: [] }, "CATALOG_INVALID"],
    ["no list", {} as never, "CATALOG_INVALID"],
    [
      "a stream twice",
      { streams: [...catalog().streams, ...catalog().streams] },
      "CATALOG_INVALID",
    ],
    ["an unknown mode", catalog({ sync_mode: "sometimes" }), "CATALOG_INVALID"],
    ["an unknown field", catalog({ selected_fields: ["nope"] }), "CATALOG_INVALID"],
    [
      "more than 6,000",
      {
        streams: Array.from({ length: 6_001 }, (_, index) => ({
          stream: { ...stream, name: `s${index}` },
          sync_mode: "full_refresh" as const,
        })),
      },
      "TOO_MANY_TABLES",
    ],
  ])("with %s is refused", (_, wrong, wanted) => {
    expect(() => parseSelection(good(), wrong, [])).toThrow(code(wanted));
  });

  test("without a cursor cannot be incremental", () => {
    const open = { ...stream, source_defined_cursor: false, default_cursor_field: [] };
    const wrong = (changes: object) => () =>
      parseSelection(
        parseManifest(manifest({ streams: [open] })),
        catalog({ stream: open, ...changes }),
        [],
      );
    expect(wrong({})).toThrow(code("SYNC_MODE_UNSUPPORTED"));
    expect(wrong({ cursor_field: ["nope"] })).toThrow(code("SYNC_MODE_UNSUPPORTED"));
    expect(wrong({ cursor_field: ["id"] })()).toMatchObject([{ cursorField: "id" }]);
  });

  test.each<[string, JsonValue]>([
    ["a list", []],
    ["a text", "2026"],
    ["a number", 5],
    ["another shape", { page: 3 }],
    ["a wrong type", { updated_at: 5 }],
  ])("with a state that is %s is refused", (_, wrong) => {
    expect(() => parseSelection(good(), catalog(), state(wrong))).toThrow(
      code("STATE_INVALID", { stream: "rows" }),
    );
  });

  test.each<[string, JsonValue]>([
    ["null", null],
    ["{}", {}],
  ])("with the state %s begins at the beginning", (_, empty) => {
    expect(parseSelection(good(), catalog(), state(empty))).toHaveLength(1);
  });

  test("of 6,000 streams is accepted", () => {
    const many = Array.from({ length: 6_000 }, (_, index) => ({ ...stream, name: `s${index}` }));
    const list = createStreamList();
    expect(list(many as unknown as JsonValue)).toHaveLength(6_000);
    expect(() => list([stream] as unknown as JsonValue)).toThrow(
      code("TOO_MANY_TABLES", { found: 6_001, limit: 6_000 }),
    );
  });
});
