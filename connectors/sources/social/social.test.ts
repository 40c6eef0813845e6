import type { JsonObject } from "svc-connectors";
import { expect, test } from "vitest";
import type { Row } from "../../../fixtures/connector-run.ts";
import { configOf, createSocialClock, createSocialRun } from "../../../fixtures/social/run.ts";
import {
  type SocialOptions,
  type SocialSimulator,
  startSocial,
} from "../../../simulators/social/social.ts";
import type { Selection, TruthStream } from "../../../simulators/social/truth.ts";
import { truthStreams } from "../../../simulators/social/truth.ts";
import { choose } from "../../../tests/effort.ts";
import { dayIn, isTimeZone, shiftDay } from "./days.ts";
import { streams } from "./streams.ts";

const everything = { include_personal_data: true };
const plenty = { requests: 1_000_000, windowMs: 60_000 };
const hourMs = 3_600_000;

async function start(options: SocialOptions = {}) {
  const clock = createSocialClock();
  const social = await startSocial({ clockNow: clock.now, tokenLimit: plenty, ...options });
  const run = createSocialRun(social, { clock });
  return {
    clock,
    social,
    run,
    async [Symbol.asyncDispose]() {
      await run[Symbol.asyncDispose]();
      await social.close();
    },
  };
}

/**
 * Rows by primary key, so that sets can be compared; the later of two wins, as it would in a table.
 */
function keyed(name: string, rows: readonly Row[]): Record<string, Row> {
  const { primaryKey } = streams.find((stream) => stream.name === name) ?? { primaryKey: [] };
  const entries = rows.map(
    ({ captured_at: _, ...row }) =>
      [primaryKey.map((field) => String(row[field])).join(" "), row] as const,
  );
  return Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)));
}

const expectTruth = (
  social: SocialSimulator,
  name: TruthStream,
  rows: readonly Row[],
  selection: Selection = {},
) => expect(keyed(name, rows)).toEqual(keyed(name, social.truth[name](selection)));

const code = (expected: string, details: object = {}) =>
  expect.objectContaining({ code: expected, details: expect.objectContaining(details) });

const paths = (social: SocialSimulator) => social.requests.map(({ path }) => path);
const details = (social: SocialSimulator) => paths(social).filter((path) => /posts\/\d/.test(path));

test.each(truthStreams)("%s holds exactly the account's rows, each once", async (name) => {
  await using one = await start();
  const { rows } = await one.run.read(name, { config: { ...everything, page_size: 3 } });
  expectTruth(one.social, name, rows);
  expect(rows.length).toBeGreaterThan(0);
  expect(rows).toHaveLength(one.social.truth[name]().length);
});

test.each(
  truthStreams,
)("%s holds what is selected, and nothing else is asked for", async (name) => {
  await using one = await start();
  const [, brand] = one.social.truth.brands().map(({ brand_id }) => String(brand_id));
  const channels = one.social.truth.channels({ brandIds: [brand ?? ""] });
  const chosen = channels
    .filter(({ network }) => network === "facebook" || network === "x")
    .map(({ channel_id }) => String(channel_id));
  const channelIds = chosen.slice(1); // one of the two facebook channels
  const selection = { brandIds: [brand ?? ""], channelIds };
  const brandsAsked = new Set<unknown>();
  one.social.observe(({ headers }) => brandsAsked.add(headers.brand_id));
  const { rows } = await one.run.read(name, {
    config: { ...everything, brand_ids: selection.brandIds, channel_ids: channelIds },
  });
  expectTruth(one.social, name, rows, selection);
  expect(rows.length).toBeGreaterThan(0);
  const asked = paths(one.social).join("\n");
  expect([...brandsAsked].filter((id) => id !== undefined && id !== brand)).toEqual([]);
  expect(asked).not.toMatch(/network=(instagram|tiktok|linkedin)/);
  for (const { channel_id } of channels)
    if (!channelIds.includes(String(channel_id)))
      expect(asked).not.toContain(`channel_id=${channel_id}`);
  if (["portals", "brands", "users"].includes(name)) expect(asked).not.toContain("/channels");
});

