import { expect, test } from "vitest";
import { isFollowed } from "../jobs/compare-keys.ts";
import { deletesProblemOf } from "./modes.ts";

const stream = {
  name: "orders",
  json_schema: { type: "object", properties: { id: {}, at: {}, _ab_cdc_deleted_at: {} } },
  supported_sync_modes: ["full_refresh", "incremental"],
  source_defined_cursor: true,
  default_cursor_field: ["at"],
  source_defined_primary_key: [["id"]],
  is_resumable: true,
} as const;

test("what becomes of deleted rows can be chosen for a source that tells them itself, and no keys are compared", () => {
  const agreed = {
    stream,
    syncMode: "incremental",
    destinationSyncMode: "append_dedup",
    primaryKey: [["id"]],
    detectDeletes: "soft",
  } as const;
  expect(deletesProblemOf(agreed as never)).toBeUndefined();
  expect(deletesProblemOf({ ...agreed, destinationSyncMode: "append" } as never)).toMatch(
    /needs append_dedup/,
  );
  const configured = {
    stream,
    sync_mode: "incremental",
    destination_sync_mode: "append_dedup",
    primary_key: [["id"]],
  } as const;
  expect(isFollowed({ configured, table: "orders", detectDeletes: "soft" })).toBe(false);
  const { _ab_cdc_deleted_at: _, ...properties } = stream.json_schema.properties;
  const silent = { ...stream, json_schema: { type: "object", properties } };
  expect(
    isFollowed({
      configured: { ...configured, stream: silent },
      table: "o",
      detectDeletes: "soft",
    }),
  ).toBe(true);
});
