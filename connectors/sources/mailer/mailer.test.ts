import type { CatalogStream, SandboxLevel } from "svc-connectors/host";
import { expect, test } from "vitest";
import type { Row } from "../../../fixtures/connector-run.ts";
import { createMailerRun } from "../../../fixtures/mailer/run.ts";
import {
  type MailerOptions,
  type MailerSimulator,
  startMailer,
} from "../../../simulators/mailer/mailer.ts";
import type { Truth } from "../../../simulators/mailer/truth.ts";
import type { Fault } from "../../../simulators/simulator/faults.ts";
import { choose } from "../../../tests/effort.ts";
import { streams } from "./streams.ts";

const everything = { include_personal_data: true, include_html: true } as const;
const names = streams.map((stream) => stream.name as keyof Truth);
const perCampaign = [
  "campaign_opens",
  "campaign_clicks",
  "campaign_unsubscribes",
  "campaign_bounces",
] as const;

async function start(options: MailerOptions = {}, sandbox: SandboxLevel = "inline") {
  const mailer = await startMailer(options);
  const run = createMailerRun(mailer, { sandbox });
  return {
    mailer,
    run,
    async [Symbol.asyncDispose]() {
      await run[Symbol.asyncDispose]();
      await mailer.close();
    },
  };
}

/**
 * Rows by primary key, so that sets can be compared; the later of two wins, as it would in a table.
 */
function keyed(name: string, rows: readonly Row[]): Record<string, Row> {
  const { primaryKey } = streams.find((stream) => stream.name === name) ?? { primaryKey: [] };
  const entries = rows.map(
    (row) => [primaryKey.map((field) => String(row[field])).join(" "), row] as const,
  );
  return Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)));
}

const expectTruth = (mailer: MailerSimulator, name: keyof Truth, rows: readonly Row[]) =>
  expect(keyed(name, rows)).toEqual(keyed(name, mailer.truth[name]()));

const fieldsOf = ({ json_schema }: CatalogStream) => Object.keys(json_schema.properties as object);

/** Changes the account once the server has made its nth answer to such a path. */
function changeAfter(mailer: MailerSimulator, nth: number, path: string, change: () => void): void {
  let count = 0;
  mailer.observe((request) => {
    if (request.path.includes(path) && ++count === nth) change();
  });
}

const code = (expected: string) => expect.objectContaining({ code: expected });
const paths = (mailer: MailerSimulator) => mailer.requests.map((request) => request.path);

test.each(names)("%s holds exactly the account's rows, each once", async (name) => {
  await using mail = await start();
  const { rows } = await mail.run.read(name, { config: { ...everything, page_size: 3 } });
  expectTruth(mail.mailer, name, rows);
  expect(rows).toHaveLength(mail.mailer.truth[name]().length);
});

test("personal data and HTML stay out, of schemas and rows, unless they are asked for", async () => {
  await using mail = await start();
  const names = (await mail.run.discover()).flatMap(fieldsOf);
  for (const field of [
    "email",
    "first_name",
    "subscriber_email",
    "extra_attributes",
    "failure_reason",
    "to",
    "html",
    "email_html",
    "body",
    "fields",
  ]) {
    expect(names).not.toContain(field);
  }
  for (const stream of await mail.run.discover()) {
    const { rows } = await mail.run.read(stream.name);
    expect(new Set(rows.flatMap((row) => Object.keys(row)))).toEqual(new Set(fieldsOf(stream)));
    expect(JSON.stringify(rows)).not.toMatch(/reader\+|staff|<html|<p>/);
  }
  const asked = (await mail.run.discover({ config: everything })).filter(
    ({ name }) => name === "subscribers",
  );
  expect(asked.flatMap(fieldsOf)).toEqual(
    expect.arrayContaining(["email", "first_name", "last_name", "extra_attributes"]),
  );
});

test("a rate comes as a ratio and as the API gave it", async () => {
  await using mail = await start({ campaigns: 1, opensPerCampaign: 7, subscribersPerList: 22 });
  const { rows } = await mail.run.read("campaigns");
  expect(rows).toEqual([expect.objectContaining({ open_rate: 0.3182, open_rate_raw: 3182 })]);
});

test.each([
  "sent",
  "scheduled",
  "draft",
  "all",
] as const)("campaign_status %s selects those campaigns", async (campaign_status) => {
  await using mail = await start({ drafts: 3, scheduled: 2 });
  const { rows } = await mail.run.read("campaigns", { config: { ...everything, campaign_status } });
  expect(keyed("campaigns", rows)).toEqual(
    keyed("campaigns", mail.mailer.truth.campaigns(campaign_status)),
  );
});

