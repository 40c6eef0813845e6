import { describe, expect, test } from "vitest";
import type { CatalogStream } from "../contract/catalog.ts";
import { addCursor, type ChosenCursors, takeCursors } from "./cursors.ts";
import { describeSelection, selectStreams } from "./selection.ts";
import { UsageError } from "./usage.ts";

function table(name: string, changes: Partial<CatalogStream> = {}): CatalogStream {
  return {
    name,
    namespace: "public",
    json_schema: { type: "object", properties: { id: {}, updated_at: {} } },
    supported_sync_modes: ["full_refresh", "incremental"],
    source_defined_cursor: false,
    default_cursor_field: [],
    source_defined_primary_key: [["id"]],
    is_resumable: true,
    ...changes,
  };
}

const proposed = table("orders", {
  proposed_cursors: [{ field: "updated_at", finds: "changes", is_indexed: true }],
});
const plain = table("customers");
const whole = table("totals", { supported_sync_modes: ["full_refresh"] });
const own = table("events", {
  source_defined_cursor: true,
  default_cursor_field: ["id"],
});
const catalog = [proposed, plain, whole, own];

const choose = (...texts: string[]): ChosenCursors =>
  texts.reduce((before: ChosenCursors, text) => addCursor(text, before), new Map());

const modes = (
  ...[names, mode, cursors]: [string?, ("incremental" | "full_refresh")?, ChosenCursors?]
) =>
  Object.fromEntries(
    selectStreams(catalog, names, mode, cursors).map(({ stream, cursor_field }) => [
      stream.name,
      cursor_field?.[0],
    ]),
  );

const refusal = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  throw new Error("nothing was refused");
};

describe("a stream is read incrementally", () => {
  test("by the column that was chosen, under its short or its full name", () => {
    const cursors = choose("orders=updated_at", "public.customers=id");
    expect(modes(undefined, undefined, cursors)).toEqual({
      orders: "updated_at",
      customers: "id",
      totals: undefined,
      events: "id",
    });
  });

  test("by a column for all that have it, but not where one was chosen for the stream", () => {
    expect(modes(undefined, undefined, choose("*=updated_at", "customers=id"))).toEqual({
      orders: "updated_at",
      customers: "id",
      totals: undefined,
      events: "id",
    });
  });

  test("never by a proposal alone", () => {
    expect(modes()).toMatchObject({ orders: undefined });
    expect(modes(undefined, "incremental")).toMatchObject({ orders: undefined, events: "id" });
  });

  test("and not at all where everything is to be read again", () => {
    expect(modes(undefined, "full_refresh", choose("orders=updated_at"))).toMatchObject({
      orders: undefined,
      events: undefined,
    });
  });
});

describe("a choice that cannot be is refused with what can", () => {
  test.each([
    ["orders=updatedat", 'public.orders has no column "updatedat" (did you mean "updated_at"?)'],
    ["oders=id", 'the cursor of "oders" is for no stream that there is (did you mean "orders"?)'],
    ["totals=id", "public.totals can only be read whole, without a cursor"],
    ["events=updated_at", "public.events has a cursor of its own, and none can be chosen"],
  ])("--cursor %s", (text, message) => {
    expect(refusal(() => modes(undefined, undefined, choose(text)))).toBe(message);
  });

  test("--incremental for a named stream without a cursor names the flag and the proposal", () => {
    expect(refusal(() => modes("orders", "incremental"))).toBe(
      "public.orders has no cursor of its own; choose a column: --cursor public.orders=updated_at",
    );
    expect(refusal(() => modes("customers", "incremental"))).toContain(
      "--cursor public.customers=COLUMN",
    );
  });

  test("--incremental that no stream can follow is never a full refresh in silence", () => {
    const some = (...streams: CatalogStream[]) =>
      refusal(() => selectStreams(streams, undefined, "incremental"));
    expect(some(proposed, plain)).toContain("--cursor public.orders=updated_at");
    expect(some(plain)).toContain("no stream can be read incrementally");
  });

  test("a cursor whose stream is not clear", () => {
    const twice = [plain, table("customers", { namespace: "old" })];
    expect(
      refusal(() => selectStreams(twice, undefined, undefined, choose("customers=id"))),
    ).toContain("add the namespace");
  });

  test("a flag of another form, or one column too many", () => {
    for (const text of ["orders", "=id", "orders="])
      expect(refusal(() => choose(text))).toContain("STREAM=COLUMN");
    expect(refusal(() => choose("orders=id", "orders=updated_at"))).toContain("twice");
  });
});

test("cursor: in a configuration is no setting of the connector", () => {
  const { config, cursors } = takeCursors({ host: "h", cursor: { "public.orders": "id" } });
  expect(config).toEqual({ host: "h" });
  expect([...cursors]).toEqual([["public.orders", "id"]]);
  for (const cursor of ["id", ["id"], { orders: 5 }, null, { orders: "" }])
    expect(refusal(() => takeCursors({ cursor }))).toContain("cursor must name a column");
});

test("what goes how is said, with a way to read less", () => {
  const streams = selectStreams(catalog, undefined, undefined, choose("customers=id"));
  expect(describeSelection(streams)).toEqual([
    "Incremental: public.customers by id, public.events",
    "Full refresh: public.orders, public.totals",
    "Only what changed can be read with --cursor public.orders=updated_at; discover proposes columns.",
  ]);
  const many = Array.from({ length: 30 }, (_, index) => table(`t${index}`));
  expect(describeSelection(selectStreams(many, undefined, undefined))[0]).toMatch(
    /t7 and 22 more$/,
  );
});
