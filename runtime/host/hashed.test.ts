import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { createMemorySink } from "../../tests/memory-sink.ts";
import type { ConfiguredStream } from "../contract/catalog.ts";
import { createHost } from "./create-host.ts";

const mixed = {
  name: "mixed",
  url: new URL("../../fixtures/broken/worker/mixed.ts", import.meta.url).href,
};
const config = { api_token: "a-token-of-some-length" };
const hashKey = Buffer.from("a key of a workspace, 32 bytes..");

async function readGood(choices: Partial<ConfiguredStream>, key?: Uint8Array) {
  await using host = createHost({ sandbox: "inline" });
  const stream = (await host.discover(mixed, config)).find(({ name }) => name === "good");
  if (!stream) throw new Error("no stream");
  const opened: ConfiguredStream[] = [];
  const sink = createMemorySink("airbyte");
  const catalog = { streams: [{ stream, sync_mode: "full_refresh" as const, ...choices }] };
  const request = { config, catalog, hashKey: key };
  const summary = await host.read(mixed, request, {
    ...sink,
    open: async (streams) => void opened.push(...streams),
  });
  return { summary, opened, text: sink.text(), state: sink.state("good") };
}

test("a hashed field leaves as its hash alone, and the sink is told that it is a text", async () => {
  const { summary, opened, text } = await readGood({ hashed_fields: ["text"] }, hashKey);
  expect(summary.status).toBe("succeeded");
  for (const value of ["one", "two"]) {
    expect(text).not.toContain(`"${value}"`);
    expect(text).toContain(createHmac("sha256", hashKey).update(value).digest("hex"));
  }
  expect(opened[0]?.stream.json_schema.properties).toMatchObject({ text: { type: "string" } });
});

test("without a key nothing is read, rather than in plain", async () => {
  await expect(readGood({ hashed_fields: ["text"] })).rejects.toMatchObject({
    code: "CATALOG_INVALID",
    details: { path: "hashed_fields of good" },
  });
});

test("a filter is refused where the source would not keep to it", async () => {
  const row_filter = [{ column: "id", operator: "=", value: 1 }] as const;
  await expect(readGood({ row_filter })).rejects.toMatchObject({ code: "CATALOG_INVALID" });
});
