import type { CatalogStream } from "svc-connectors/host";
import { describe, expect, test } from "vitest";
import { suggest } from "./modes.ts";
import {
  applySchemaChanges,
  type SchemaChangePolicy,
  schemaChangePolicies,
} from "./schema-changes.ts";
import { type AgreedStream, identityOf } from "./selection.ts";

const text = { type: ["string", "null"] };
const modes = ["append", "overwrite", "append_dedup"] as const;

const stream = (
  name: string,
  columns: object = {},
  more: Partial<CatalogStream> = {},
): CatalogStream => ({
  name,
  json_schema: {
    type: "object",
    properties: { id: { type: "integer" }, at: text, ...columns },
    required: ["id"],
  },
  supported_sync_modes: ["full_refresh", "incremental"],
  source_defined_cursor: false,
  default_cursor_field: [],
  source_defined_primary_key: [["id"]],
  is_resumable: true,
  ...more,
});

const agree = (one: CatalogStream, more: Partial<AgreedStream> = {}): AgreedStream => ({
  ...suggest(one, modes),
  syncMode: "incremental",
  destinationSyncMode: "append_dedup",
  cursorField: ["at"],
  ...more,
});

const apply = (
  policy: SchemaChangePolicy,
  agreed: readonly AgreedStream[],
  discovered: readonly CatalogStream[],
  known: readonly CatalogStream[] = agreed.map((one) => one.stream),
) =>
  applySchemaChanges({
    policy,
    agreed,
    known: new Set(known.map(identityOf)),
    discovered,
    destinationModes: modes,
  });

const columnsOf = (one: AgreedStream | undefined) =>
  Object.keys((one?.stream.json_schema.properties ?? {}) as object);
const orders = agree(stream("orders"));

describe("a source that is as it was agreed", () => {
  test.each(schemaChangePolicies)("is synced as it was agreed, with %s", (policy) => {
    const again = structuredClone(orders.stream);
    const result = apply(
      policy,
      [orders],
      [again, stream("other")],
      [orders.stream, stream("other")],
    );
    expect(result).toMatchObject({ changes: [], isPaused: false, failures: [] });
    expect(result.streams).toEqual([orders]);
  });

  test("says the same in other words, or may have no value now: that is no change", () => {
    const described = stream("orders", { at: { description: "When", type: "string" } });
    expect(apply("pause", [orders], [described]).changes).toEqual([]);
  });

  test.each(schemaChangePolicies)("has nothing to be saved, with %s", (policy) => {
    const input = {
      policy,
      agreed: [orders],
      known: new Set([identityOf(orders.stream)]),
      discovered: [orders.stream],
    };
    const result = applySchemaChanges({ ...input, destinationModes: modes });
    expect([result.agreed, result.known]).toEqual([input.agreed, input.known]);
    expect(result.agreed).toBe(input.agreed);
    expect(result.known).toBe(input.known);
  });
});

describe("a new column", () => {
  const wider = stream("orders", { note: text });
  const changes = [{ stream: { name: "orders" }, type: "column_added", column: "note" }];

  test("is left by ignore, also where the connector has a fixed catalog", () => {
    const result = apply("ignore", [orders], [wider]);
    expect(result.changes).toEqual(changes);
    expect(columnsOf(result.streams[0])).toEqual(["id", "at"]);
    expect(result.streams[0]?.selectedFields).toEqual(["id", "at"]);
    expect(result.agreed).toEqual([orders]);
  });

  test.each(["propagate_columns", "propagate_fully"] as const)("is taken by %s", (policy) => {
    const result = apply(policy, [orders], [wider]);
    expect(result.changes).toEqual(changes);
    expect(columnsOf(result.streams[0])).toContain("note");
    expect(result.agreed).toEqual(result.streams);
  });

  test("is not added to columns that the user has chosen by name", () => {
    const result = apply("propagate_columns", [{ ...orders, selectedFields: ["at"] }], [wider]);
    expect(result.streams[0]?.selectedFields).toEqual(["at"]);
  });

  test("pauses with pause; who resumes has accepted it", () => {
    const result = apply("pause", [orders], [wider]);
    expect(result).toMatchObject({ isPaused: true, streams: [], changes, failures: [] });
    const resumed = apply("pause", result.agreed, [wider], [wider]);
    expect(resumed).toMatchObject({ isPaused: false, changes: [] });
    expect(columnsOf(resumed.streams[0])).toContain("note");
  });
});

