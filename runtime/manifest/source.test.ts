import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { parseManifest } from "../spec/manifest.ts";
import { describeSource } from "../worker/load.ts";
import { toSource } from "./source.ts";

const text = readFileSync(
  new URL("../../fixtures/manifests/source-shop.yaml", import.meta.url),
  "utf8",
);
/** Whatever a test changes in the document. */
type Loose = ReturnType<typeof parse>;

function changed(change: (document: Loose) => void): string {
  const document = parse(text);
  change(document);
  return stringify(document);
}
const withCursor = (options: object) =>
  changed((all) => {
    all.streams[0].incremental_sync = {
      ...{ type: "DatetimeBasedCursor", cursor_field: "note", datetime_format: "%Y-%m-%d" },
      ...{ start_datetime: "2026-01-01", ...options },
    };
  });
const withParents = (count: number) =>
  changed((all) => {
    let stream = all.streams[1];
    for (let index = 0; index < count; index++)
      stream = {
        ...all.streams[1],
        retriever: {
          ...all.streams[1].retriever,
          partition_router: {
            type: "SubstreamPartitionRouter",
            parent_stream_configs: [{ parent_key: "id", partition_field: "region", stream }],
          },
        },
      };
    all.streams[1] = stream;
  });
/** The first stream as a template, with values of the settings. */
const withTemplate = (mapping: object, ...more: object[]) =>
  changed((all) => {
    all.spec.connection_specification.properties.list = { type: "array", title: "List" };
    all.dynamic_streams = [
      {
        type: "DynamicDeclarativeStream",
        stream_template: all.streams[0],
        components_resolver: {
          type: "ConfigComponentsResolver",
          stream_config: { configs_pointer: ["list"] },
          components_mapping: [mapping, ...more],
        },
      },
    ];
  });
const named = { field_path: ["name"], value: "s_{{ components_values.name }}" };
const load = (yaml: string) => parseManifest(describeSource(toSource(yaml, "shop")) as never);
function faultOf(yaml: string): string {
  try {
    load(yaml);
  } catch (error) {
    const { code, details } = error as { code: string; details: { path: string; problem: string } };
    return `${code} ${details.path}: ${details.problem}`;
  }
  return "nothing was refused";
}

