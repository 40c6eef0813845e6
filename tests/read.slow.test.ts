/** The promises of a read as a whole, through real workers. */

import { createHost, type Host, type HostEvent, selectStreams } from "svc-connectors/host";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startMailer } from "../simulators/mailer/mailer.ts";
import { createMemorySink } from "./memory-sink.ts";
import { soon } from "./soon.ts";

const mailerConnector = {
  name: "mailer",
  url: new URL("../connectors/sources/mailer/index.ts", import.meta.url).href,
};
const mixed = {
  name: "mixed",
  url: new URL("../fixtures/broken/worker/mixed.ts", import.meta.url).href,
};
const config = { api_token: "a-token-of-some-length" };

describe("a read of several streams", () => {
  let host: Host;
  beforeAll(() => {
    host = createHost({ keepWarm: 1 });
  });
  afterAll(() => host[Symbol.asyncDispose]());

  async function readMixed(names: string | undefined) {
    const sink = createMemorySink();
    const events: HostEvent[] = [];
    const catalog = {
      streams: selectStreams(await host.discover(mixed, config), names, undefined),
    };
    const summary = await host.read(mixed, { config, catalog }, sink, {
      onEvent: (event) => events.push(event),
    });
    return { sink, summary, events };
  }

  test("goes on after a stream that fails, and has failed as a whole", async () => {
    const { sink, summary } = await readMixed("fails,good");
    expect(summary).toMatchObject({
      status: "failed",
      recordCount: 3,
      error: { code: "CONNECTOR_FAILED" },
    });
    expect(summary.streams.map(({ stream, status }) => [stream, status])).toEqual([
      ["fails", "incomplete"],
      ["good", "complete"],
    ]);
    expect(sink.rows("good")).toEqual([
      { id: 1, text: "one" },
      { id: 2, text: "two" },
    ]);
  });

  test("never gives a state to a stream that failed, and one to every other", async () => {
    const { sink } = await readMixed("fails,good");
    const states = sink.events.flatMap((event) =>
      event.type === "checkpoint" ? [event.stream] : [],
    );
    expect(states).toEqual(["good"]);
  });

  test("writes null for a value that does not fit, notes it, and tells of fields that are not declared", async () => {
    const { sink, summary, events } = await readMixed("odd");
    expect(summary).toMatchObject({ status: "succeeded", nulledCount: 1 });
    expect(sink.rows("odd")[1]).toEqual({
      id: 2,
      text: null,
      _svc_meta: { changes: [expect.objectContaining({ field: "text", change: "NULLED" })] },
    });
    expect(events).toContainEqual({ type: "dropped", stream: "odd", fields: ["extra"] });
  });

  test("puts statuses, rows and states of one stream before those of the next", async () => {
    const { sink } = await readMixed(undefined);
    const order = sink.events
      .map((event) => event.stream)
      .filter((stream, index, all) => stream !== all[index - 1]);
    expect(order).toEqual(["fails", "good", "odd"]);
  });
});

test("a reader that stalls stops the requests, and they go on when it goes on", async () => {
  await using mailer = await startMailer({
    seed: 4,
    lists: 1,
    subscribersPerList: 30_000,
    rateLimit: { requests: 100_000, windowMs: 60_000 },
  });
  await using host = createHost({
    settings: { approvedHosts: [mailer.hostname] },
    seams: mailer.seams,
  });
  const access = { base_url: mailer.baseUrl, api_token: mailer.token };
  const catalog = {
    streams: selectStreams(await host.discover(mailerConnector, access), "subscribers", undefined),
  };
  const sink = createMemorySink();
  const write = sink.write;
  const gate = Promise.withResolvers<void>();
  const reading = host.read(
    mailerConnector,
    { config: access, catalog },
    {
      ...sink,
      async write(...args) {
        await gate.promise;
        await write(...args);
      },
    },
  );
  let last = -1;
  await expect
    .poll(
      () => {
        const grew = mailer.requests.length !== last;
        last = mailer.requests.length;
        return grew || last < 2;
      },
      { ...soon, interval: 400 },
    )
    .toBe(false);
  const whenStalled = mailer.requests.length;
  expect(whenStalled).toBeLessThan(20);
  gate.resolve();
  expect(await reading).toMatchObject({ status: "succeeded", recordCount: 30_000 });
  expect(mailer.requests.length).toBeGreaterThan(300);
});