describe("a column that has gone", () => {
  const before = agree(stream("orders", { note: text }), { selectedFields: ["id", "note"] });

  test.each([
    "ignore",
    "propagate_columns",
    "propagate_fully",
  ] as const)("is read no more with %s", (policy) => {
    const result = apply(policy, [before], [orders.stream]);
    expect(result.changes).toEqual([
      { stream: { name: "orders" }, type: "column_removed", column: "note" },
    ]);
    expect(result.failures).toEqual([]);
    expect(result.streams[0]?.selectedFields).toEqual(["id"]);
    expect(columnsOf(result.streams[0])).not.toContain("note");
  });

  test("is taken again by ignore when it comes back", () => {
    const { agreed } = apply("ignore", [before], [orders.stream]);
    const again = apply("ignore", agreed, [before.stream]);
    expect(again.changes).toEqual([]);
    expect(again.streams).toEqual([before]);
  });

  test.each([
    ["cursor", "at", "the cursor_field is not one of its columns"],
    ["key", "id", "a part of the primary_key is not one of its columns"],
  ])("fails the stream when it was its %s, and no other", (_, column, problem) => {
    const other = agree(stream("other"));
    const properties = Object.fromEntries(
      Object.entries({ id: { type: "integer" }, at: text }).filter(([name]) => name !== column),
    );
    const without = {
      ...orders.stream,
      json_schema: { type: "object", properties },
      source_defined_primary_key: [],
    };
    for (const policy of ["ignore", "propagate_columns", "propagate_fully"] as const) {
      const result = apply(policy, [orders, other], [without, other.stream]);
      expect(result.streams).toEqual([other]);
      expect(result.failures).toMatchObject([
        {
          stream: { name: "orders" },
          error: { code: "SYNC_MODE_UNSUPPORTED", details: { stream: "orders", problem } },
        },
      ]);
    }
  });
});

test.each([
  "ignore",
  "propagate_columns",
  "propagate_fully",
] as const)("a changed type is followed with %s: no value is lost", (policy) => {
  const longer = stream("orders", { at: { type: "string", format: "date-time" } });
  const result = apply(policy, [orders], [longer]);
  expect(result.changes).toEqual([
    { stream: { name: "orders" }, type: "column_type_changed", column: "at" },
  ]);
  expect(result.streams[0]?.stream.json_schema).toEqual(longer.json_schema);
});

describe("another key or cursor of the source's own", () => {
  const moved = stream(
    "orders",
    { region: text },
    { source_defined_primary_key: [["region"], ["id"]] },
  );

  test.each([
    "ignore",
    "propagate_columns",
  ] as const)("is followed from the beginning, once, with %s", (policy) => {
    const result = apply(policy, [agree(stream("orders", { region: text }))], [moved]);
    expect(result.changes).toEqual([{ stream: { name: "orders" }, type: "key_changed" }]);
    expect(result.streams).toMatchObject([{ primaryKey: [["region"], ["id"]], isRestart: true }]);
    const next = apply(
      policy,
      result.agreed.map((one) => ({ ...one, isRestart: false })),
      [moved],
    );
    expect(next.streams).toMatchObject([{ isRestart: false }]);
    expect(next.changes).toEqual([]);
  });

  test("may be a column that is new", () => {
    const result = apply("ignore", [orders], [moved]);
    expect(columnsOf(result.streams[0])).toContain("region");
  });

  test("is a cursor", () => {
    const own = stream("orders", {}, { source_defined_cursor: true, default_cursor_field: ["id"] });
    const result = apply("propagate_columns", [orders], [own]);
    expect(result.streams).toMatchObject([{ cursorField: ["id"], isRestart: true }]);
  });
});

describe("a stream that has gone", () => {
  const other = agree(stream("other"));

  test.each([
    "ignore",
    "propagate_columns",
  ] as const)("fails, and the others go on, with %s", (policy) => {
    const result = apply(policy, [orders, other], [other.stream]);
    expect(result.streams).toEqual([other]);
    expect(result.agreed).toHaveLength(2);
    expect(result.failures).toMatchObject([
      { stream: { name: "orders" }, error: { code: "STREAM_UNKNOWN" } },
    ]);
  });

  test("is dropped by propagate_fully", () => {
    const result = apply("propagate_fully", [orders, other], [other.stream]);
    expect(result).toMatchObject({ failures: [], changes: [{ type: "stream_removed" }] });
    expect([result.streams, result.agreed]).toEqual([[other], [other]]);
  });

  test("is not dropped when nothing would be left", () => {
    const result = apply("propagate_fully", [orders, other], []);
    expect(result.agreed).toEqual([orders, other]);
    expect(result.failures).toHaveLength(2);
  });

  test("pauses with pause", () =>
    expect(apply("pause", [orders, other], [other.stream]).isPaused).toBe(true));
});

describe("a new stream", () => {
  const discovered = [orders.stream, stream("other"), stream("third")];
  const known = [orders.stream, stream("other")];

  test.each(["ignore", "propagate_columns"] as const)("is left with %s", (policy) => {
    const result = apply(policy, [orders], discovered, known);
    expect(result.streams).toEqual([orders]);
    expect(result.changes).toEqual([{ stream: { name: "third" }, type: "stream_added" }]);
  });

  test("is taken by propagate_fully, once; those that were not selected stay so", () => {
    const result = apply("propagate_fully", [orders], discovered, known);
    expect(result.streams.map((one) => one.stream.name)).toEqual(["orders", "third"]);
    expect(result.agreed).toEqual(result.streams);
    expect([...result.known]).toContain(identityOf({ name: "third" }));
  });
});

test("the same name in two namespaces is two streams", () => {
  const left = agree(stream("orders", {}, { namespace: "a" }));
  const right = stream("orders", {}, { namespace: "b" });
  expect(apply("ignore", [left], [right]).failures).toMatchObject([
    { stream: { name: "orders", namespace: "a" } },
  ]);
});
