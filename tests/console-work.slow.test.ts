/** The console in a real browser: what people do there after the first rows. */
import { sql } from "kysely";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { examples } from "../control/contract/examples.ts";
import { publishFacts } from "../control/events/publish.ts";
import {
  barriers,
  type ConsoleInBrowser,
  executable,
  expectNone,
  loaded,
  look,
  picture,
  startConsole,
  textOf,
} from "./console-browser.ts";
import { skipUnlessWhole } from "./effort.ts";
import { soon } from "./soon.ts";

let at: ConsoleInBrowser;
/** Ids of what everybody works with. */
let source: string;
let destination: string;
let pipeline: string;

beforeAll(async () => {
  if (executable === undefined) return;
  at = await startConsole(executable);
  ({ source, destination, pipeline } = await at.makePipeline("Mailer"));
  await at.sync(pipeline);
});
afterAll(() => at?.[Symbol.asyncDispose]());

const asAgent = () => ({
  token: at.api.first.tokens.agent,
  headers: { "x-svc-client": "mcp" },
});

const isDone = (page: Page) => page.locator(".head").getByText("Succeeded").waitFor();

/** Goes on by the keyboard until what has this name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press("Tab");
    const here = await page.evaluate(
      "(document.activeElement?.labels?.[0]?.innerText ?? '') + ' ' + (document.activeElement?.getAttribute('aria-label') ?? '') + ' ' + (document.activeElement?.innerText ?? '')",
    );
    if (String(here).includes(name)) return;
  }
  throw new Error(`The keyboard does not lead to ${name}.`);
}

describe.skipIf(executable === undefined)("work in the console (else: no Chromium)", () => {
  test("a job that fails says why; the page of its source mends it, and a wrong secret takes no good one's place", async (task) => {
    skipUnlessWhole(task);
    const { page, complaints } = await at.signedIn();
    await page.goto(`${at.url}/#/sources/${source}`);
    await page.getByRole("textbox", { name: "API token" }).fill("wrong-token-of-somebody");
    await page.getByRole("button", { name: "Save & Test" }).click();
    await page.getByRole("alert").first().waitFor();
    // The good one is still there.
    expect((await at.must("POST", `/sources/${source}/check`)).status).toBe("succeeded");

    const { credential_handle } = await at.must("GET", `/sources/${source}`);
    await at.must("POST", "/credentials/mailer/api-token", {
      body: { api_token: "a-token-that-was-taken-back", credential_handle },
    });
    await page.goto(`${at.url}/#/pipelines/${pipeline}`);
    await page.getByRole("button", { name: "Sync now" }).click();
    await page.getByText("Why it failed").waitFor();
    await look(page, "job-failed");
    await page.getByRole("link", { name: "Open its source to mend it" }).click();
    await page.getByRole("textbox", { name: "API token" }).fill(at.mailer.token);
    await page.getByRole("button", { name: "Save & Test" }).click();
    await page.getByText("Mailer works and was saved.").waitFor();
    await page.goto(`${at.url}/#/pipelines/${pipeline}`);
    await page.getByRole("button", { name: "Sync now" }).click();
    await isDone(page);
    // The credential that was replaced is not left behind.
    expect((await at.must("GET", "/credentials")).items).toHaveLength(1);
    expectNone(complaints);
  });

  test("one stream is read anew from the pipeline's page, and others are left alone", async (task) => {
    skipUnlessWhole(task);
    const { page } = await at.signedIn();
    await page.goto(`${at.url}/#/pipelines/${pipeline}`);
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Read, reset or clear streams" }).click();
    const dialog = page.getByRole("dialog", { name: "Some streams from the beginning" });
    await dialog.getByLabel("tags").check();
    expect(await barriers(page)).toEqual([]);
    await picture(page, "stream-runs");
    await dialog.getByRole("button", { name: "Read anew: 1 stream" }).click();
    await page.getByRole("heading", { name: /^Refresh of/ }).waitFor();
    await isDone(page);
    await page.getByRole("heading", { name: "Streams, 1 of 1 done" }).waitFor();
  });

  test("a pipeline that pauses when its source changes says what has changed, and goes on when it is resumed", async (task) => {
    skipUnlessWhole(task);
    const { pipeline: id } = await at.makePipeline("Changing");
    await at.must("PATCH", `/pipelines/${id}`, { body: { schema_change_policy: "pause" } });
    // As if the source had got its column since, and lost another, whose name means harm.
    const hostile = "<img src=x onerror=alert(1)>";
    const streams = at.api.db.updateTable("pipeline_streams");
    await streams
      .set({
        stream: sql`jsonb_set(stream #- '{json_schema,properties,name}', ${sql.lit(`{json_schema,properties,${hostile}}`)}, '{"type":"string"}')`,
      })
      .where("pipeline_id", "=", id)
      .where("name", "=", "tags")
      .execute();
    const { page, complaints } = await at.signedIn();
    await page.goto(`${at.url}/#/pipelines/${id}`);
    await page.getByRole("button", { name: "Sync now" }).click();
    await page.getByText("Why it failed").waitFor();
    await publishFacts(at.api.control.services);
    await page.goto(`${at.url}/#/pipelines/${id}`);
    await page.getByText("Its source has changed. Resuming accepts what has changed.").waitFor();
    const news = page.locator("section").filter({ hasText: "What has changed at the source" });
    await news.getByText("tags has a new column: name.").waitFor();
    await news.getByText(`tags has the column ${hostile} no more.`).waitFor();
    expect(await page.locator("main img").count()).toBe(0);
    await look(page, "pipeline-changed");
    await page.goto(`${at.url}/#/`);
    await page.getByText("svc has paused it. Its source has changed.").waitFor();
    await page.goto(`${at.url}/#/pipelines/${id}`);
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByText("It goes on.").waitFor();
    await page.getByRole("button", { name: "Sync now" }).click();
    await isDone(page);
    await at.must(
      "DELETE",
      `/connections/${(await at.must("GET", `/pipelines/${id}`)).connection_id}`,
    );
    expectNone(complaints);
  });

  test("what an agent proposes is seen as what it changes, and done when it is approved", async () => {
    const proposed = await at.must("PATCH", `/pipelines/${pipeline}`, {
      ...asAgent(),
      body: {
        name: "Hourly <b>mail</b>",
        schedule: { type: "basic", units: 1, time_unit: "hours" },
      },
    });
    expect(proposed.status).toBe("pending");
    const { page, complaints } = await at.signedIn();
    const waiting = page.locator("section").filter({ hasText: "Waits for your decision" });
    await waiting.getByText("through an agent").waitFor();
    await waiting.getByRole("link").click();
    await page.getByRole("heading", { name: "What would change" }).waitFor();
    await page.locator("del", { hasText: "Mailer to warehouse" }).waitFor();
    await page.locator("ins", { hasText: "Hourly <b>mail</b>" }).waitFor();
    await look(page, "approval");
    await page.getByLabel("Reason").fill("It is read by the hour.");
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByText("It was approved and carried out").waitFor();
    const now = await at.must("GET", `/pipelines/${pipeline}`);
    expect([now.name, now.schedule.time_unit]).toEqual(["Hourly <b>mail</b>", "hours"]);

    const again = await at.must("DELETE", `/connections/${now.connection_id}`, asAgent());
    await page.goto(`${at.url}/#/approvals`);
    await page.getByRole("link", { name: /Delete a connection/ }).click();
    await page.getByRole("button", { name: "Reject" }).click();
    await page.getByRole("alert").getByText("Rejected", { exact: true }).waitFor();
    expect((await at.must("GET", `/approvals/${again.approval_id}`)).status).toBe("rejected");
    await page.getByRole("link", { name: "Approvals", exact: true }).first().click();
    await page.getByRole("tab", { name: "Decided" }).click();
    await page.locator(".rows").getByText("Rejected", { exact: true }).waitFor();
    await look(page, "approvals");
    await page.getByRole("tab", { name: "Policies" }).click();
    const policy = page.getByRole("switch", { name: "Manual sync runs: needs approval" });
    await policy.waitFor();
    await look(page, "policies");
    await policy.click({ force: true });
    await page.getByText("Agents do it at once now: Manual sync runs.").waitFor();
    await at.must("PATCH", "/approval-policies/sync_run", { body: { requires_approval: true } });
    expectNone(complaints);
  });

  /** Who is invited opens the console with what was handed on, leaves, and asks for a link. */
  async function accepts(invitation: string): Promise<void> {
    const { page, complaints } = await at.open();
    await page.goto(at.url);
    await page.getByLabel("Access token or invitation").fill(invitation);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
    await page.getByRole("button", { name: /friend/ }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByLabel("Or have a link mailed").fill("friend@example.com");
    await page.getByRole("button", { name: "Mail me a link" }).click();
    await page.getByText("This instance sends no mail").waitFor();
    expect(await barriers(page)).toEqual([]);
    expectNone(complaints.filter((one) => !one.includes("401")));
  }

  test("people are invited, a token is shown once and revoked, and the log is verified in the browser", async (task) => {
    skipUnlessWhole(task);
    const { page, complaints } = await at.signedIn();
    await page.goto(`${at.url}/#/people`);
    await page.getByRole("button", { name: "Invite somebody" }).click();
    await page.getByLabel("E-mail address").fill("new@example.com");
    expect(await barriers(page)).toEqual([]);
    await page.getByRole("button", { name: "Invite", exact: true }).click();
    // No mail server brings the link.
    const handOn = async () => {
      const text = await textOf(page.getByLabel("The link"));
      expect(await barriers(page)).toEqual([]);
      await page.getByRole("button", { name: "I have kept it" }).click();
      return text;
    };
    const first = await handOn();
    await page.getByText("new@example.com", { exact: true }).waitFor();
    await look(page, "people");
    await page.getByRole("button", { name: "Send again to new@example.com" }).click();
    await page.getByText("Sent again.").waitFor();
    expect(await handOn()).not.toBe(first);
    await page.getByRole("button", { name: "Withdraw the invitation of new@example.com" }).click();
    const withdraw = page.getByRole("dialog", { name: /^Withdraw the invitation/ });
    await withdraw.getByRole("button", { name: "Withdraw" }).click();
    await page.getByText("No invitation is open.").waitFor();
    await page.getByRole("button", { name: "Invite somebody" }).click();
    await page.getByLabel("E-mail address").fill("friend@example.com");
    await page.getByRole("button", { name: "Invite", exact: true }).click();
    await accepts(await handOn());
    const role = page.getByLabel("Role of viewer of first");
    await role.selectOption("runner");
    await page.getByText("viewer of first is runner now.").waitFor();
    await role.selectOption("viewer");
    await page.getByText("viewer of first is viewer now.").waitFor();

    await page.goto(`${at.url}/#/access`);
    await page.getByText("This one").waitFor();
    await page.getByRole("button", { name: "Create a token" }).click();
    await page.getByLabel("Name").fill("Helper");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    const shown = page.locator("output.token");
    const token = await textOf(shown);
    expect(await barriers(page)).toEqual([]);
    expect((await at.must("GET", "/me", { token })).session.client).toBe("mcp");
    await page.getByRole("button", { name: "I have kept it" }).click();
    expect(await page.locator("body").innerText()).not.toContain(token);
    await look(page, "access");
    await page.getByRole("button", { name: "Revoke Helper" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page.getByText("It has ended.").waitFor();
    expect((await at.api.call("GET", "/me", { token })).status).toBe(401);

    await page.goto(`${at.url}/#/audit`);
    await page.getByRole("button", { name: "Verify and export" }).click();
    await page.getByText("It is what was written").waitFor();
    await look(page, "audit");
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save the file" }).click();
    expect((await download).suggestedFilename()).toMatch(/^audit-log-.*\.jsonl$/);
    await page.getByLabel("Outcome").selectOption("failure");
    await page.getByRole("button", { name: "Clear filters" }).waitFor();
    await page.route("**/audit-logs/export", async (route) => {
      const response = await route.fetch();
      const lines = (await response.text()).split("\n");
      lines[3] = (lines[3] ?? "").replace('"outcome":"success"', '"outcome":"denied"');
      await route.fulfill({ response, body: lines.join("\n") });
    });
    await page.getByRole("button", { name: "Verify and export" }).click();
    await page.getByText("Entry 3 was changed").waitFor();
    expectNone(complaints);
  });

  test("who may only look is offered nothing else, and is told whom to ask", async () => {
    const { page } = await at.signedIn(at.api.first.users.viewer);
    for (const [path, text] of [
      ["people", "Administrators invite people"],
      ["approvals", "Administrators decide"],
      ["audit", "For administrators"],
      ["activations", "Nothing is sent back out yet"],
      [`pipelines/${pipeline}`, "What it does"],
    ]) {
      await page.goto(`${at.url}/#/${path}`);
      if (path === "approvals") {
        await page.getByRole("tab", { name: "Policies" }).click();
        await page.getByText("Only administrators change this").waitFor();
      } else
        await page
          .getByText(text ?? "")
          .first()
          .waitFor();
      await loaded(page);
      const buttons = await page.locator("main button:enabled").allInnerTexts();
      expect(
        buttons.filter(
          (one) =>
            !/^(Waiting|Decided|Policies|Activations|Models|Receivers|Overview|Streams|Settings)$/.test(
              one,
            ),
        ),
        path,
      ).toEqual([]);
    }
  });

  test("an account is connected in the provider's window, and its brands and channels must be chosen", async (task) => {
    skipUnlessWhole(task);
    const { page, complaints, context } = await at.signedIn();
    await page.goto(`${at.url}/#/sources/new/conn_social`);
    await page.getByLabel("Region").waitFor();
    const popup = context.waitForEvent("page");
    await page.getByRole("button", { name: "Connect Social" }).click();
    await page.getByText("The account is connected").waitFor();
    // Neither the code nor the state stays in the window's address.
    const back = await popup;
    if (!back.isClosed()) expect(back.url()).not.toMatch(/code|state/);
    await page.getByLabel("Portal").selectOption(at.social.portalId);
    await page.getByRole("button", { name: "Save & Test" }).click();
    await page.getByText("Choose at least one brand.").waitFor();
    await page.getByText("Choose at least one channel.").waitFor();
    await page.getByLabel("Brands").first().click();
    await page.locator("[role=option]:visible").first().click();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: /^All \d+ channels$/ }).click();
    await look(page, "account");
    await page.getByRole("button", { name: "Save & Test" }).click();
    await page.getByRole("heading", { name: "Login" }).waitFor();
    await page.getByText("A connected account").waitFor();
    await look(page, "account-saved");
    const { items } = await at.must("GET", "/sources?search=Social");
    const { portal_id, brand_ids, channel_ids } = items[0].configuration;
    expect(portal_id).toBe(at.social.portalId);
    expect([brand_ids.length, channel_ids.length > 1]).toEqual([1, true]);
    expectNone(complaints);
  });

  test("a window that the browser blocks is opened by hand, and what was begun can be given up", async (task) => {
    skipUnlessWhole(task);
    const { page, complaints } = await at.signedIn();
    await page.evaluate("window.open = () => null");
    await page.getByRole("link", { name: "Sources", exact: true }).first().click();
    await page.getByRole("link", { name: "Add a source" }).click();
    await page.getByRole("link", { name: /^Social/ }).click();
    await page.getByRole("button", { name: "Connect Social" }).click();
    await page.getByText("Your browser has blocked the window").waitFor();
    expect(await barriers(page)).toEqual([]);
    await picture(page, "blocked");
    await page.getByRole("button", { name: "Give up" }).click();
    await page.getByRole("button", { name: "Connect Social" }).click();
    await page.getByRole("link", { name: "Open it" }).click();
    await page.getByText("The account is connected").waitFor();
    expectNone(complaints);
  });

  test("rows are sent back out: a model, a receiver, what would be sent, and the rows that were refused", async (task) => {
    skipUnlessWhole(task);
    const { page, complaints } = await at.signedIn();
    await page.goto(`${at.url}/#/activations`);
    await page.getByRole("link", { name: "Write a model" }).click();
    await page.getByLabel("Name").fill("Campaigns");
    await page.getByLabel("SQL").fill("SELECT uuid, status FROM _svc_campaignz");
    await page.getByRole("button", { name: "Try it" }).click();
    await page.getByRole("alert").waitFor();
    await page.getByLabel("SQL").fill("SELECT uuid, status FROM ");
    await page.getByRole("button", { name: "Insert _svc_campaigns" }).click();
    await page.keyboard.press("Control+Enter");
    await page.getByRole("columnheader", { name: /^status/ }).waitFor();
    await look(page, "model");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Campaigns" }).waitFor();

    await page.goto(`${at.url}/#/receivers/new`);
    await page.getByLabel("URL").fill(at.webhook.url);
    await page.getByLabel("Signing secret").fill(at.webhook.secret);
    await look(page, "receiver");
    await page.getByRole("button", { name: "Save & Test" }).click();

    await page.getByRole("heading", { name: "What the next run would send" }).waitFor();
    await page.getByText("6 to add").waitFor();
    await look(page, "activation-new");
    await page.getByRole("button", { name: "Create the activation" }).click();
    await page.getByRole("button", { name: "Compare only" }).click();
    await page.getByText("Nothing was sent.").waitFor();
    expect(at.webhook.requests.length).toBe(0);
    await page.locator(".crumb a").click();
    await page.getByRole("button", { name: "Send now" }).click();
    await page.getByText("The difference to what is there: 6 to add.").waitFor();
    await page.locator(".head").getByText("Succeeded").waitFor();
    await look(page, "run");
    expect(at.webhook.requests.length).toBeGreaterThan(0);

    at.webhook.faults.inject({ type: "status", status: 422 }, { times: 1 });
    await page.locator(".crumb a").click();
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Send all rows again" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Send all" }).click();
    const refused = page.locator("section").filter({ hasText: "Refused rows" });
    await refused.getByRole("listitem").nth(5).waitFor();
    expect(await refused.getByText("Rejected").count()).toBe(6);
    await look(page, "run-refused");
    expectNone(complaints);
  });

  test("no form writes over what somebody else has changed meanwhile, unless one says so", async (task) => {
    skipUnlessWhole(task);
    const { page } = await at.signedIn();
    const byName = async (path: string, name: string) =>
      (await at.must("GET", path)).items.find((one: { name: string }) => one.name === name);
    const { modelId } = await byName("/reverse-etl/models", "Campaigns");
    const { destinationId } = await byName("/reverse-etl/destinations", "Webhook");
    const { activationId } = await byName("/reverse-etl/activations", "Campaigns to Webhook");
    for (const [place, path, button] of [
      [`destinations/${destination}`, `/destinations/${destination}`, "Save & Test"],
      [`models/${modelId}`, `/reverse-etl/models/${modelId}`, "Save"],
      [`receivers/${destinationId}`, `/reverse-etl/destinations/${destinationId}`, "Save & Test"],
      [`activations/${activationId}`, `/reverse-etl/activations/${activationId}`, "Save"],
    ] as const) {
      await page.goto(`${at.url}/#/${place}`);
      if (place.startsWith("activations"))
        await page.getByRole("tab", { name: "What is sent" }).click();
      await page.getByLabel("Name").fill("Mine");
      await at.must("PATCH", path, { body: { name: "Theirs" } });
      await page.getByRole("button", { name: button, exact: true }).click();
      const note = page.getByRole("alert").filter({ hasText: "Somebody else has changed it" });
      await note.locator("ins", { hasText: "Theirs" }).waitFor();
      expect(await page.getByLabel("Name").inputValue(), place).toBe("Mine");
      expect((await at.must("GET", path)).name, place).toBe("Theirs");
      if (place.startsWith("receivers")) expect(await barriers(page)).toEqual([]);
      await note.getByRole("button", { name: "Keep mine, and save over it" }).click();
      await vi.waitUntil(async () => (await at.must("GET", path)).name === "Mine", soon);
      expect(await note.count(), place).toBe(0);
    }

    await page.goto(`${at.url}/#/pipelines/${pipeline}`);
    await page.getByRole("tab", { name: "Streams" }).click();
    await page.getByLabel("Read tags").uncheck();
    await at.must("PATCH", `/pipelines/${pipeline}`, {
      body: { streams: [{ name: "campaigns" }] },
    });
    await page.getByRole("button", { name: "Save the streams" }).click();
    await page.locator("del", { hasText: "subscribers" }).waitFor();
    await page.getByRole("button", { name: "Load what it is now" }).click();
    await page.getByText("1 of 13 chosen").waitFor();
  });

  test("a connector that was added shows the kit's report, which an administrator gives it", async (task) => {
    skipUnlessWhole(task);
    const { manifest } = examples["connector.update"] as { manifest: string };
    await at.must("POST", "/connectors", { body: { name: "orders", manifest } });
    const { page, complaints } = await at.signedIn();
    await page.getByRole("link", { name: "Connectors" }).click();
    await page.getByRole("link", { name: /^orders/ }).click();
    await page.getByText("Nobody has given a report of it yet.").waitFor();
    await page.getByText("https://api.orders.example.com", { exact: true }).waitFor();
    const give = (text: string) =>
      page.locator("input[type=file]").setInputFiles({
        name: "report.json",
        mimeType: "application/json",
        buffer: Buffer.from(text),
      });
    await give("<html>");
    await page.getByText("report.json is no report.").waitFor();
    const { report } = examples["connector_report.create"] as { report: { rules: object[] } };
    const [rule] = report.rules;
    const rules = [
      rule,
      {
        ...rule,
        id: "PAGE-01",
        title: "<img src=x onerror=alert(1)>",
        result: "fail",
        problems: [{ sentence: "3 of 10 rows are missing. ".repeat(40_000), evidence: [] }],
      },
      { ...rule, id: "AUTH-03", result: "not-applicable", reason: "It uses no OAuth." },
    ];
    await give(JSON.stringify({ ...report, verdict: "failed", rules }));
    await page.getByText("The report does not say which code was tried").waitFor();
    await page.getByText("3 of 10 rows are missing.").waitFor();
    await page.getByText("Not applicable 1 rule").click();
    await page.getByText("It uses no OAuth.").waitFor();
    expect(await page.locator("main img").count()).toBe(0);
    await look(page, "connector");
    await page.getByRole("link", { name: "Add a source" }).click();
    await page.getByRole("textbox", { name: "API token" }).waitFor();
    expectNone(complaints);
  });

  test("the keyboard alone leads to a destination", async (task) => {
    skipUnlessWhole(task);
    const { page } = await at.signedIn();
    await tabTo(page, "Destinations");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Destinations" }).waitFor();
    await tabTo(page, "Add a destination");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Add a destination" }).waitFor();
    await tabTo(page, "DuckDB");
    await page.keyboard.press("Enter");
    await page.getByLabel("File").waitFor();
    await tabTo(page, "File");
    await page.keyboard.type("by-keyboard");
    await tabTo(page, "Save & Test");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Last check" }).waitFor();
  });

  test("6,000 streams with hostile names are drawn as they are seen, and do nothing", async () => {
    const { page, complaints } = await at.signedIn();
    const hostile = "<img src=x onerror=alert(1)>\u202e{{7*7}}";
    const streams = Array.from({ length: 6_000 }, (_, index) => ({
      name: index === 4_321 ? hostile : `stream_${index}`,
      namespace: "public",
      json_schema: { properties: { id: {}, name: {} } },
      supported_sync_modes: ["full_refresh"],
      source_defined_cursor: false,
      default_cursor_field: [],
      proposed_cursors: [],
      source_defined_primary_key: [["id"]],
      selected: false,
      suggested: true,
    }));
    await page.route("**/pipelines/prepare", (route) =>
      route.fulfill({
        json: {
          request_id: "r",
          data: {
            prepare_id: "prp_1",
            expires_at: "2030-01-01T00:00:00Z",
            catalog: { streams },
            next_cursor: null,
            has_more: false,
            table_count: 6_000,
            table_limit: 6_000,
            suggested_configuration: { streams: [] },
            warnings: [],
          },
        },
      }),
    );
    let dialogs = 0;
    page.on("dialog", (dialog) => {
      dialogs += 1;
      void dialog.dismiss();
    });
    await page.goto(`${at.url}/#/pipelines/new/source/${source}`);
    await page.getByLabel("To", { exact: true }).selectOption(destination);
    const list = page.getByLabel("Streams", { exact: true });
    await list.getByText("stream_0", { exact: true }).waitFor();
    expect(await list.locator(".stream").count()).toBeLessThan(30);
    // The elements of a row come and go with it: that is what scrolling costs.
    expect(await list.locator(".stream *").count()).toBeLessThan(30 * 24);
    await page.getByLabel("All", { exact: true }).check();
    await page.getByText("6,000 of 6,000 chosen").waitFor();
    await page.getByRole("textbox", { name: "Search streams" }).fill("onerror");
    await list.getByText("<img src=x").waitFor();
    expect(await page.locator("main img").count()).toBe(0);
    await picture(page, "hostile-stream");
    expect(dialogs).toBe(0);
    expectNone(complaints);
  });

  test("an error of a megabyte and a job that nobody knows stop no page", async (task) => {
    skipUnlessWhole(task);
    const { page } = await at.signedIn();
    const text = "<script>alert(1)</script> ".repeat(40_000);
    await page.route("**/audit-logs?*", (route) =>
      route.fulfill({
        status: 500,
        json: { code: "500", message: text, details: { reason: "internal" }, request_id: "r" },
      }),
    );
    await page.goto(`${at.url}/#/audit`);
    const alert = page.getByRole("alert").filter({ hasText: "<script>" });
    await alert.waitFor();
    expect((await alert.innerText()).length).toBeLessThan(2_000);
    await page.route("**/sources/*/check", (route) =>
      route.fulfill({
        status: 500,
        json: { code: "500", message: text, details: { reason: "internal" }, request_id: "r" },
      }),
    );
    await page.goto(`${at.url}/#/sources/${source}`);
    await page.getByRole("button", { name: "Check now" }).click();
    const corner = page.getByRole("alert").filter({ hasText: "It did not work" });
    await corner.waitFor();
    expect((await corner.innerText()).length).toBeLessThan(2_000);
    await page.goto(`${at.url}/#/jobs/job_nobody`);
    await page.getByText("Not here").waitFor();
  });

  test("a server that restarts takes away nothing that was typed", async (task) => {
    skipUnlessWhole(task);
    const { page } = await at.signedIn();
    await page.goto(`${at.url}/#/destinations/new/conn_duckdb`);
    await page.getByLabel("File").fill("through-a-restart");
    await at.stop();
    await page.getByRole("button", { name: "Save & Test" }).click();
    await page.getByText("No connection").waitFor();
    await at.start();
    await page.getByRole("button", { name: "Save & Test" }).click();
    await page.getByRole("heading", { name: "Last check" }).waitFor();
  });
});
