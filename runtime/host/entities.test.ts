import { expect, test } from "vitest";
import type { JsonObject } from "../contract/json.ts";
import { createHost } from "./create-host.ts";

const token = "s3cr3t-token-0123456789abcdef";
const broken = (name: string) => ({
  name,
  url: new URL(`../../fixtures/broken/worker/${name}.ts`, import.meta.url).href,
});

async function ask(input: JsonObject, connector = broken("bad-entities")) {
  await using host = createHost({ sandbox: "inline" });
  return await host.entities(connector, { api_token: token }, input);
}

const code = (expected: string) => expect.objectContaining({ code: expected });

test("entities are what the connector lists for the choices so far, without secrets", async () => {
  expect(await ask({ brand_ids: ["a"] })).toEqual({ echo: { brand_ids: ["a"] } });
  const encoded = Buffer.from(token).toString("base64");
  expect(await ask({ plain: token, [token]: 1, list: [`x${encoded}x`] })).toEqual({
    echo: { plain: "[redacted]", "[redacted]": 1, list: ["[redacted]"] },
  });
});

test.each([
  "list",
  "nothing",
])("entities that are a %s are an error of the connector", async (as) => {
  await expect(ask({ as })).rejects.toEqual(code("CONNECTOR_PROTOCOL"));
});

test("a connector that fails or changes its input leaks nothing of it", async () => {
  for (const as of ["failure", "change"]) {
    const error = await ask({ as, text: token }).catch((caught: unknown) => caught);
    expect(error).toEqual(code("CONNECTOR_FAILED"));
    expect(JSON.stringify(error) + String(error)).not.toContain(token);
  }
});

test("a connector without entities says so", async () => {
  await expect(ask({}, broken("chatty"))).rejects.toEqual(code("ENTITIES_UNSUPPORTED"));
});

test("the manifest tells whether there are any", async () => {
  await using host = createHost({ sandbox: "inline" });
  expect((await host.spec(broken("bad-entities"))).hasEntities).toBe(true);
  expect((await host.spec(broken("chatty"))).hasEntities).toBeUndefined();
});