test("with channels alone selected, brands that have none of them are asked for their channels only", async () => {
  await using one = await start();
  const [brand] = one.social.truth.brands().map(({ brand_id }) => String(brand_id));
  const [channel] = one.social.truth.channels({ brandIds: [brand ?? ""] });
  const channelIds = [String(channel?.channel_id)];
  const brandsAsked = new Set<unknown>();
  one.social.observe(({ path, headers }) => {
    if (!path.endsWith("/channels") && headers.brand_id !== undefined)
      brandsAsked.add(headers.brand_id);
  });
  for (const name of ["posts", "channel_metrics_daily", "scheduled_posts", "drafts"] as const) {
    const { rows } = await one.run.read(name, { config: { channel_ids: channelIds } });
    expectTruth(one.social, name, rows, { channelIds });
    expect(rows.length).toBeGreaterThan(0);
  }
  expect([...brandsAsked]).toEqual([brand]);
});

test("a metric that the network does not count is null, and one that it counted as nothing is 0", async () => {
  await using one = await start({ brands: 1, channelsPerBrand: 3, postsPerChannel: 1 });
  const x = one.social.truth.posts().find(({ network }) => network === "x");
  one.social.mutate.setPostMetrics(String(x?.channel_id), String(x?.post_id), {
    impressions: 0,
    likes: 7,
  });
  const { rows } = await one.run.read("post_metrics");
  expect(rows.find(({ network }) => network === "x")).toMatchObject({
    impressions: 0,
    likes: 7,
    reach: null,
    retweets: null,
    saves: null,
    video_views: null,
    engagement_rate: null,
  });
  const { rows: daily } = await one.run.read("channel_metrics_daily");
  expect(daily.filter(({ network }) => network === "x").every(({ saves }) => saves === null)).toBe(
    true,
  );
});

test("names and addresses of people stay out, of schemas and rows, unless they are asked for", async () => {
  await using one = await start();
  const catalog = await one.run.discover();
  const fields = catalog.flatMap(({ json_schema }) =>
    Object.keys(json_schema.properties as object),
  );
  for (const field of ["full_name", "email", "user_name"]) expect(fields).not.toContain(field);
  for (const name of ["users", "post_activities"])
    expect((await one.run.read(name)).text).not.toMatch(/Person|@example/);
});

test.each(["com", "eu", "com.au"])("region %s leads to its own hosts", async (region) => {
  await using one = await start({ region });
  await one.run.check();
  expect(one.social.requests.length).toBeGreaterThan(0);
  expect(one.social.tokenRequests).toHaveLength(1);
});

test("a check asks for a portal before it asks the provider for anything", async () => {
  await using one = await start();
  const { portal_id: _, ...config } = configOf(one.social);
  const result = await one.run.host.check(one.run.connector, config);
  expect(result).toMatchObject({
    status: "failed",
    error: { code: "CONFIG_INVALID", message: expect.stringContaining("portal_id") },
  });
  expect([one.social.requests, one.social.tokenRequests]).toEqual([[], []]);
});

test.each<[string, SocialOptions, (social: SocialSimulator) => JsonObject, string, RegExp]>([
  [
    "no portal",
    { portals: 0, inactivePortals: 0 },
    () => ({ portal_id: "1" }),
    "ACCESS_MISSING",
    /belongs to no portal/,
  ],
  ["another portal", {}, () => ({ portal_id: "1" }), "RESOURCE_NOT_FOUND", /portal/],
  [
    "an inactive user",
    { portals: 0 },
    (social) => ({ portal_id: social.portalId }),
    "ACCESS_MISSING",
    /not active in this portal/,
  ],
  ["no brand", { brands: 0 }, () => ({}), "ACCESS_MISSING", /no brand/],
  [
    "a brand that is gone",
    {},
    () => ({ brand_ids: ["1"] }),
    "RESOURCE_NOT_FOUND",
    /1 of 1 selected brands/,
  ],
  [
    "a channel that is gone",
    {},
    () => ({ channel_ids: ["1"] }),
    "RESOURCE_NOT_FOUND",
    /1 of 1 selected channels/,
  ],
  ["a wrong client", {}, () => ({ client_id: "1000.other" }), "CREDENTIALS_REJECTED", /./],
  [
    "a wrong client secret",
    {},
    () => ({ client_secret: "another secret" }),
    "CREDENTIALS_REJECTED",
    /./,
  ],
  [
    "a spent refresh token",
    {},
    () => ({ refresh_token: "1000.another" }),
    "REAUTHORIZATION_NEEDED",
    /./,
  ],
])("a check with %s fails and says so", async (_, options, config, expected, reason) => {
  await using one = await start(options);
  const { portalId } = one.social;
  const result = await one.run.host.check(
    one.run.connector,
    configOf({ ...one.social, portalId: portalId || "1" }, config(one.social)),
  );
  expect(result).toMatchObject({
    status: "failed",
    error: { code: expected, message: expect.stringMatching(reason) },
  });
});

