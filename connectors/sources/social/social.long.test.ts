/**
 * Promises that only a sandboxed worker shows, and secrets that must not get out of it. One host
 * and one account for all.
 */
import type { JsonObject, JsonValue } from "svc-connectors";
import { createHost, type HostEvent, selectStreams } from "svc-connectors/host";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ConnectorRun, Row } from "../../../fixtures/connector-run.ts";
import { configOf, createSocialClock, createSocialRun } from "../../../fixtures/social/run.ts";
import type { Fault } from "../../../simulators/simulator/faults.ts";
import { type SocialSimulator, startSocial } from "../../../simulators/social/social.ts";
import { truthStreams } from "../../../simulators/social/truth.ts";
import { createMemorySink, type MemorySink } from "../../../tests/memory-sink.ts";
import { streams } from "./streams.ts";

const clock = createSocialClock();
let social: SocialSimulator;
let run: ConnectorRun;
beforeAll(async () => {
  social = await startSocial({
    clockNow: clock.now,
    brands: 2,
    postsPerChannel: 15,
    tokenLimit: { requests: 1_000, windowMs: 1 },
  });
  run = createSocialRun(social, { clock, sandbox: "process", keepWarm: 1 });
});
afterAll(async () => {
  await run?.[Symbol.asyncDispose]();
  await social?.close();
});

/**
 * Rows by primary key without the moment of capture; the later of two wins, as it would in a table.
 */
function keyed(name: string, rows: readonly Row[]) {
  const { primaryKey } = streams.find((stream) => stream.name === name) ?? { primaryKey: [] };
  const keyOf = (row: Row) => primaryKey.map((field) => String(row[field])).join(" ");
  return new Map(rows.map(({ captured_at: _, ...row }) => [keyOf(row), row]));
}

async function readAll(
  syncMode: "full_refresh" | "incremental",
  states: Record<string, JsonValue> = {},
  config: JsonObject = {},
) {
  const whole = configOf(social, { include_personal_data: true, ...config });
  const selected = selectStreams(
    await run.host.discover(run.connector, whole),
    undefined,
    undefined,
  );
  const catalog = {
    streams: selected.map(({ stream }) => ({
      stream,
      sync_mode: stream.supported_sync_modes.includes(syncMode)
        ? syncMode
        : ("full_refresh" as const),
    })),
  };
  const sink = createMemorySink();
  const events: HostEvent[] = [];
  const state = Object.entries(states).map(([name, value]) => ({ stream: { name }, state: value }));
  const summary = await run.host.read(run.connector, { config: whole, catalog, state }, sink, {
    onEvent: (event) => events.push(event),
  });
  return { summary, sink, text: sink.text() + JSON.stringify([summary, events]) };
}

const statesOf = (sink: MemorySink) =>
  Object.fromEntries(truthStreams.map((name) => [name, sink.state(name) as JsonValue]));

test("all streams of an account come out of a sandboxed worker, and a second run brings what has changed", async () => {
  const first = await readAll("incremental");
  expect(first.summary).toMatchObject({ status: "succeeded", nulledCount: 0, redactedCount: 0 });
  for (const name of truthStreams)
    expect(keyed(name, first.sink.rows(name)), name).toEqual(keyed(name, social.truth[name]()));

  const [post] = social.truth.posts();
  const channel = String(post?.channel_id);
  social.mutate.addPost(channel, "2026-06-01T20:00:00Z");
  social.mutate.setPostMetrics(channel, String(post?.post_id), { likes: 1 });
  social.mutate.setReport(channel, "2026-05-31", { followers: 9 });
  social.mutate.setNow("2026-06-02T00:00:00Z");
  clock.advance(86_400_000);
  const second = await readAll("incremental", statesOf(first.sink));
  expect(second.summary.status).toBe("succeeded");
  for (const name of truthStreams) {
    const union = [...first.sink.rows(name), ...second.sink.rows(name)];
    expect(keyed(name, latestOf(name, union)), name).toEqual(keyed(name, social.truth[name]()));
  }
  expect(second.sink.rows("post_metrics").length).toBe(first.sink.rows("post_metrics").length + 1);
});

/** The last one of several captures of a post; other rows as they are. */
function latestOf(name: string, rows: readonly Row[]) {
  if (name !== "post_metrics") return rows;
  const latest = new Map(rows.map((row) => [`${row.post_id} ${row.channel_id}`, row]));
  return [...latest.values()].map((row) => ({ ...row, captured_at: undefined }));
}

