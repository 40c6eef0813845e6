import { Type } from "typebox";
import { describe, expect, test } from "vitest";
import { Nullable, StrictObject } from "../contract/schemas.ts";
import { createRename } from "./other-names.ts";

const schema = StrictObject({
  warehouseId: Type.String(),
  status: Type.Optional(Type.String()),
  mappings: Type.Array(StrictObject({ isPrimaryIdentifier: Type.Boolean() })),
  schedule: Nullable(StrictObject({ time_unit: Type.String() })),
  configuration: Type.Object({}, { additionalProperties: true }),
});
const rename = createRename(schema, { destinationId: "warehouseId" });
const renamed = <T extends object>(value: T): object => {
  rename(value);
  return value;
};

describe("other names of fields", () => {
  test.each([
    [{ warehouseId: "a" }],
    [{ warehouse_id: "a" }],
    [{ destinationId: "a" }],
    [{ destination_id: "a" }],
  ])("%j is taken for its own name", (given) => {
    expect(renamed(given)).toEqual({ warehouseId: "a" });
  });

  test("those of lists and of what may be null are taken too", () => {
    const given = { mappings: [{ is_primary_identifier: true }], schedule: { time_unit: "days" } };
    expect(renamed(given)).toEqual({
      mappings: [{ isPrimaryIdentifier: true }],
      schedule: { time_unit: "days" },
    });
  });

  test("what a connector names stays, and so does what nobody knows", () => {
    const given = { configuration: { warehouse_id: 1 }, colour: "red", mappings: [null, 3] };
    expect(renamed(structuredClone(given))).toEqual(given);
  });

  test.each([
    [{ warehouseId: "a", destination_id: "a" }, "destination_id"],
    [{ destinationId: "a", warehouse_id: "b" }, "destinationId"],
    [
      { mappings: [{}, { isPrimaryIdentifier: true, is_primary_identifier: true }] },
      "mappings.1.is_primary_identifier",
    ],
  ])("two names of one field are refused: %j", (given, path) => {
    expect(() => rename(structuredClone(given))).toThrow(
      expect.objectContaining({
        reason: "duplicate_field",
        details: { errors: [expect.objectContaining({ path })] },
      }),
    );
  });

  test.each([[null], [undefined], ["text"], [[]], [7]])("%j is left to the schema", (value) => {
    expect(() => rename(value)).not.toThrow();
  });
});