test("a check of a large account costs few requests", async () => {
  await using one = await start({ brands: 50 });
  await one.run.check();
  expect(one.social.requests.length + one.social.tokenRequests.length).toBeLessThanOrEqual(10);
});

test.each([
  ["channels", { type: "status", status: 200, body: '{"status":"failure"}' }, "REQUEST_REJECTED"],
  [
    "posts/published",
    {
      type: "status",
      status: 200,
      body: '{"data":{"error":{"code":"SOMETHING_NEW","message":"no"}}}',
    },
    "REQUEST_REJECTED",
  ],
  [
    "posts/published",
    { type: "status", status: 401, body: '{"data":{"error":{"code":"OAUTH_SCOPE_MISMATCH"}}}' },
    "PERMISSION_DENIED",
  ],
  [
    "posts/published",
    { type: "status", status: 200, body: '{"data":{"error":{"code":"INTERNAL_ERROR"}}}' },
    "PROVIDER_UNAVAILABLE",
  ],
  ["brands", { type: "status", status: 200, body: "{}" }, "RESPONSE_INVALID"],
  ["brands", { type: "status", status: 200, body: '{"data":{}}' }, "RESPONSE_INVALID"],
  ["brands", { type: "html" }, "RESPONSE_INVALID"],
] as const)("when %s answers %j, check and read fail with %s", async (path, fault, expected) => {
  await using one = await start();
  one.social.faults.inject(fault, { path, times: 100 });
  await expect(one.run.check()).rejects.toEqual(code(expected));
  await expect(one.run.read("posts")).rejects.toEqual(code(expected));
});

test("a transient error in a body with status 200 is tried again", async () => {
  await using one = await start();
  one.social.faults.inject(
    { type: "status", status: 200, body: '{"data":{"error":{"code":"INTERNAL_ERROR"}}}' },
    { path: "published" },
  );
  expectTruth(one.social, "posts", (await one.run.read("posts")).rows);
});

test("the second incremental read of posts gets what is new and what lies in the lookback, and stops there", async () => {
  await using one = await start({ brands: 1, channelsPerBrand: 2, postsPerChannel: 500 });
  const read = { syncMode: "incremental", config: { page_size: 10 } } as const;
  const first = await one.run.read("posts", read);
  const [channel] = one.social.truth.channels();
  const added = one.social.mutate.addPost(String(channel?.channel_id), "2026-05-31T23:30:00Z");
  const before = one.social.requests.length;
  const second = await one.run.read("posts", { ...read, state: first.states.at(-1) ?? null });
  expect(second.rows).toContainEqual(expect.objectContaining({ post_id: added }));
  const times = one.social.truth
    .posts()
    .filter(
      ({ published_time }) =>
        Date.parse(String(published_time)) >= Date.parse("2026-05-24T04:00:00Z"),
    );
  expect(keyed("posts", second.rows)).toEqual(keyed("posts", times));
  expect(one.social.requests.length - before).toBeLessThan(8);
  const third = await one.run.read("posts", { ...read, state: second.states.at(-1) ?? null });
  expect(third.states.at(-1)).toEqual(second.states.at(-1));
});

