import { expect, test } from "vitest";
import { inlined, pathOf, specObjects, specProperties, subschemas } from "./properties.ts";

const spec = {
  type: "object",
  required: ["login"],
  properties: {
    login: {
      type: "object",
      oneOf: [
        {
          required: ["kind", "token"],
          properties: { kind: { const: "token" }, token: { type: "string" } },
        },
        {
          required: ["kind", "usr"],
          properties: { kind: { const: "user" }, user: { type: "string" } },
        },
      ],
    },
    accounts: {
      type: "array",
      items: { type: "object", required: ["id"], properties: { id: { type: "string" } } },
    },
    region: { $ref: "#/$defs/Region", title: "Where" },
  },
  $defs: { Region: { type: "string", title: "Region", enum: ["eu", "us"] } },
};

test("properties of alternatives and of lists are found, the constants that tell alternatives apart are not", () => {
  const found = specProperties(spec).map(({ path }) => path);
  expect(found).toEqual([
    "login",
    "login.token",
    "login.user",
    "accounts",
    "accounts[].id",
    "region",
  ]);
});

test("each object says what it requires and what it knows, so that a misspelt name shows", () => {
  const unknown = specObjects(spec).flatMap(({ path, required, known }) =>
    required.filter((name) => !known.includes(name)).map((name) => `${path}: ${name}`),
  );
  expect(unknown).toEqual(["login: usr"]);
});

test("an alternative may require what stands beside it, and nothing else", () => {
  const either = {
    type: "object",
    properties: { key: {}, user: {} },
    oneOf: [{ required: ["key"] }, { required: ["usr"] }],
  };
  const unknown = specObjects(either).flatMap(({ required, known }) =>
    required.filter((name) => !known.includes(name)),
  );
  expect(unknown).toEqual(["usr"]);
});

test("references to own parts are replaced, what stands beside them wins, and circles end", () => {
  const region = inlined(spec).properties;
  expect(region).toMatchObject({ region: { type: "string", title: "Where", enum: ["eu", "us"] } });
  const circle = {
    properties: { tree: { $ref: "#/$defs/Tree" } },
    $defs: { Tree: { properties: { child: { $ref: "#/$defs/Tree" } } } },
  };
  expect(specProperties(inlined(circle)).length).toBeLessThan(20);
});

test("every schema has a pointer, and the pointer a name for people", () => {
  const pointers = subschemas(spec).map(({ pointer }) => pointer);
  expect(pointers).toContain("/properties/login/oneOf/1/properties/user");
  expect(pathOf("/properties/login/oneOf/1/properties/user")).toBe("login.user");
  expect(pathOf("")).toBe("the spec");
});