test.each([
  0, 1, 99, 100, 101, 200,
])("%i rows are read in as few pages as hold them, each page once", async (sends) => {
  await using mail = await start({ sends });
  const { rows } = await mail.run.read("sends", { config: everything });
  expect(rows).toEqual(mail.mailer.truth.sends());
  const pages = Array.from(
    { length: Math.max(1, Math.ceil(sends / 100)) },
    (_, index) => `/api/sends?page=${index + 1}&per_page=100`,
  );
  expect(paths(mail.mailer)).toEqual(pages);
});

test("the server's own page size and last page count, not what was asked for", async () => {
  await using mail = await start({ sends: 31, maxPerPage: 15 });
  expect((await mail.run.read("sends", { config: everything })).rows).toEqual(
    mail.mailer.truth.sends(),
  );
});

test.each([
  ...names.map((name) => [name, "full_refresh"] as const),
  ["campaigns", "incremental"],
  ["campaign_opens", "incremental"],
] as const)("a crash at any point of reading %s (%s) loses nothing", async (name, syncMode) => {
  await using mail = await start({
    campaigns: 7,
    lists: 3,
    templates: 23,
    automations: 23,
    transactionalMails: 23,
    opensPerCampaign: 5,
    subscribersPerList: 9,
  });
  const config = { ...everything, page_size: 1 };
  const read = { config, syncMode };
  const { outputCount } = await mail.run.read(name, read);
  const parts = choose({ quick: [1, 2], whole: [0, 1, 2, 3, 4] });
  const points = new Set(parts.map((part) => Math.round((part * outputCount) / 4)));
  for (const stopAfter of points) {
    const crashed = await mail.run.read(name, { ...read, stopAfter });
    expect(crashed.outputCount).toBe(stopAfter);
    const state = crashed.states.at(-1);
    const resumed = await mail.run.read(name, {
      ...read,
      ...(state === undefined ? {} : { state }),
    });
    expectTruth(mail.mailer, name, [...crashed.coveredRows, ...resumed.rows]);
  }
});

test("a resumed read does not start over", async () => {
  await using mail = await start({ campaigns: 40 });
  const config = { page_size: 1 };
  const crashed = await mail.run.read("campaign_clicks", { config, stopAfter: 20 });
  const before = mail.mailer.requests.length;
  await mail.run.read("campaign_clicks", { config, state: crashed.states.at(-1) ?? {} });
  const clicks = paths(mail.mailer)
    .slice(before)
    .filter((path) => path.includes("/clicks"));
  expect(clicks.length).toBeLessThanOrEqual(160 - crashed.coveredRows.length + 1);
});

test("an incremental read of campaigns gets what is new and what may still move, and stops there", async () => {
  await using mail = await start({ campaigns: 300, opensPerCampaign: 1 });
  const { mutate } = mail.mailer;
  const first = await mail.run.read("campaigns", { syncMode: "incremental" });
  expect(first.states.at(-1)).toEqual({ cursor: "2026-05-31T15:00:00.000000Z" });

  const [, moving] = mail.mailer.truth.campaigns();
  const added = mutate.addCampaign({ sentAt: "2026-06-02T10:00:00Z", opens: 3 });
  mutate.updateCampaign(String(moving?.uuid), { updatedAt: "2026-06-02T00:00:00Z", clicks: 9 });
  const before = mail.mailer.requests.length;
  const second = await mail.run.read("campaigns", {
    syncMode: "incremental",
    state: first.states.at(-1) ?? {},
  });

  expect(second.rows).toContainEqual(expect.objectContaining({ uuid: added }));
  expect(second.rows).toContainEqual(
    expect.objectContaining({ uuid: moving?.uuid, unique_click_count: 9 }),
  );
  expect(second.rows.map((row) => row.sent_at)).toEqual(
    mail.mailer.truth
      .campaigns()
      .map((row) => row.sent_at)
      .filter((sentAt) => String(sentAt) >= "2026-05-01T15:00:00.000000Z"),
  );
  expect(second.states.at(-1)).toEqual({ cursor: "2026-06-02T10:00:00.000000Z" });
  // Two pages, and the one that was fetched ahead.
  expect(mail.mailer.requests.length - before).toBe(3);
});

