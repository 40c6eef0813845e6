import { expect, test } from "vitest";
import type { CatalogStream } from "../contract/catalog.ts";
import type { JsonObject } from "../contract/json.ts";
import { fromProtocolStream, toProtocolStream } from "./airbyte-catalog.ts";

const stream: CatalogStream = {
  name: "orders",
  json_schema: {
    type: "object",
    properties: {
      amount: { type: ["number", "null"], airbyte_type: "big_number", precision: 20, scale: 4 },
      amounts: { type: "array", items: { type: "number", airbyte_type: "big_number" } },
      airbyte_type: { type: "integer", airbyte_type: "big_integer" },
      at: { type: "string", format: "date-time", airbyte_type: "timestamp_with_timezone" },
    },
  },
  supported_sync_modes: ["full_refresh"],
  source_defined_cursor: false,
  default_cursor_field: [],
  proposed_cursors: [{ field: "at", finds: "changes", is_indexed: false }],
  source_defined_primary_key: [],
  is_resumable: false,
};

test("clients see numbers, and only types of the protocol", () => {
  const { json_schema, ...rest } = toProtocolStream(stream);
  expect((json_schema as JsonObject).properties).toEqual({
    amount: { type: ["number", "null"], svc_type: "big_number", precision: 20, scale: 4 },
    amounts: { type: "array", items: { type: "number", svc_type: "big_number" } },
    airbyte_type: { type: "integer", svc_type: "big_integer" },
    at: { type: "string", format: "date-time", airbyte_type: "timestamp_with_timezone" },
  });
  expect(rest).not.toHaveProperty("proposed_cursors");
});

test("what a client gives back has its digits again", () => {
  const { proposed_cursors: _, ...same } = stream;
  expect(fromProtocolStream(toProtocolStream(stream))).toEqual(same);
});
