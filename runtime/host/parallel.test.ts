import { expect, test } from "vitest";
import { createMemorySink } from "../../tests/memory-sink.ts";
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