test("an incremental read of opens gets late opens of old campaigns, and asks each quiet campaign once", async () => {
  await using mail = await start({ campaigns: 12, opensPerCampaign: 250 });
  const config = { lookback_days: 0 };
  const first = await mail.run.read("campaign_opens", { syncMode: "incremental", config });
  expect(first.rows).toHaveLength(12 * 250);

  const oldest = String(mail.mailer.truth.campaigns().at(-1)?.uuid);
  mail.mailer.mutate.addOpen(oldest, "2026-06-03T08:00:00Z");
  const before = mail.mailer.requests.length;
  const second = await mail.run.read("campaign_opens", {
    syncMode: "incremental",
    config,
    state: first.states.at(-1) ?? {},
  });
  expect(second.rows).toEqual([
    expect.objectContaining({
      campaign_uuid: oldest,
      first_opened_at: "2026-06-03T08:00:00.000000Z",
    }),
  ]);
  expect(second.states.at(-1)).toEqual({ cursor: "2026-06-03T08:00:00.000000Z" });
  expect(
    paths(mail.mailer)
      .slice(before)
      .filter((path) => path.includes("page=2")),
  ).toEqual([expect.stringContaining(oldest)]);
});

test("an open that arrives while others are read comes at the latest with the next read", async () => {
  await using mail = await start({ campaigns: 12, opensPerCampaign: 3 });
  const read = { syncMode: "incremental", config: { ...everything, lookback_days: 0 } } as const;
  const uuids = mail.mailer.truth
    .campaigns()
    .map((row) => String(row.uuid))
    .sort();
  changeAfter(mail.mailer, 6, "/opens", () => {
    mail.mailer.mutate.addOpen(uuids.at(0) ?? "", "2026-06-01T00:00:01Z"); // already read
    mail.mailer.mutate.addOpen(uuids.at(-1) ?? "", "2026-06-01T00:00:02Z"); // not yet
  });
  const first = await mail.run.read("campaign_opens", { ...read });
  const second = await mail.run.read("campaign_opens", {
    ...read,
    state: first.states.at(-1) ?? {},
  });
  expectTruth(mail.mailer, "campaign_opens", [...first.rows, ...second.rows]);
});

test("a pass that crashed and went on much later leaves no gap behind", async () => {
  await using mail = await start({ campaigns: 12, opensPerCampaign: 3 });
  const read = { syncMode: "incremental", config: { ...everything, lookback_days: 0 } } as const;
  const uuids = mail.mailer.truth
    .campaigns()
    .map((row) => String(row.uuid))
    .sort();
  const crashed = await mail.run.read("campaign_opens", { ...read, stopAfter: 11 });
  // of a campaign that was done
  mail.mailer.mutate.addOpen(uuids.at(0) ?? "", "2026-07-01T00:00:00Z");
  mail.mailer.mutate.addOpen(uuids.at(-1) ?? "", "2026-07-02T00:00:00Z");
  const resumed = await mail.run.read("campaign_opens", {
    ...read,
    state: crashed.states.at(-1) ?? {},
  });
  const next = await mail.run.read("campaign_opens", {
    ...read,
    state: resumed.states.at(-1) ?? {},
  });
  expectTruth(mail.mailer, "campaign_opens", [
    ...crashed.coveredRows,
    ...resumed.rows,
    ...next.rows,
  ]);
});

test("campaigns that were not sent can be read in full only, and none is asked for opens", async () => {
  await using mail = await start({ drafts: 3 });
  const config = { campaign_status: "all" } as const;
  const [campaigns] = (await mail.run.discover({ config })).filter(
    ({ name }) => name === "campaigns",
  );
  expect(campaigns?.supported_sync_modes).toEqual(["full_refresh"]);
  await mail.run.read("campaign_opens", { config });
  for (const { uuid } of mail.mailer.truth.campaigns("draft"))
    expect(paths(mail.mailer).join()).not.toContain(String(uuid));
});

test("an incremental read leaves a campaign that is being sent to the next one", async () => {
  await using mail = await start({ campaigns: 3 });
  const [sending] = mail.mailer.truth.campaigns().map(({ uuid }) => String(uuid));
  mail.mailer.mutate.updateCampaign(sending ?? "", {
    updatedAt: "2026-06-01T00:00:00Z",
    status: "sending",
  });
  const first = await mail.run.read("campaigns", { syncMode: "incremental", config: everything });
  expect(first.rows).toHaveLength(2);
  mail.mailer.mutate.updateCampaign(sending ?? "", {
    updatedAt: "2026-06-01T01:00:00Z",
    status: "sent",
  });
  const second = await mail.run.read("campaigns", {
    syncMode: "incremental",
    config: everything,
    state: first.states.at(-1) ?? {},
  });
  expectTruth(mail.mailer, "campaigns", [...first.rows, ...second.rows]);
});