describe("a manifest", () => {
  test("declares its hosts, with settings in them, and keeps to placeholders", () => {
    expect(load(text).egress).toMatchObject({
      baseUrl: "https://{account}.example.com",
      auth: [],
      placeholders: { urls: ["https://search.example.com"] },
    });
  });

  test.each<[string, string, RegExp]>([
    ["that is no YAML", "a: [", /the manifest: is not valid YAML: line 1/],
    ["that is a text", "hello", /the manifest: must be an object/],
    ["that is too large", `a: ${"x".repeat(2 * 1024 * 1024)}`, /larger than/],
    ["that is nested too deeply", `a: ${"[".repeat(100)}${"]".repeat(100)}`, /nested deeper/],
    [
      "of aliases of aliases",
      `a: &a [1,1,1,1,1,1,1,1,1,1]\n${"bcdefgh"
        .split("")
        .map((one, index) => `${one}: &${one} [${Array(10).fill(`*${"abcdefg"[index]}`)}]`)
        .join("\n")}`,
      /too many aliases/,
    ],
    [
      "that refers to itself",
      changed((all) => (all.streams[0].retriever = "#/streams/0/retriever")),
      /refers to itself/,
    ],
    [
      "that refers to a file",
      changed((all) => (all.streams[0].$ref = "./other.yaml#/x")),
      /streams\.0: refers to another document/,
    ],
    [
      "that refers to nothing",
      changed((all) => (all.streams[0].$ref = "#/definitions/none")),
      /refers to what is not there/,
    ],
    [
      "that grows with its references",
      changed((all) => {
        all.definitions.a = Array(100).fill({ x: 1 });
        all.definitions.b = Array(100).fill("#/definitions/a");
        all.definitions.c = Array(100).fill("#/definitions/b");
        all.schemas = "#/definitions/c";
      }),
      /more than 200000 values/,
    ],
    [
      "of which no stream can be read",
      changed((all) => {
        for (const stream of all.streams) stream.retriever.type = "CustomRetriever";
      }),
      /streams\.orders\.retriever: is a CustomRetriever, which is not supported/,
    ],
    [
      "of 11,000 streams",
      changed((all) => (all.streams = Array.from({ length: 11_000 }, () => ({})))),
      /manifest\.streams: are more than 10000 streams/,
    ],
    [
      "of 11,000 streams by reference",
      text.replace(/^streams:$/m, `streams:\n${'  - "#/check"\n'.repeat(11_000)}`),
      /manifest\.streams: are more than 10000 streams/,
    ],
    [
      "of 11,000 streams on a condition",
      changed((all) => {
        const streams = Array.from({ length: 11_000 }, () => ({}));
        all.streams.push({ type: "ConditionalStreams", condition: "{{ true }}", streams });
      }),
      /manifest\.streams: are more than 10000 streams/,
    ],
    [
      "of 100,000 aliases",
      text.replace(/^streams:$/m, `other: &a {}\nstreams:\n${"  - *a\n".repeat(100_000)}`),
      /has more than 100000 names, values and signs/,
    ],
    [
      "of 5,000 aliases",
      text.replace(/^streams:$/m, `other: &a {}\nstreams:\n${"  - *a\n".repeat(5_000)}`),
      /has too many aliases/,
    ],
    [
      "that grows with what it hands down",
      changed((all) => {
        const transformations = Array.from({ length: 9_000 }, () => ({ type: "KeysToLower" }));
        all.$parameters = { transformations };
        for (const stream of all.streams) delete stream.transformations;
        all.streams.push(...Array.from({ length: 20 }, () => "#/streams/0"));
      }),
      /more than 200000 values/,
    ],
    [
      "with steps of no length",
      withCursor({ step: "P0D", cursor_granularity: "P1D" }),
      /streams\.orders\.incremental_sync\.step: must be a duration/,
    ],
    [
      "with steps and no granularity",
      withCursor({ step: "P1D" }),
      /step: and cursor_granularity need each other/,
    ],
    [
      "whose streams are read by one another without end",
      withParents(10),
      /has more than 8 parents in a row/,
    ],
    [
      "whose tokens come from an internal address",
      changed(
        (all) =>
          (all.streams[1].retriever.requester.authenticator = {
            ...{ type: "OAuthAuthenticator", client_id: "a", client_secret: "{{ config.key }}" },
            token_refresh_endpoint: "https://169.254.169.254/token",
          }),
      ),
      /token_refresh_endpoint: leads to an address/,
    ],
    [
      "with an internal address",
      changed((all) => (all.streams[1].retriever.requester.url_base = "https://169.254.169.254/")),
      /url_base: leads to an address/,
    ],
    [
      "with an address in brackets",
      changed((all) => (all.streams[1].retriever.requester.url_base = "https://[::1]/")),
      /leads to an address/,
    ],
    [
      "without TLS",
      changed(
        (all) => (all.streams[1].retriever.requester.url_base = "http://search.example.com/"),
      ),
      /must begin with https/,
    ],
    [
      "whose host a record chooses",
      changed(
        (all) => (all.streams[1].retriever.requester.url_base = "https://{{ record.host }}/"),
      ),
      /only settings may be filled in/,
    ],
    [
      "whose host's end a customer chooses",
      changed(
        (all) => (all.streams[1].retriever.requester.url_base = "https://a.{{ config.account }}/"),
      ),
      /spec\.properties\.account: ends a host name/,
    ],
    [
      "with an expression that reaches for insides",
      changed((all) => (all.streams[1].retriever.requester.path = "{{ config.__class__ }}")),
      /streams\.items\.retriever\.requester\.path: .*__class__/,
    ],
    [
      "without streams",
      changed((all) => (all.streams = [])),
      /manifest\.streams: must name a stream/,
    ],
    [
      "whose check names no stream",
      changed((all) => (all.check.stream_names = ["none"])),
      /check\.stream_names: names a stream/,
    ],
    [
      "whose authenticator uses no setting",
      changed((all) => delete all.spec.connection_specification.properties.key),
      /no setting key/,
    ],
  ])("%s is refused with the place", (_, yaml, words) => {
    expect(faultOf(yaml)).toMatch(words);
    expect(faultOf(yaml)).toMatch(/^CONNECTOR_INVALID /);
  });

  test("may have settings that are written for another draft, and other languages' patterns", () => {
    const yaml = changed((all) => {
      const spec = all.spec.connection_specification;
      Object.assign(spec, {
        $schema: "http://json-schema.org/draft-07/schema#",
        airbyte_hidden: 1,
      });
      const [pattern, format] = ["^[0-9]{4}\\-[0-9]{2}$", "date-time"];
      spec.properties.month = { type: "string", title: "Month", pattern, format };
      spec.properties.day = {
        ...{
          type: "string",
          title: "Day",
          pattern: "^\\d{4}-\\d{2}-\\d{2}$",
          format,
          ui: { a: 1 },
        },
        ...{ required: true, format_hint: "day", examples: "2026-01-01" },
      };
    });
    const { spec } = load(yaml);
    expect(spec).not.toHaveProperty("$schema");
    expect(JSON.stringify(spec)).not.toContain("date-time");
    expect(spec.properties).toMatchObject({
      month: { type: "string", title: "Month" },
      day: { type: "string", title: "Day", pattern: "^\\d{4}-\\d{2}-\\d{2}$" },
    });
  });

  test.each<[string, (stream: Loose) => void, string, RegExp]>([
    [
      "without a field in its schema",
      (one) =>
        (one.schema_loader = {
          type: "InlineSchemaLoader",
          schema: { type: "object", additionalProperties: true, properties: {} },
        }),
      "schema_loader",
      /has no fields/,
    ],
    [
      "with an empty schema",
      (one) => (one.schema_loader = { type: "InlineSchemaLoader", schema: {} }),
      "schema_loader",
      /has no fields/,
    ],
    [
      "whose schema is a choice",
      (one) =>
        (one.schema_loader = {
          type: "InlineSchemaLoader",
          schema: { anyOf: [{ type: "object", properties: { id: {} } }] },
        }),
      "schema_loader",
      /has no fields/,
    ],
    [
      "with a key within an object",
      (one) => (one.primary_key = [["a", "b"]]),
      "primary_key",
      /a field/,
    ],
    [
      "with a cursor that no record has",
      (one) =>
        (one.incremental_sync = {
          type: "DatetimeBasedCursor",
          cursor_field: "changed",
          datetime_format: "%s",
          start_datetime: "2026-01-01",
        }),
      "schema_loader",
      /lacks the cursor field changed/,
    ],
    [
      "whose pages are counted in records of several lists",
      (one) => {
        one.retriever.paginator.pagination_strategy = { type: "OffsetIncrement", page_size: 2 };
        one.retriever.record_selector = {
          type: "RecordSelector",
          extractor: {
            type: "CombinedExtractor",
            extractors: [{ type: "DpathExtractor", field_path: ["a"] }],
          },
        };
      },
      "retriever.record_selector.extractor",
      /is a union/,
    ],
    [
      "with a property that the runtime lacks",
      (one) => (one.file_uploader = { type: "FileUploader" }),
      "file_uploader",
      /is not supported in a DeclarativeStream/,
    ],
  ])("a stream %s is lost alone", (_, change, property, problem) => {
    const { missingStreams } = load(changed((all) => change(all.streams[1])));
    expect(missingStreams).toEqual([
      {
        stream: "items",
        path: `streams.items.${property}`,
        problem: expect.stringMatching(problem),
      },
    ]);
  });

  test.each([
    ["%Y-%m-%d %H:%M:%S", { type: ["string", "null"] }],
    ["%Y-%m-%dT%H:%M:%SZ", { type: ["string", "null"], format: "date-time" }],
  ])("a cursor of the format %s is a field %j", (datetime_format, field) => {
    const yaml = changed((all) => {
      all.definitions.schema.schema.properties.note = {
        ...{ type: ["string", "null"], format: "date-time" },
      };
      all.streams[0].incremental_sync = {
        ...{ type: "DatetimeBasedCursor", cursor_field: "note", datetime_format },
        start_datetime: {
          type: "MinMaxDatetime",
          datetime: "2026-01-01",
          datetime_format: "%Y-%m-%d",
        },
      };
    });
    expect(load(yaml).missingStreams).toBeUndefined();
    const [stream] = toSource(yaml, "shop").streams as never[];
    expect((stream as Loose).schema.properties.note).toEqual(field);
  });

  test("a check tries those of its streams that are not lost, and fails where all of them are", async () => {
    const checked = async (names: string[]) => {
      const yaml = changed((all) => {
        all.check.stream_names = names;
        all.streams[1].file_uploader = { type: "FileUploader" };
      });
      const asked: string[] = [];
      const warned: unknown[] = [];
      const answer = async (url: string) => {
        asked.push(url);
        return { status: 200, headers: {}, text: () => "x", json: () => ({ data: [{ id: 1 }] }) };
      };
      const ctx = {
        config: { account: "north", key: "k" },
        clock: { now: () => 0 },
        log: { warn: (_: string, fields: unknown) => warned.push(fields) },
        http: { get: answer, post: answer },
      } as never;
      await toSource(yaml, "shop").check(ctx);
      expect(warned).toMatchObject([{ stream: "items", path: "streams.items.file_uploader" }]);
      return asked;
    };
    expect(await checked(["items", "orders"])).toEqual(await checked(["orders"]));
    await expect(checked(["items"])).rejects.toMatchObject({ code: "CONNECTOR_INVALID" });
  });

  test("leaves out what no published schema has, and tells it", async () => {
    const yaml = changed((all) => {
      all.streams[1].retriever.requester.authenticator.path = "x";
      all.streams[0].surprise = { type: "Nothing" };
      all.spec.documentationUrl = "https://example.com";
      all.stream_groups = {
        one: { streams: [], action: { type: "BlockSimultaneousSyncsAction" } },
      };
    });
    const source = toSource(yaml, "shop");
    expect(load(yaml).missingStreams).toBeUndefined();
    const warned: unknown[] = [];
    const ctx = { log: { warn: (_: string, fields: unknown) => warned.push(fields) } } as never;
    await source.check(ctx).catch(() => undefined);
    expect(warned).toEqual([
      {
        path: "streams.orders.surprise",
        problem: "is none of a DeclarativeStream: it is not looked at",
      },
      {
        path: "streams.items.retriever.requester.authenticator.path",
        problem: "is none of a BasicHttpAuthenticator: it is not looked at",
      },
      { path: "spec.documentationUrl", problem: "is none of a Spec: it is not looked at" },
    ]);
    expect(faultOf(changed((all) => (all.surprise = 1)))).toMatch(
      /manifest\.surprise: is not supported/,
    );
  });

  test("may have a password that is no setting, which stays empty", () => {
    const yaml = changed((all) => {
      all.spec.connection_specification.additionalProperties = true;
      all.streams[1].retriever.requester.authenticator.password = "{{ config['nothing'] }}";
    });
    // A setting that nobody declared cannot be given: it would be no secret.
    expect(load(yaml).spec).toMatchObject({ additionalProperties: false });
  });

  test("may hand components down as parameters", () => {
    const yaml = changed((all) => {
      const { retriever } = all.streams[1];
      delete all.streams[1].retriever;
      all.streams[1].$parameters = {
        ...all.streams[1].$parameters,
        retriever: { ...retriever, type: undefined },
      };
    });
    expect(load(yaml).missingStreams).toBeUndefined();
    expect(load(yaml).egress).toEqual(load(text).egress);
  });

  test.each<[string, string, string[]]>([
    [
      "a choice by a setting",
      "https://{{ {'eu': 'eu.example.com', 'us': 'us.example.com'}[config.account] }}/v1",
      ["https://eu.example.com", "https://us.example.com"],
    ],
    [
      "such a choice with a default",
      "https://{{ {'eu': 'eu.example.com'}.get(config.account, 'us.example.com') }}/v1",
      ["https://eu.example.com", "https://us.example.com"],
    ],
    [
      "a query behind the host",
      "https://search.example.com?all={{ config.account }}",
      ["https://search.example.com"],
    ],
  ])("may have a host with %s", (_, url, urls) => {
    const { egress } = load(changed((all) => (all.streams[1].retriever.requester.url_base = url)));
    expect(egress).toMatchObject({ placeholders: { urls } });
  });

  test("loses the streams alone that need what is not supported, and says which", async () => {
    const yaml = changed((all) => {
      all.streams[1].retriever.requester.authenticator = { type: "CustomAuthenticator" };
      all.streams[2].retriever.decoder = { type: "CustomDecoder" };
    });
    const source = toSource(yaml, "shop");
    const warned: unknown[] = [];
    const ctx = {
      log: { warn: (_: string, fields: unknown) => warned.push(fields) },
    } as never;
    const names: string[] = [];
    for await (const { name } of source.discover?.(ctx) ?? []) names.push(name);
    expect(names).toEqual(["orders", "lines"]);
    expect(warned).toEqual([
      {
        stream: "items",
        path: "streams.items.retriever.requester.authenticator",
        problem: "is a CustomAuthenticator, which is not supported here",
      },
      {
        stream: "notes",
        path: "streams.notes.retriever.decoder",
        problem: "is a CustomDecoder, which is not supported here",
      },
    ]);
    const reading = source.read(
      ctx,
      { name: "items", schema: {}, syncMode: "full_refresh" },
      undefined,
    );
    await expect(async () => {
      for await (const _ of reading);
    }).rejects.toMatchObject({ code: "CONNECTOR_INVALID" });
  });

  test.each<[string, object[], object, string]>([
    ["has no other of its name", [], { list: [{ name: "a" }, { name: "a" }] }, "CONFIG_INVALID"],
    [
      "reaches for no insides",
      [{ field_path: ["{{ components_values.name }}"], value: "x" }],
      ...([{ list: [{ name: "__proto__" }] }, "CONNECTOR_INVALID"] as const),
    ],
    [
      "asks no address that a setting names",
      [{ field_path: ["retriever", "requester", "url_base"], value: "{{ config.url }}" }],
      ...([
        { url: "https://169.254.169.254/", list: [{ name: "a" }] },
        "CONNECTOR_INVALID",
      ] as const),
    ],
  ])("a stream of a template %s", async (_, mappings, config, code) => {
    const ctx = { config, clock: { now: () => 0 }, log: { warn() {} } } as never;
    const source = toSource(withTemplate(named, ...mappings), "shop");
    await expect(async () => {
      for await (const _ of source.discover?.(ctx) ?? []);
    }).rejects.toMatchObject({ code });
  });

  test("streams of a template may have the fields that are put in for each, and are lost alone", async () => {
    const yaml = withTemplate(
      ...([
        named,
        {
          field_path: ["schema_loader", "schema", "properties"],
          value: "{{ components_values.fields }}",
        },
      ] as const),
    );
    const document = parse(yaml);
    document.dynamic_streams[0].stream_template = {
      ...document.streams[0],
      schema_loader: { type: "InlineSchemaLoader", schema: { type: "object", properties: {} } },
    };
    const warned: unknown[] = [];
    const ctx = {
      config: {
        list: [
          { name: "a", fields: { id: { type: "string" } } },
          { name: "b", fields: {} },
        ],
      },
      ...{
        clock: { now: () => 0 },
        log: { warn: (_: string, fields: unknown) => warned.push(fields) },
      },
    } as never;
    const names: string[] = [];
    for await (const { name } of toSource(stringify(document), "shop").discover?.(ctx) ?? [])
      names.push(name);
    expect(names).toEqual(["orders", "items", "notes", "lines", "s_a"]);
    expect(warned).toEqual([
      expect.objectContaining({ stream: "s_b", path: "streams.s_b.schema_loader" }),
    ]);
  });

  test("what a template gets as a credential is a secret", () => {
    const path = ["retriever", "requester", "authenticator", "api_token"];
    const yaml = withTemplate(named, { field_path: path, value: "{{ config.account }}" });
    expect(load(yaml).spec).toMatchObject({ properties: { account: { airbyte_secret: true } } });
  });
});