test.each([
  ...[
    "posts",
    "post_metrics",
    "channel_metrics_daily",
    "scheduled_posts",
    "drafts",
    "post_activities",
  ].map((name) => [name, "full_refresh"] as const),
  ["posts", "incremental"],
  ["post_metrics", "incremental"],
  ["channel_metrics_daily", "incremental"],
] as const)("a crash at any checkpoint of %s (%s) loses nothing", async (name, syncMode) => {
  await using one = await start({
    brands: 3,
    channelsPerBrand: 2,
    postsPerChannel: 6,
    scheduledPerBrand: 12,
    draftsPerBrand: 12,
    reportDays: 200,
  });
  const config = { ...everything, page_size: 1, start_date: "2025-01-01" };
  const read = { config, syncMode } as const;
  const whole = await one.run.read(name, read);
  expect(whole.states.length).toBeGreaterThan(1);
  const step = choose({ quick: 4, whole: 1 });
  for (let crashAt = 1; crashAt <= whole.states.length; crashAt += step) {
    const crashed = await one.run.read(name, { ...read, stopAfterCheckpoints: crashAt });
    const state = crashed.states.at(-1) ?? null;
    const before = one.social.requests.length;
    const resumed = await one.run.read(name, { ...read, state });
    expectTruth(one.social, name as TruthStream, [...crashed.coveredRows, ...resumed.rows]);
    const isResumed = crashAt < whole.states.length;
    // Which posts of the brand's other networks were asked for their activities is forgotten: that
    // brand is read again.
    const isRemembered = isResumed && name !== "post_activities";
    if (isRemembered) expect(resumed.rows.length).toBeLessThan(whole.rows.length);
    if (isResumed && syncMode === "incremental")
      expect(resumed.states.at(-1)).toEqual(
        expectedState(name, whole.states.at(-1), resumed.states.at(-1)),
      );
    expect(one.social.requests.length).toBeGreaterThan(before);
  }
});

/** Cursors by the clock differ from run to run; all others are those of an undisturbed read. */
const expectedState = (name: string, whole: unknown, resumed: unknown) =>
  name === "post_metrics" ? resumed : whole;

test("a channel that is selected later is read from its beginning", async () => {
  await using one = await start({ brands: 1, postsPerChannel: 30 });
  const ids = one.social.truth.channels().map(({ channel_id }) => String(channel_id));
  for (const name of ["posts", "channel_metrics_daily"] as const) {
    const read = {
      syncMode: "incremental",
      config: { ...everything, channel_ids: ids.slice(0, 1) },
    } as const;
    const first = await one.run.read(name, read);
    const second = await one.run.read(name, {
      ...read,
      config: everything,
      state: first.states.at(-1) ?? null,
    });
    expectTruth(one.social, name, [...first.rows, ...second.rows]);
  }
});

test("metrics of young posts are captured again, those of old ones are not", async () => {
  await using one = await start({ brands: 1, channelsPerBrand: 1, postsPerChannel: 60 });
  const read = { syncMode: "incremental" } as const;
  const first = await one.run.read("post_metrics", read);
  expect(first.rows).toHaveLength(60);
  one.clock.advance(24 * hourMs);
  const [moving] = one.social.truth.posts();
  one.social.mutate.setPostMetrics(String(moving?.channel_id), String(moving?.post_id), {
    reach: 5,
  });
  const before = details(one.social).length;
  const second = await one.run.read("post_metrics", {
    ...read,
    state: first.states.at(-1) ?? null,
  });
  const young = one.social.truth
    .posts()
    .filter(
      ({ published_time }) =>
        Date.parse(String(published_time)) >= Date.parse("2026-05-04T00:00:00Z"),
    );
  expect(keyed("post_metrics", second.rows)).toMatchObject(
    keyed(
      "post_metrics",
      young.map(({ post_id, channel_id }) => ({ post_id, channel_id })),
    ),
  );
  expect(second.rows).toHaveLength(young.length);
  expect(details(one.social)).toHaveLength(before + young.length);
  expect(second.rows).toContainEqual(
    expect.objectContaining({ post_id: moving?.post_id, reach: 5, impressions: null }),
  );
  expect(new Set(second.rows.map(({ captured_at }) => captured_at))).toEqual(
    new Set([expect.stringMatching(/^2026-06-02T00:/)]),
  );
});

