import type { JsonObject } from "svc-connectors/host";
import { expect, test } from "vitest";
import {
  openSettingsOf,
  secretSettingsOf,
  withObjects,
  withoutSecrets,
  withSecrets,
} from "./secret-settings.ts";

const text = { type: "string" };
const secret = { ...text, airbyte_secret: true };
const object = (properties: JsonObject, required: string[] = []): JsonObject => ({
  ...{ type: "object", properties, required },
});

const spec = object(
  {
    api_token: secret,
    region: text,
    login: object({ user: text, password: secret }, ["user", "password"]),
    credentials: {
      oneOf: [
        object({ kind: { const: "a" }, key: secret }, ["kind", "key"]),
        object({ kind: { const: "b" }, key: secret, token_id: text }, ["kind"]),
      ],
    },
  },
  ["api_token", "login", "credentials"],
);

test("each secret has one name, and is needed where every configuration has it", () => {
  expect([...secretSettingsOf(spec)].map(([name, { isNeeded }]) => [name, isNeeded])).toEqual([
    ["api_token", true],
    ["login.password", true],
    ["credentials.key", false],
  ]);
  expect(openSettingsOf(spec)).toEqual([
    ...["region", "login", "login.user", "credentials"],
    ...["credentials.kind", "credentials.token_id"],
  ]);
});

test("secrets take their places, and only there", () => {
  const settings = { region: "eu", login: { user: "u" } };
  expect(withSecrets(settings, { api_token: "t", "login.password": "p" }, spec)).toEqual({
    ...{ region: "eu", api_token: "t" },
    login: { user: "u", password: "p" },
  });
  expect(settings).toEqual({ region: "eu", login: { user: "u" } });
  // The name of a setting may have a dot itself.
  expect(withSecrets({}, { "a.b": "x" }, object({ "a.b": secret }))).toEqual({ "a.b": "x" });
  const hostile = JSON.parse(
    '{"properties":{"__proto__":{"properties":{"x":{"writeOnly":true}}}}}',
  );
  const made = withSecrets({}, { "__proto__.x": "y" }, hostile);
  expect(Object.keys(made)).toEqual(["__proto__"]);
  expect(({} as { x?: string }).x).toBeUndefined();
});

test("a source is held to the rest of the spec", () => {
  const rest = withoutSecrets(spec) as { properties: Record<string, JsonObject> };
  expect(rest).toMatchObject({ required: ["login", "credentials"] });
  expect(rest.properties).not.toHaveProperty("api_token");
  expect(rest.properties.login).toEqual(object({ user: text }, ["user"]));
  expect(rest.properties.credentials).toEqual({
    oneOf: [
      object({ kind: { const: "a" } }, ["kind"]),
      object({ kind: { const: "b" }, token_id: text }, ["kind"]),
    ],
  });
  // Nothing tells these two apart but their secrets.
  const alike = object({ either: { oneOf: [object({ a: secret }), object({ b: secret })] } });
  expect(withoutSecrets(alike)).toEqual(
    object({ either: { allOf: [{ anyOf: [object({}), object({})] }] } }),
  );
  expect(withObjects({ region: "eu" }, ["api_token", "login.password"], spec)).toEqual({
    ...{ region: "eu", login: {} },
  });
});
