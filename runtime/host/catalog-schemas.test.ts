import { expect, test } from "vitest";
import { createMemorySink } from "../../tests/memory-sink.ts";
import type { CatalogStream } from "../contract/catalog.ts";
import type { JsonSchema } from "../contract/json.ts";
import { createHost } from "./create-host.ts";

const fixture = (name: string) => ({
  name,
  url: new URL(`../../fixtures/broken/worker/${name}.ts`, import.meta.url).href,
});
const config = { api_token: "a-token-of-some-length" };

/** Reads a stream as a file of another tool describes it. */
async function readBare(json_schema: JsonSchema, name = "rows", connector = "discovering") {
  await using host = createHost({ sandbox: "inline" });
  const stream = {
    name,
    json_schema,
    supported_sync_modes: ["full_refresh"],
  } as unknown as CatalogStream;
  const sink = createMemorySink();
  const opened: (readonly [string, unknown])[] = [];
  const summary = await host.read(
    fixture(connector),
    { config, catalog: { streams: [{ stream, sync_mode: "full_refresh" }] } },
    {
      ...sink,
      open: async (streams) =>
        void opened.push(
          ...streams.map(
            (one) =>
              [one.stream.name, Object.keys(one.stream.json_schema.properties ?? {})] as const,
          ),
        ),
    },
  );
  return { summary, opened, rows: sink.rows() };
}

test.each<[string, object]>([
  ["{}", {}],
  ["an object", { type: "object" }],
  ["an object of no properties", { type: "object", properties: {} }],
])("a selection whose schema is %s has the discovered fields", async (_, schema) => {
  const { summary, opened, rows } = await readBare(schema as JsonSchema);
  expect(summary).toMatchObject({ status: "succeeded", recordCount: 1 });
  expect(opened).toEqual([["rows", ["id", "text"]]]);
  expect(rows).toEqual([{ id: 1, text: "a" }]);
});

test("a selection with properties is what it says", async () => {
  const schema = { type: "object", properties: { id: { type: "integer" } } };
  expect((await readBare(schema as JsonSchema)).rows).toEqual([{ id: 1 }]);
});

test("a stream that has no fields is read as it is", async () => {
  expect((await readBare({} as JsonSchema, "nothing")).rows).toEqual([{}]);
});

test("a selection without properties of a stream that is not there is refused, and names it", async () => {
  await expect(readBare({} as JsonSchema, "gone")).rejects.toMatchObject({
    code: "CATALOG_INVALID",
    details: { path: "json_schema of gone" },
  });
});

test("of a source whose streams are declared, its own schema counts", async () => {
  const { rows } = await readBare({} as JsonSchema, "good", "mixed");
  expect(rows.map(({ id }) => id)).toEqual([1, 2]);
});
