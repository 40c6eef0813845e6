import { expect, test } from "vitest";
import { http, oauth2 } from "../contract/egress.ts";
import type { JsonObject, JsonValue } from "../contract/json.ts";
import { parseManifest } from "./manifest.ts";

const text = { type: "string" };
const secret = { type: "string", "x-svc-secret": true };

function manifest(
  region: JsonObject,
  hosts: { readonly base: string; readonly token: string },
): JsonValue {
  const auth = oauth2({
    tokenUrl: hosts.token,
    clientId: "id",
    clientSecret: "secret",
    refreshToken: "refresh",
  });
  return {
    id: "conn_x",
    version: "1.0.0",
    title: "X",
    spec: { type: "object", properties: { region, id: text, secret, refresh: secret } },
    egress: http({ baseUrl: hosts.base, auth }) as unknown as JsonValue,
  };
}

const ends = "https://api.example.{region}/v2";
const begins = "https://{region}.example.com/v2";

test("a setting that ends a host name must be one of a fixed list, whoever uses it", () => {
  const choice = { type: "string", enum: ["eu", "com.au"] };
  expect(parseManifest(manifest(choice, { base: ends, token: ends }))).toMatchObject({
    id: "conn_x",
  });
  expect(parseManifest(manifest(text, { base: begins, token: begins }))).toMatchObject({
    id: "conn_x",
  });
  for (const hosts of [
    { base: ends, token: begins },
    { base: begins, token: ends },
    { base: "https://a.{region}", token: begins },
  ]) {
    expect(() => parseManifest(manifest(text, hosts))).toThrow(
      expect.objectContaining({ code: "CONNECTOR_INVALID" }),
    );
  }
});
