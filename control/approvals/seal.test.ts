import { expect, test } from "vitest";
import { putSecrets, takeSecrets } from "./seal.ts";

const canary = "kZ8vQm2LxW5rT9";

test("declared fields are taken out as a whole, and come back as they were", () => {
  const body = {
    name: "Bank",
    secrets: { api_key: canary, pin: 1234, unset: null },
    tags: ["a", "b"],
  };
  const sealed = takeSecrets(body, ["secrets"]);
  expect(sealed.body).toEqual({ name: "Bank", secrets: "[redacted]", tags: ["a", "b"] });
  expect(sealed.values).toEqual([body.secrets]);
  expect(putSecrets(sealed.body, sealed.places, sealed.values)).toEqual(body);
});

test("what is named like a secret is taken out wherever it stands", () => {
  const sealed = takeSecrets(
    { configuration: { deep: [{ "x-api-key": canary }] }, credential_handle: "ch_1" },
    [],
  );
  expect(JSON.stringify(sealed.body)).not.toContain(canary);
  expect(sealed.body.credential_handle).toBe("ch_1");
});

test("a secret that stands in another field as well is taken out there too", () => {
  const encoded = Buffer.from(canary).toString("base64");
  const body = {
    name: `token ${canary}`,
    note: encoded,
    secrets: { token: canary },
    user: "admin",
    password: "admin",
  };
  const sealed = takeSecrets(body, ["secrets"]);
  expect(sealed.body).toMatchObject({ name: "[redacted]", note: "[redacted]", user: "[redacted]" });
  expect(putSecrets(sealed.body, sealed.places, sealed.values)).toEqual(body);
});

test("a secret as a property's name is refused, without being repeated", () => {
  const take = () =>
    takeSecrets({ secrets: { token: canary }, metadata: { [canary]: 1 } }, ["secrets"]);
  expect(take).toThrow(expect.objectContaining({ reason: "secret_not_allowed" }));
  expect(take).not.toThrow(canary);
});

test("a property named __proto__ stays a property", () => {
  const body = JSON.parse('{"configuration":{"__proto__":{"token":"abcdefgh"}}}') as object;
  const sealed = takeSecrets(body, []);
  expect(JSON.stringify(sealed.body)).toBe(
    '{"configuration":{"__proto__":{"token":"[redacted]"}}}',
  );
  expect(JSON.stringify(putSecrets(sealed.body, sealed.places, sealed.values))).toBe(
    JSON.stringify(body),
  );
});