test("daily metrics go up to the brand's own day, and the last days are read again", async () => {
  await using one = await start({ brands: 2, channelsPerBrand: 1 });
  const [auckland, angeles] = one.social.truth
    .channels()
    .map(({ channel_id }) => String(channel_id));
  const read = { syncMode: "incremental" } as const;
  const first = await one.run.read("channel_metrics_daily", read);
  // At midnight UTC it is noon of the same day in Auckland, and still the day before in Los
  // Angeles.
  expect(first.states.at(-1)).toEqual({
    cursors: { [auckland ?? ""]: "2026-06-01", [angeles ?? ""]: "2026-05-31" },
  });
  one.social.mutate.setReport(auckland ?? "", "2026-05-29", { followers: 4 });
  one.social.mutate.setReport(auckland ?? "", "2026-05-28", { followers: 4 }); // too old
  one.social.mutate.setNow("2026-06-02T20:00:00Z"); // the third in Auckland
  one.clock.advance(44 * hourMs);
  const before = one.social.requests.length;
  const second = await one.run.read("channel_metrics_daily", {
    ...read,
    state: first.states.at(-1) ?? null,
  });
  const daysOf = (id: string | undefined) =>
    second.rows.filter(({ channel_id }) => channel_id === id).map(({ date }) => date);
  expect(daysOf(auckland)).toEqual([
    "2026-05-29",
    "2026-05-30",
    "2026-05-31",
    "2026-06-01",
    "2026-06-02",
    "2026-06-03",
  ]);
  expect(daysOf(angeles)).toEqual([
    "2026-05-28",
    "2026-05-29",
    "2026-05-30",
    "2026-05-31",
    "2026-06-01",
    "2026-06-02",
  ]);
  const reports = paths(one.social)
    .slice(before)
    .filter((path) => path.includes("/reports/"));
  expect(reports.map((path) => /to=(.*)$/.exec(path)?.[1]).sort()).toEqual([
    "2026-06-02",
    "2026-06-03",
  ]);
  expect(second.rows).toContainEqual(
    expect.objectContaining({
      date: "2026-05-29",
      channel_id: auckland,
      followers: 4,
      reach: null,
    }),
  );
});

test("a long history of daily metrics is read in pieces that the provider accepts", async () => {
  await using one = await start({ brands: 1, channelsPerBrand: 1, reportDays: 400 });
  const { rows } = await one.run.read("channel_metrics_daily", {
    config: { start_date: "2025-01-01" },
  });
  expectTruth(one.social, "channel_metrics_daily", rows);
  expect((await one.run.read("channel_metrics_daily")).rows).toHaveLength(90);
});

test("nothing before the start date is read", async () => {
  await using one = await start({ brands: 1, postsPerChannel: 40 });
  const config = { start_date: "2026-05-20" };
  for (const name of ["posts", "post_metrics"] as const) {
    const { rows } = await one.run.read(name, { config });
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.every(({ published_time }) => String(published_time) >= "2026-05-20")).toBe(true);
  }
});

test.each([
  "posts",
  "post_metrics",
  "channel_metrics_daily",
])("%s: no state goes backwards, and one of the far future is kept", async (name) => {
  await using one = await start({ brands: 1, channelsPerBrand: 1 });
  const [channel] = one.social.truth.channels();
  const state = {
    cursors: {
      [String(channel?.channel_id)]:
        name === "channel_metrics_daily" ? "2099-01-01" : "2099-01-01T00:00:00Z",
    },
  };
  const result = await one.run.read(name, { syncMode: "incremental", state });
  expect(result.rows).toEqual([]);
  expect(result.states.at(-1)).toEqual(state);
});

test("an account without posts, days or plans is read without rows", async () => {
  await using one = await start({
    postsPerChannel: 0,
    reportDays: 0,
    scheduledPerBrand: 0,
    draftsPerBrand: 0,
    usersPerPortal: 0,
  });
  for (const name of [
    "posts",
    "post_metrics",
    "channel_metrics_daily",
    "scheduled_posts",
    "drafts",
    "post_activities",
    "users",
  ]) {
    expect((await one.run.read(name)).rows, name).toEqual([]);
  }
  expect((await one.run.read("posts", { syncMode: "incremental" })).states.at(-1)).toEqual({});
});

test.each([
  0, 1, 2, 3, 4, 6,
])("%i rows are read in pages of 3, by cursor and by offset", async (count) => {
  await using one = await start({
    brands: 1,
    channelsPerBrand: 1,
    postsPerChannel: count,
    scheduledPerBrand: count,
  });
  const pageCount = Math.max(1, Math.ceil(count / 3));
  for (const [name, path] of [
    ["posts", "published"],
    ["scheduled_posts", "scheduled"],
  ] as const) {
    const { rows } = await one.run.read(name, { config: { page_size: 3 } });
    expectTruth(one.social, name, rows);
    expect(paths(one.social).filter((asked) => asked.includes(path))).toHaveLength(pageCount);
  }
});