test.each([
  "campaigns",
  "campaign_opens",
])("%s: no state goes backwards, whatever the saved cursor", async (name) => {
  await using mail = await start();
  for (const cursor of ["2026-05-20T00:00:00.000000Z", "2099-01-01T00:00:00.000000Z"]) {
    const { states, rows } = await mail.run.read(name, {
      syncMode: "incremental",
      state: { cursor },
      config: { lookback_days: 0 },
    });
    expect(states.every((state) => String((state as { cursor?: string }).cursor) >= cursor)).toBe(
      true,
    );
    if (cursor.startsWith("2099")) expect(rows).toEqual([]);
  }
});

test("an empty account is read without rows, and an empty incremental read keeps its state", async () => {
  await using mail = await start({
    lists: 0,
    campaigns: 0,
    drafts: 0,
    scheduled: 0,
    sends: 0,
    templates: 0,
    automations: 0,
    transactionalMails: 0,
  });
  for (const name of names) expect((await mail.run.read(name)).rows).toEqual([]);
  const state = { cursor: "2026-05-20T00:00:00.123456Z" };
  expect(
    (await mail.run.read("campaigns", { syncMode: "incremental", state })).states.at(-1),
  ).toEqual(state);
  expect(
    (await mail.run.read("campaign_opens", { syncMode: "incremental", state })).states.at(-1),
  ).toEqual(state);
});

test.each([
  4, 5, 9,
])("rows deleted while pages are read hide no other row (after answer %i)", async (at) => {
  await using mail = await start({ campaigns: 20 });
  const gone = mail.mailer.truth
    .campaigns()
    .slice(0, 3)
    .map((row) => String(row.uuid));
  changeAfter(mail.mailer, at, "/campaigns", () => {
    for (const uuid of gone) mail.mailer.mutate.removeCampaign(uuid);
  });
  const { rows } = await mail.run.read("campaigns", { config: { ...everything, page_size: 2 } });
  expect(rows.map((row) => row.uuid)).toEqual(
    expect.arrayContaining(mail.mailer.truth.campaigns().map((row) => row.uuid)),
  );
});

test("rows deleted between a crash and the next run hide no other row", async () => {
  await using mail = await start({ campaigns: 20, drafts: 0, scheduled: 0 });
  const config = { ...everything, page_size: 1 };
  const crashed = await mail.run.read("campaigns", { config, stopAfter: 2 });
  for (const { uuid } of crashed.coveredRows.slice(0, 3))
    mail.mailer.mutate.removeCampaign(String(uuid));
  const resumed = await mail.run.read("campaigns", { config, state: crashed.states.at(-1) ?? {} });
  const uuids = [...crashed.coveredRows, ...resumed.rows].map((row) => row.uuid);
  expect(uuids).toEqual(
    expect.arrayContaining(mail.mailer.truth.campaigns().map((row) => row.uuid)),
  );
  expect(crashed.coveredRows).toHaveLength(10);
});

test("a row inserted while pages are read doubles no other row", async () => {
  await using mail = await start({ campaigns: 20 });
  changeAfter(mail.mailer, 3, "/campaigns", () =>
    mail.mailer.mutate.addCampaign({ sentAt: "2026-06-02T00:00:00Z" }),
  );
  const { rows } = await mail.run.read("campaigns", { config: { page_size: 2 } });
  expect(rows).toHaveLength(20);
  expect(new Set(rows.map((row) => row.uuid)).size).toBe(20);
});

test.each(
  perCampaign,
)("%s: a campaign deleted since it was listed is passed over", async (name) => {
  await using mail = await start({ campaigns: 6 });
  const last = mail.mailer.truth
    .campaigns()
    .map((row) => String(row.uuid))
    .sort()
    .at(-1);
  changeAfter(mail.mailer, 1, "/campaigns?", () => mail.mailer.mutate.removeCampaign(String(last)));
  const { rows } = await mail.run.read(name, { config: everything });
  expectTruth(mail.mailer, name, rows);
});

test.each(names)("an old server's quirks in %s are mended", async (name) => {
  await using mail = await start({ version: "v5" });
  const { rows } = await mail.run.read(name, { config: { ...everything, page_size: 2 } });
  expectTruth(mail.mailer, name, rows);
});

test("a server without bounces leaves that stream empty and says so", async () => {
  await using mail = await start({ version: "v5" });
  const { rows, warnings } = await mail.run.read("campaign_bounces");
  expect(rows).toEqual([]);
  expect(warnings).toEqual([expect.stringContaining("unavailable")]);
});

test("a single 404 is not taken for a missing route", async () => {
  await using mail = await start();
  for (const after of [0, 2]) {
    mail.mailer.faults.inject({ type: "status", status: 404 }, { path: "/bounces", after });
    await expect(mail.run.read("campaign_bounces")).rejects.toEqual(code("RESOURCE_NOT_FOUND"));
  }
});

