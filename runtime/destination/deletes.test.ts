import { expect, test } from "vitest";
import type { ConfiguredStream } from "../contract/catalog.ts";
import { hashProblem } from "../spec/hashed-fields.ts";
import { deletesProblem, keysOnly, reportsDeletes } from "./deletes.ts";

test("keys that are hashed are compared as hashes, and can be read so", () => {
  const configured: ConfiguredStream = {
    stream: {
      name: "people",
      json_schema: { type: "object", properties: { email: {}, name: {}, at: {} } },
      supported_sync_modes: ["full_refresh", "incremental"],
      source_defined_cursor: false,
      default_cursor_field: [],
      source_defined_primary_key: [["email"]],
      is_resumable: true,
    },
    sync_mode: "incremental",
    cursor_field: ["at"],
    destination_sync_mode: "append_dedup",
    hashed_fields: ["name", "email"],
  };
  const keys = keysOnly(configured);
  expect(keys).toMatchObject({ selected_fields: ["email"], hashed_fields: ["email"] });
  expect(hashProblem(keys, "email")).toBeUndefined();
});

test("nobody looks for deleted rows that the source tells itself, where rows are merged by key", () => {
  const reporting: ConfiguredStream = {
    stream: {
      name: "orders",
      json_schema: { type: "object", properties: { id: {}, at: {}, _ab_cdc_deleted_at: {} } },
      supported_sync_modes: ["full_refresh", "incremental"],
      source_defined_cursor: true,
      default_cursor_field: ["at"],
      source_defined_primary_key: [["id"]],
      is_resumable: true,
    },
    sync_mode: "incremental",
    destination_sync_mode: "append_dedup",
  };
  expect(reportsDeletes(reporting)).toBe(true);
  expect(deletesProblem(reporting)).toMatch(/tells deleted rows itself/);
  expect(reportsDeletes({ ...reporting, destination_sync_mode: "append" })).toBe(false);
  const stream = { ...reporting.stream, json_schema: { properties: { id: {}, at: {} } } };
  expect(reportsDeletes({ ...reporting, stream })).toBe(false);
});