test("posts deleted while pages are read hide no other post", async () => {
  await using one = await start({ brands: 1, channelsPerBrand: 1, postsPerChannel: 12 });
  const posts = one.social.truth.posts();
  let count = 0;
  one.social.observe(({ path }) => {
    if (path.includes("published") && ++count === 3) {
      for (const { channel_id, post_id } of posts.slice(2, 5))
        one.social.mutate.removePost(String(channel_id), String(post_id));
    }
  });
  const { rows } = await one.run.read("posts", { config: { page_size: 2 } });
  expect(keyed("posts", rows)).toMatchObject(keyed("posts", one.social.truth.posts()));
});

test("planned posts deleted while pages are read hide no other one", async () => {
  await using one = await start({ brands: 1, scheduledPerBrand: 9 });
  const [first] = one.social.truth.scheduled_posts();
  one.social.observe(({ path, query }) => {
    if (path.includes("scheduled") && query.get("offset") === "2")
      one.social.mutate.removeScheduled(String(first?.brand_id), String(first?.post_id));
  });
  const { rows } = await one.run.read("scheduled_posts", { config: { page_size: 2 } });
  expect(keyed("scheduled_posts", rows)).toMatchObject(
    keyed("scheduled_posts", one.social.truth.scheduled_posts()),
  );
});

test("a post that is deleted before its metrics are asked for has none; one fault alone does not hide it", async () => {
  await using one = await start({ brands: 1, channelsPerBrand: 1, postsPerChannel: 5 });
  const [post] = one.social.truth.posts();
  one.social.faults.inject({ type: "status", status: 404 }, { path: `posts/${post?.post_id}` });
  expectTruth(one.social, "post_metrics", (await one.run.read("post_metrics")).rows);
  one.social.observe(({ path }) => {
    if (path.includes("published"))
      one.social.mutate.removePost(String(post?.channel_id), String(post?.post_id));
  });
  for (const name of ["post_metrics", "post_activities"] as const)
    expectTruth(one.social, name, (await one.run.read(name, { config: everything })).rows);
});

test("a provider that knows none of the posts that it lists is an error", async () => {
  await using one = await start();
  one.social.faults.inject({ type: "status", status: 404 }, { path: /posts\/\d/, times: 10_000 });
  for (const name of ["post_metrics", "post_activities"]) {
    await expect(one.run.read(name)).rejects.toEqual(code("RESOURCE_NOT_FOUND"));
  }
});

test("a post on many channels is asked for its activities once", async () => {
  await using one = await start({ brands: 1, channelsPerBrand: 5, postsPerChannel: 4 });
  await one.run.read("post_activities");
  expect(paths(one.social).filter((path) => path.includes("/activities"))).toHaveLength(4);
});

test("channels that need to be connected again are read with a warning", async () => {
  await using one = await start();
  const { warnings, rows } = await one.run.read("posts");
  expectTruth(one.social, "posts", rows);
  expect(warnings).toEqual([expect.stringContaining("connected again")]);
});

test("a saved page that the provider has forgotten costs a second look at its listing, nothing more", async () => {
  await using one = await start({ brands: 1, channelsPerBrand: 2, postsPerChannel: 9 });
  const [, second] = one.social.truth.channels();
  const part = `${second?.brand_id} ${second?.network}`;
  const state = { pass: { part, after: Buffer.from("forgotten").toString("base64") } };
  const { rows } = await one.run.read("posts", { state, config: { page_size: 2 } });
  const parts = one.social.truth
    .posts()
    .filter(({ brand_id, network }) => `${brand_id} ${network}` >= part);
  expect(keyed("posts", rows)).toEqual(keyed("posts", parts));
});

test("the choices are portals, brands and channels; each choice narrows what follows", async () => {
  await using one = await start({ portals: 2 });
  const { portal_id: _, ...config } = configOf(one.social);
  const all = await one.run.host.entities(one.run.connector, config, {});
  const portals = one.social.requests.length;
  expect(portals).toBe(1 + 3 + 6);
  expect(all.portals).toHaveLength(3);
  const selection = { portalId: one.social.portalId };
  const narrowed = await one.run.host.entities(one.run.connector, config, {
    portal_id: one.social.portalId,
  });
  const truth = one.social.truth;
  expect(narrowed).toEqual({
    portals: all.portals,
    brands: truth.brands(selection).map(({ brand_id, portal_id, brand_name, timezone }) => ({
      brand_id,
      portal_id,
      name: brand_name,
      timezone,
    })),
    channels: truth
      .channels(selection)
      .map(({ channel_id, brand_id, portal_id, network, channel_name, status }) => ({
        channel_id,
        brand_id,
        portal_id,
        network,
        name: channel_name,
        status,
      })),
  });
  const [brand] = truth.brands().map(({ brand_id }) => String(brand_id));
  const { channels } = await one.run.host.entities(one.run.connector, config, {
    portal_id: one.social.portalId,
    brand_ids: [brand ?? ""],
  });
  expect(new Set((channels as JsonObject[]).map(({ brand_id }) => brand_id))).toEqual(
    new Set([brand]),
  );
});