test("check passes with two requests that read", async () => {
  await using mail = await start();
  await mail.run.check();
  expect(paths(mail.mailer)).toEqual(["/api/user", "/api/email-lists?per_page=1"]);
});

test("check names what is wrong with a token", async () => {
  await using mail = await start();
  await expect(mail.run.check({ config: { api_token: mail.mailer.badToken } })).rejects.toEqual(
    code("CREDENTIALS_REJECTED"),
  );
  await expect(
    mail.run.check({ config: { api_token: mail.mailer.sendOnlyToken } }),
  ).rejects.toEqual(code("PERMISSION_DENIED"));
});

test.each([
  "/user",
  "/email-lists",
  "/campaigns",
  "/opens",
])("answers to %s that are no listing fail, they are not empty", async (path) => {
  await using mail = await start();
  const attempt = () =>
    ["/user", "/email-lists"].includes(path) ? mail.run.check() : mail.run.read("campaign_opens");
  const bodies = [
    "",
    "null",
    "[]",
    "{}",
    '{"data":null}',
    '{"data":{},"meta":{}}',
    '{"ok":false,"errors":["x"]}',
  ];
  for (const body of path === "/user" ? bodies.slice(0, 5) : bodies) {
    mail.mailer.faults.inject({ type: "status", status: 200, body }, { path });
    await expect(attempt(), body).rejects.toEqual(code("RESPONSE_INVALID"));
  }
  mail.mailer.faults.inject({ type: "html" }, { path });
  await expect(attempt()).rejects.toEqual(code("RESPONSE_INVALID"));
});

test("a server that ignores the page number is found out", async () => {
  await using mail = await start({ sends: 3 });
  const page = { data: [], meta: { current_page: 1, last_page: 2, per_page: 2, total: 3 } };
  mail.mailer.faults.inject(
    { type: "status", status: 200, body: JSON.stringify(page) },
    { path: "/sends", times: 2 },
  );
  await expect(mail.run.read("sends")).rejects.toEqual(code("RESPONSE_INVALID"));
});

test.each([
  "full_refresh",
  "incremental",
] as const)("what the sandboxed connector reads (%s) is what an inline one reads", async (syncMode) => {
  await using mail = await start({}, "process");
  const { rows, states } = await mail.run.read("campaign_opens", { config: everything, syncMode });
  expectTruth(mail.mailer, "campaign_opens", rows);
  expect(states.at(-1)).toEqual(
    syncMode === "incremental" ? { cursor: "2026-06-01T00:00:00.000000Z" } : {},
  );
});

const faults: [Fault, string][] = [
  [{ type: "echo_authorization" }, "CREDENTIALS_REJECTED"],
  [{ type: "stack_trace" }, "PROVIDER_UNAVAILABLE"],
  [{ type: "malformed_json" }, "RESPONSE_INVALID"],
  [{ type: "html" }, "RESPONSE_INVALID"],
  [{ type: "redirect" }, "REDIRECT_REFUSED"],
  [{ type: "reset" }, "CONNECTION_FAILED"],
  [{ type: "truncated" }, "CONNECTION_FAILED"],
  [{ type: "gzip_bomb", bytes: 2 ** 28 }, "RESPONSE_TOO_LARGE"],
  [{ type: "status", status: 422, body: '{"message":"no","errors":{}}' }, "REQUEST_REJECTED"],
  [{ type: "status", status: 429 }, "RATE_LIMITED"],
];
test.each(
  faults,
)("a provider that fails with %o fails check and read alike, and nothing of its answer gets out", async (fault, expected) => {
  await using mail = await start();
  for (const attempt of [() => mail.run.check(), () => mail.run.read("email_lists")]) {
    mail.mailer.faults.inject(fault, { path: "/email-lists", times: 50 });
    const error = await attempt().then(
      () => undefined,
      (failure: unknown) => failure,
    );
    expect(error).toEqual(code(expected));
    expect(JSON.stringify(error)).not.toMatch(/Simulated|vendor|SQLSTATE|169\.254|<html|"no"/);
    mail.mailer.faults.clear();
  }
});

test.each([
  { type: "reset" },
  { type: "truncated" },
  { type: "stack_trace" },
] as const)("a passing %o costs no row", async (fault) => {
  await using mail = await start();
  mail.mailer.faults.inject(fault, { path: "/opens", after: 2, times: 2 });
  const { rows } = await mail.run.read("campaign_opens", { config: everything });
  expectTruth(mail.mailer, "campaign_opens", rows);
});
