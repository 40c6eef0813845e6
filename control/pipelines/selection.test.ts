import type { CatalogStream } from "svc-connectors/host";
import { describe, expect, test } from "vitest";
import { suggest } from "./modes.ts";
import { jobStreams } from "./selection.ts";
import { collisionsOf, namespacePlaceholder, type TableNaming, tableOf } from "./table-names.ts";

const stream = (name: string, namespace?: string): CatalogStream => ({
  name,
  ...(namespace === undefined ? {} : { namespace }),
  json_schema: { type: "object", properties: { id: {}, at: {}, note: {} } },
  supported_sync_modes: ["full_refresh"],
  source_defined_cursor: false,
  default_cursor_field: [],
  source_defined_primary_key: [["id"]],
  is_resumable: false,
});
const agreed = (name: string, namespace?: string) =>
  suggest(stream(name, namespace), ["append", "overwrite"]);
const naming = (changes: Partial<TableNaming> = {}): TableNaming => ({
  prefix: "",
  namespaceDefinition: "destination",
  namespaceFormat: null,
  ...changes,
});

describe("a job", () => {
  test("reads and writes the same streams in the same order", () => {
    const { catalog, streams } = jobStreams(naming(), [agreed("a"), agreed("b", "x")]);
    expect(catalog.streams).toEqual(streams.map(({ configured }) => configured));
    expect(streams).toEqual([
      {
        configured: {
          stream: stream("a"),
          sync_mode: "full_refresh",
          destination_sync_mode: "overwrite",
          primary_key: [["id"]],
        },
        table: "_svc_a",
      },
      expect.objectContaining({ table: "_svc_b" }),
    ]);
  });

  test("has only the streams that it was asked for", () => {
    const choice = { streams: [{ name: "a", namespace: "x" }] };
    const { streams } = jobStreams(naming(), [agreed("a"), agreed("a", "x"), agreed("b")], choice);
    expect(streams.map(({ configured }) => configured.stream.namespace)).toEqual(["x"]);
  });

  test("reads the key and the cursor, whatever columns were chosen", () => {
    const one = { ...agreed("a"), selectedFields: ["note"], cursorField: ["at"] };
    expect(jobStreams(naming(), [one]).catalog.streams[0]?.selected_fields).toEqual([
      "note",
      "id",
      "at",
    ]);
  });

  test("begins anew when it is told to, or where the state fits no more", () => {
    const restarts = (isFullRefresh: boolean) =>
      jobStreams(naming(), [agreed("a"), { ...agreed("b"), isRestart: true }], {
        isFullRefresh,
      }).streams.map(({ isRestart = false }) => isRestart);
    expect([restarts(false), restarts(true)]).toEqual([
      [false, true],
      [true, true],
    ]);
  });
});

describe("a table", () => {
  test.each<[Partial<TableNaming>, string | undefined, object]>([
    [{}, "sales", { table: "_svc_orders" }],
    [{ prefix: "crm_" }, undefined, { table: "_svc_crm_orders" }],
    [{ namespaceDefinition: "source" }, "sales", { table: "_svc_orders", schema: "sales" }],
    [{ namespaceDefinition: "source" }, undefined, { table: "_svc_orders" }],
    [
      { namespaceDefinition: "custom_format", namespaceFormat: `raw_${namespacePlaceholder}` },
      "$&",
      { table: "_svc_orders", schema: "raw_$&" },
    ],
    [
      { namespaceDefinition: "custom_format", namespaceFormat: namespacePlaceholder },
      undefined,
      { table: "_svc_orders" },
    ],
    [
      { namespaceDefinition: "custom_format", namespaceFormat: "raw" },
      "sales",
      { table: "_svc_orders", schema: "raw" },
    ],
  ])("is called by %j, of namespace %s", (changes, namespace, expected) =>
    expect(tableOf(naming(changes), stream("orders", namespace))).toEqual(expected));

  test("collides with one of the same name, in whatever case", () => {
    const streams = [
      stream("Orders", "a"),
      stream("orders", "b"),
      stream("other", "b"),
      stream("ORDERS", "A"),
    ];
    expect(collisionsOf(naming(), streams)).toEqual([
      [0, 1],
      [0, 3],
    ]);
    expect(collisionsOf(naming({ namespaceDefinition: "source" }), streams)).toEqual([[0, 3]]);
  });
});