test("choices of an account without access, of a strange portal and of strange input fail with a reason", async () => {
  await using one = await start({ portals: 0, inactivePortals: 1 });
  const { portal_id: inactive, ...config } = configOf(one.social);
  const ask = (input: JsonObject) => one.run.host.entities(one.run.connector, config, input);
  await expect(ask({ portal_id: inactive ?? "" })).rejects.toEqual(
    code("ACCESS_MISSING", { reason: "the user is not active in this portal" }),
  );
  expect(await ask({})).toMatchObject({ brands: [], channels: [] });
  await expect(ask({ portal_id: "1" })).rejects.toEqual(code("RESOURCE_NOT_FOUND"));
  for (const input of [
    { portal_id: 1 },
    { portal_id: "a\nb" },
    { brand_ids: "1" },
    { brand_ids: [1] },
  ])
    await expect(ask(input)).rejects.toEqual(code("CONFIG_INVALID"));
});

test("a token that ends while a stream is read is renewed once", async () => {
  await using one = await start({ brands: 1, postsPerChannel: 30 });
  let count = 0;
  one.social.observe(({ path }) => {
    if (/posts\/\d/.test(path) && ++count === 40) one.social.tokens.expireAll();
  });
  const { rows } = await one.run.read("post_metrics", { config: everything });
  expectTruth(one.social, "post_metrics", rows);
  // the first and its renewal; discover asks for nothing
  expect(one.social.tokenRequests).toHaveLength(2);
  expect(one.social.requests.filter(({ status }) => status === 401).length).toBeGreaterThan(0);
});

test("a token is renewed before its hour is over", async () => {
  await using one = await start({ brands: 1, postsPerChannel: 30 });
  let count = 0;
  one.social.observe(({ path }) => {
    if (/posts\/\d/.test(path) && ++count === 40) one.clock.advance(56 * 60_000);
  });
  expectTruth(one.social, "post_metrics", (await one.run.read("post_metrics")).rows);
  expect(one.social.requests.every(({ status }) => status === 200)).toBe(true);
  expect(one.social.tokenRequests).toHaveLength(2);
});

test("an authorisation that is taken back while a stream is read ends it, without a storm of requests", async () => {
  await using one = await start();
  let count = 0;
  one.social.observe(({ path }) => {
    if (/posts\/\d/.test(path) && ++count === 10) one.social.tokens.revoke();
  });
  await expect(one.run.read("post_metrics")).rejects.toEqual(code("REAUTHORIZATION_NEEDED"));
  expect(one.social.tokenRequests.length).toBeLessThanOrEqual(3);
});

test("the provider's rate limit is waited for", async () => {
  await using one = await start({ rateLimit: { requests: 7, windowMs: 60_000 } });
  expectTruth(
    one.social,
    "posts",
    (await one.run.read("posts", { config: { page_size: 4 } })).rows,
  );
});

test("a day is the place's own, and days are counted without one", () => {
  const noon = Date.parse("2026-03-08T11:30:00Z");
  expect([
    dayIn("Pacific/Auckland", noon),
    dayIn("America/Los_Angeles", noon),
    dayIn("Pacific/Kiritimati", noon),
  ]).toEqual(["2026-03-09", "2026-03-08", "2026-03-09"]);
  expect(shiftDay("2026-03-01", -1)).toBe("2026-02-28");
  expect(shiftDay("2024-02-28", 1)).toBe("2024-02-29");
  expect([isTimeZone("Europe/Berlin"), isTimeZone("Nowhere/Land"), isTimeZone("")]).toEqual([
    true,
    false,
    false,
  ]);
});
