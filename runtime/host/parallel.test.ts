import { expect, test } from "vitest";
import { createMemorySink } from "../../tests/memory-sink.ts";
import type { JsonObject } from "../contract/json.ts";
import { createHost } from "./create-host.ts";

const meeting = {
  name: "meeting",
  url: new URL("../../fixtures/broken/worker/meeting.ts", import.meta.url).href,
};
const config = { api_token: "a-token-of-some-length" };

test("streams are read at the same time, and each is whole; a sink has one call at a time", async () => {
  await using host = createHost({ sandbox: "inline" });
  const found = await host.discover(meeting, config);
  const streams = found.map((stream) => ({ stream, sync_mode: "full_refresh" as const }));
  const memory = createMemorySink();
  let calls = 0;
  let most = 0;
  const summary = await host.read(
    meeting,
    { config, catalog: { streams }, parallelStreams: 2 },
    {
      ...memory,
      async write(...args) {
        most = Math.max(most, ++calls);
        await new Promise((resolve) => setImmediate(resolve));
        await memory.write(...args);
        calls--;
      },
    },
  );
  expect(summary).toMatchObject({ status: "succeeded", recordCount: 6 });
  expect(most).toBe(1);
  for (const name of ["one", "two", "three"]) {
    expect(memory.rows(name)).toEqual([1, 2].map((id) => ({ id, text: name })));
    expect(memory.state(name)).toEqual({});
  }
  const statuses = memory.events.flatMap((event) =>
    event.type === "status" ? [`${event.stream} ${event.status}`] : [],
  );
  expect(statuses.slice(0, 2)).toEqual(["one started", "two started"]);
  expect(statuses.at(-1)).toBe("three complete");
});

test("a replication slot has one reader, whatever was asked for", async () => {
  const url = new URL("../../connectors/sources/postgres/index.ts", import.meta.url).href;
  const settings = { host: "db.example.com", database: "d", username: "u", password: "p4ssw0rd" };
  const streams = ["a", "b"].map((name) => ({
    stream: {
      name,
      namespace: "public",
      json_schema: { type: "object", properties: { id: { type: "integer" } } },
      supported_sync_modes: ["full_refresh" as const],
      source_defined_cursor: false,
      default_cursor_field: [],
      source_defined_primary_key: [["id"]],
      is_resumable: true,
    },
    sync_mode: "full_refresh" as const,
  }));
  const workersOf = async (config: JsonObject) => {
    let count = 0;
    await using host = createHost({
      sandbox: "inline",
      seams: { resolve: () => Promise.reject(new Error("there is no such host")) },
      onWorkerStart: () => void count++,
    });
    const request = { config, catalog: { streams }, parallelStreams: 2 };
    const { status } = await host.read({ name: "postgres", url }, request, createMemorySink());
    expect(status).toBe("failed");
    return count;
  };
  expect(await workersOf(settings)).toBe(2);
  const replication = { slot: "svc_shop", publication: "svc_shop" };
  expect(await workersOf({ ...settings, replication })).toBe(1);
});
