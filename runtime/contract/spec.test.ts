import { Type } from "typebox";
import { expect, test } from "vitest";
import { secret, withDefault } from "./spec.ts";

test("a setting with a default may be left out, and says what it is then", () => {
  const spec = Type.Object({
    api_token: secret(Type.String()),
    page_size: withDefault(Type.Integer({ title: "Page size", minimum: 1 }), 100),
    schemas: withDefault(Type.Array(Type.String()), ["public"]),
  });
  expect(JSON.parse(JSON.stringify(spec))).toMatchObject({
    required: ["api_token"],
    properties: {
      page_size: { type: "integer", title: "Page size", minimum: 1, default: 100 },
      schemas: { type: "array", items: { type: "string" }, default: ["public"] },
    },
  });
});