test.each([
  "posts",
  "post_metrics",
  "channel_metrics_daily",
])("a worker of %s that dies at a checkpoint is followed by one that goes on", async (name) => {
  const read = {
    syncMode: "incremental",
    config: { page_size: 2, start_date: "2025-06-01" },
  } as const;
  const crashed = await run.read(name, { ...read, stopAfterCheckpoints: 2 });
  expect(crashed.states).toHaveLength(2);
  const resumed = await run.read(name, { ...read, state: crashed.states[1] ?? null });
  const union = keyed(name, latestOf(name, [...crashed.coveredRows, ...resumed.rows]));
  const truth = social.truth[name as (typeof truthStreams)[number]]().filter(
    ({ date }) => date === undefined || String(date) >= "2025-06-01",
  );
  expect(union).toEqual(keyed(name, truth));
});

test("a token that ends under many requests at once is renewed exactly once", async () => {
  const before = social.tokenRequests.length;
  let count = 0;
  social.observe(({ path }) => {
    if (/posts\/\d/.test(path) && ++count === 25) social.tokens.expireAll();
  });
  const { rows } = await run.read("post_metrics");
  expect(rows).toHaveLength(social.truth.post_metrics().length);
  expect(social.tokenRequests.length - before).toBe(2);
});

test("ten access tokens in ten minutes are not exceeded by one run, however long it is", async () => {
  await using strict = await startSocial({ clockNow: clock.now, brands: 2, postsPerChannel: 60 });
  await using host = createHost({ clock, seams: strict.seams });
  const config = configOf(strict, { page_size: 5 });
  const catalog = {
    streams: selectStreams(await host.discover(run.connector, config), "post_metrics", undefined),
  };
  const summary = await host.read(run.connector, { config, catalog }, createMemorySink());
  expect(summary).toMatchObject({
    status: "succeeded",
    recordCount: strict.truth.post_metrics().length,
  });
  expect(strict.tokenRequests.length).toBeLessThan(3);
});

const accessToken = (number: number) =>
  `1000.SimulatedAccessToken${String(number).padStart(8, "0")}OfTheSocialProvider`;

/** Every secret of the account, as it could be written. */
function secretsIn(text: string): string[] {
  const minted = Array.from({ length: social.tokenRequests.length }, (_, index) =>
    accessToken(index + 1),
  );
  const forms = (secret: string) => [
    secret,
    ...(["base64", "base64url", "hex"] as const).map((form) => Buffer.from(secret).toString(form)),
  ];
  return [social.clientSecret, social.refreshToken, ...minted].filter((secret) =>
    forms(secret).some((form) => text.includes(form)),
  );
}

const faults: [string, Fault][] = [
  ["401 with an echoing body", { type: "echo_authorization" }],
  ["500 with a stack trace", { type: "stack_trace" }],
  ["malformed JSON", { type: "malformed_json" }],
  ["a web page", { type: "html" }],
  ["a redirect", { type: "redirect" }],
  ["a truncated body", { type: "truncated" }],
  ["a reset", { type: "reset" }],
];

test.each(faults)("no secret comes out under %s", async (_, fault) => {
  social.faults.inject(fault, { times: 1_000 });
  try {
    const check = await run.host.check(run.connector, configOf(social));
    const { summary, text } = await readAll("full_refresh");
    const entities = await run.host
      .entities(run.connector, configOf(social), {})
      .catch((error: unknown) => error);
    expect([check.status, summary.status]).toEqual(["failed", "failed"]);
    expect(secretsIn(JSON.stringify([check, entities]) + String(entities) + text)).toEqual([]);
    expect(text).not.toMatch(/\/var\/www|node_modules|\bat .*:\d+:\d+/);
  } finally {
    social.faults.clear();
  }
});

test("a token endpoint that quotes the secrets tells nobody", async () => {
  const body = JSON.stringify({
    error: "invalid_client",
    error_description: `${social.clientSecret} ${social.refreshToken}`,
  });
  social.tokenFaults.inject({ type: "status", status: 200, body }, { times: 5 });
  try {
    const check = await run.host.check(run.connector, configOf(social));
    expect(check).toMatchObject({ status: "failed", error: { code: "CREDENTIALS_REJECTED" } });
    expect(secretsIn(JSON.stringify(check))).toEqual([]);
  } finally {
    social.tokenFaults.clear();
  }
});

test("a provider that puts a token into names is redacted, in choices and in rows", async () => {
  const names = () => {
    const text = `${accessToken(social.tokenRequests.length + 1)} of the portal`;
    const body = JSON.stringify({
      data: [
        {
          portal_id: social.portalId,
          portal_name: text,
          status: Buffer.from(text).toString("base64"),
        },
      ],
    });
    social.faults.inject({ type: "status", status: 200, body }, { path: "/portals" });
  };
  names();
  const entities = await run.host.entities(run.connector, configOf(social), {});
  expect(entities.portals).toEqual([{ portal_id: social.portalId, name: "[redacted]" }]);
  names();
  const { rows, text } = await run.read("portals");
  expect(rows).toEqual([
    { portal_id: social.portalId, portal_name: "[redacted]", status: "[redacted]" },
  ]);
  expect(secretsIn(text)).toEqual([]);
});
