import { expect, test } from "vitest";
import type { CatalogStream } from "../contract/catalog.ts";
import type { JsonObject } from "../contract/json.ts";
import { parseCondition } from "./conditions.ts";
import {
  addColumns,
  addCondition,
  allOfThem,
  type ChosenColumns,
  type ChosenConditions,
  joinParts,
  takeChoices,
} from "./parts.ts";
import { describeSelection, selectStreams } from "./selection.ts";
import { UsageError } from "./usage.ts";

const table = (name: string, changes: Partial<CatalogStream> = {}): CatalogStream => ({
  name,
  namespace: "public",
  json_schema: { type: "object", properties: { id: {}, email: {}, status: {}, at: {} } },
  supported_sync_modes: ["full_refresh", "incremental"],
  source_defined_cursor: false,
  default_cursor_field: [],
  source_defined_primary_key: [["id"]],
  is_resumable: true,
  supports_row_filter: true,
  ...changes,
});
const phone = { type: "object", properties: { id: {}, email: {}, phone: {}, status: {} } };
const catalog = [
  table("orders"),
  table("people", { json_schema: phone }),
  table("plain", { supports_row_filter: false }),
];

const columnsOf = (flag: "columns" | "hash", texts: readonly string[]) =>
  texts.reduce((before: ChosenColumns, text) => addColumns(flag)(text, before), new Map());

interface Flags {
  readonly columns?: string[];
  readonly hash?: string[];
  readonly where?: string[];
  readonly cursors?: Record<string, string>;
  readonly config?: JsonObject;
}

function select({ columns = [], hash = [], where = [], cursors = {}, config = {} }: Flags) {
  const flags = {
    columns: columnsOf("columns", columns),
    hash: columnsOf("hash", hash),
    where: where.reduce((before: ChosenConditions, text) => addCondition(text, before), new Map()),
  };
  const parts = joinParts(takeChoices(config).parts, flags);
  return selectStreams(catalog, undefined, undefined, new Map(Object.entries(cursors)), parts);
}

const chosen = (flags: Flags) =>
  Object.fromEntries(
    select(flags).map(({ stream, selected_fields, hashed_fields, row_filter }) => [
      stream.name,
      { selected_fields, hashed_fields, row_filter },
    ]),
  );

test("columns, hashes and conditions are each stream's own, from flags and from the configuration", () => {
  const config = {
    columns: { orders: ["id", "at"], people: "email" },
    hash: { people: ["email"] },
    where: { "public.people": ["status = new", { column: "id", operator: "in", value: [1, 2] }] },
  };
  expect(chosen({ config, columns: ["public.orders=id, status", "orders=at"] })).toMatchObject({
    orders: { selected_fields: ["id", "status"], hashed_fields: undefined },
    people: {
      selected_fields: ["email"],
      hashed_fields: ["email"],
      row_filter: [
        { column: "status", operator: "=", value: "new" },
        { column: "id", operator: "in", value: [1, 2] },
      ],
    },
    plain: { selected_fields: undefined, row_filter: undefined },
  });
});

test("a hash may be for every stream that has the column", () => {
  const lines = describeSelection(select({ hash: ["*=email,phone", "people=status"] }));
  expect(lines).toContain(
    "Hashed: public.orders (email), public.people (email,phone,status), public.plain (email)",
  );
});

test("what is hashed under either of a stream's names is hashed", () => {
  const config = { hash: { "public.orders": ["status"] } };
  const { orders } = chosen({ config, hash: ["orders=email"] });
  expect(orders?.hashed_fields?.toSorted()).toEqual(["email", "status"]);
});

test.each<[Flags, RegExp]>([
  [{ columns: ["orders"] }, /STREAM=COLUMN/],
  [{ columns: ["*=id"] }, /STREAM=COLUMN/],
  [{ columns: ["orders=id,,at"] }, /STREAM=COLUMN/],
  [{ columns: ["orders=emial"] }, /no column "emial".*email/],
  [{ columns: ["order=id"] }, /columns of "order".*no stream/],
  [{ hash: ["orders=emial"] }, /no column "emial"/],
  [{ hash: ["*=emial"] }, /no stream has a column "emial".*email/],
  [{ hash: ["orders=email.domain"] }, /whole columns/],
  [{ hash: ["orders=at"], cursors: { orders: "at" } }, /at is the cursor/],
  [{ hash: ["orders=id"] }, /primary key/],
  [{ where: ["orders=status"] }, /COLUMN OPERATOR VALUE/],
  [{ where: ["orders=status ~ a"] }, /COLUMN OPERATOR VALUE/],
  [{ where: ["orders=state = a"] }, /no column "state"/],
  [{ where: ["plain=status = a"] }, /no row filter/],
  [{ config: { columns: ["id"] } }, /config file: columns/],
  [{ config: { hash: { orders: [1] } } }, /config file: hash/],
  [
    { config: { where: { orders: { column: "id", operator: "like", value: "a" } } } },
    /config file: where/,
  ],
])("what cannot be is refused: %j", (flags, words) => {
  expect(() => select(flags)).toThrow(UsageError);
  expect(() => select(flags)).toThrow(words);
});

test.each([
  ["status = paid", { column: "status", operator: "=", value: "paid" }],
  ["status='it''s'", { column: "status", operator: "=", value: "it's" }],
  ["total>=1.5", { column: "total", operator: ">=", value: "1.5" }],
  ["total <> 3", { column: "total", operator: "!=", value: "3" }],
  ["at < 2026-01-01T00:00:00Z", { column: "at", operator: "<", value: "2026-01-01T00:00:00Z" }],
  ["status IN (new, 'a,b')", { column: "status", operator: "in", value: ["new", "a,b"] }],
  ["status not  in new", { column: "status", operator: "not in", value: ["new"] }],
  ["deleted_at is null", { column: "deleted_at", operator: "is null" }],
  ["deleted_at IS NOT NULL", { column: "deleted_at", operator: "is not null" }],
  ['"logged in" = true', { column: "logged in", operator: "=", value: "true" }],
  ["note = ''", { column: "note", operator: "=", value: "" }],
  ["deleted_at is null now", undefined],
  ["status =", undefined],
  ["= 1", undefined],
  ["origin", undefined],
])("the condition %s", (text, condition) => {
  expect(parseCondition(text)).toEqual(condition);
});

test("without choices a stream is read as it is", () => {
  expect(selectStreams(catalog, "orders", undefined, new Map(), allOfThem)[0]).toEqual({
    stream: catalog[0],
    sync_mode: "full_refresh",
  });
});
