/**
 * Pictures of every page of the console in every state, for people to look at:
 * CONSOLE_PICTURES=folder npx vitest run --project long tests/console-pictures.long.test.ts
 */
import type { Page, Route } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { examples } from "../control/contract/examples.ts";
import {
  barriers,
  type ConsoleInBrowser,
  executable,
  loaded,
  picture,
  pictures,
  settled,
  startConsole,
} from "./console-browser.ts";
import { soon } from "./soon.ts";

let at: ConsoleInBrowser;
/** Addresses of all pages, by what their pictures are called. */
let pages: Readonly<Record<string, string>>;

beforeAll(async () => {
  if (executable === undefined || pictures === undefined) return;
  at = await startConsole(executable);
  pages = await everything();
});
afterAll(() => at?.[Symbol.asyncDispose]());

/** One of everything that has a page. */
async function everything(): Promise<Readonly<Record<string, string>>> {
  const until = (isOver: () => Promise<boolean>) => vi.waitUntil(isOver, soon);
  const make = (path: string, body: object) => at.must("POST", path, { body });
  const { source, destination, pipeline } = await at.makePipeline("Mailer");
  const job = await at.sync(pipeline);
  await make("/connectors", examples["connector.create"] as object);
  const { modelId } = await make("/reverse-etl/models", {
    name: "Campaigns",
    warehouseId: destination,
    queryType: "raw_sql",
    raw: { sql: "SELECT uuid, status\nFROM _svc_campaigns" },
    primaryKey: "uuid",
  });
  const { credential_handle: credentialHandle } = await make("/credentials", {
    connector_id: "conn_webhook",
    name: "Webhook",
    secrets: { signing_secret: at.webhook.secret },
  });
  const { destinationId } = await make("/reverse-etl/destinations", {
    name: "Webhook",
    type: "webhook",
    credentialHandle,
    configuration: { url: at.webhook.url },
  });
  const { activationId } = await make("/reverse-etl/activations", {
    name: "Campaigns to Webhook",
    modelId,
    destinationId,
    object: "rows",
    operation: "upsert",
    mappings: [{ from: "uuid", to: "uuid", isPrimaryIdentifier: true }],
    schedule: { type: "basic", units: 6, time_unit: "hours" },
  });
  at.webhook.faults.inject({ type: "status", status: 422 }, { times: 1 });
  const { runId } = await make(`/reverse-etl/activations/${activationId}/run`, { dryRun: false });
  await until(async () => (await at.must("GET", `/reverse-etl/runs/${runId}`)).finishedAt !== null);
  const { approval_id } = await at.must("PATCH", `/pipelines/${pipeline}`, {
    token: at.api.first.tokens.agent,
    headers: { "x-svc-client": "mcp" },
    body: { name: "Hourly", schedule: { type: "basic", units: 1, time_unit: "hours" } },
  });
  await make(`/workspaces/${at.api.first.id}/members/invitations`, {
    email: "new@example.com",
    role: "editor",
  });
  const { webhook_endpoint_id } = await make("/webhook-endpoints", {
    name: "Pager",
    url: at.webhook.url,
  });
  // A source that has lost its login, and the job that shows it.
  const broken = await at.makePipeline("Shop");
  const { credential_handle } = await at.must("GET", `/sources/${broken.source}`);
  await make("/credentials/mailer/api-token", {
    api_token: "a-token-that-was-taken-back",
    credential_handle,
  });
  const { job: failed } = await make(`/pipelines/${broken.pipeline}/sync`, {});
  await until(async () => (await at.must("GET", `/jobs/${failed.job_id}`)).status === "failed");
  return {
    home: "",
    sources: "sources",
    source: `sources/${source}`,
    "source-choose": "sources/new",
    "source-new": "sources/new/conn_postgres",
    destinations: "destinations",
    destination: `destinations/${destination}`,
    "destination-new": "destinations/new/conn_duckdb",
    connectors: "connectors",
    connector: "connectors/conn_orders",
    "connector-new": "connectors/new",
    "connector-replace": "connectors/conn_orders/replace",
    pipelines: "pipelines",
    pipeline: `pipelines/${pipeline}`,
    "pipeline-new": `pipelines/new/source/${source}`,
    jobs: "jobs",
    job: `jobs/${job}`,
    "job-failed": `jobs/${failed.job_id}`,
    activations: "activations",
    models: "models",
    receivers: "receivers",
    activation: `activations/${activationId}`,
    "activation-new": "activations/new",
    model: `models/${modelId}`,
    "model-new": "models/new",
    receiver: `receivers/${destinationId}`,
    "receiver-new": "receivers/new",
    run: `runs/${runId}`,
    approvals: "approvals",
    approval: `approvals/${approval_id}`,
    people: "people",
    access: "access",
    notifications: "notifications",
    webhook: `webhooks/${webhook_endpoint_id}`,
    workspace: "workspace",
    audit: "audit",
  };
}

const shapes = [
  [1440, "light"],
  [1440, "dark"],
  [360, "dark"],
] as const;

/** As it is now: wide in both colours, and narrow. Nothing is wider than the screen. */
async function takeAll(page: Page, name: string): Promise<void> {
  for (const [width, colorScheme] of shapes) {
    await page.setViewportSize({ width, height: width === 360 ? 740 : 900 });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    const excess = await page.evaluate(
      "document.documentElement.scrollWidth - document.documentElement.clientWidth",
    );
    expect.soft(excess, `${name} at ${width}`).toBe(0);
    await page.evaluate(settled);
    await picture(page, `${name}-${width}-${colorScheme}`);
  }
}

/** Whether it is of the frame around the pages, which is there in every state. */
const isOfFrame = (route: Route) => /\/v1\/(me|workspaces)(\?|$)/.test(route.request().url());

/** Goes to each page while the API answers in this way. */
async function walk(
  state: string,
  page: Page,
  answer: (route: Route) => unknown,
  isThere: (page: Page) => Promise<unknown>,
): Promise<void> {
  await page.route("**/control/v1/**", (route) =>
    isOfFrame(route) ? route.continue() : answer(route),
  );
  for (const [name, path] of Object.entries(pages)) {
    // Nothing is left of what another page has asked for.
    await page.goto("about:blank");
    await page.goto(`${at.url}/#/${path}`);
    await page.locator("h1").first().waitFor();
    await isThere(page).catch(() => undefined);
    await takeAll(page, `${state}-${name}`);
    // Pages through which no other test goes are in nobody's way either.
    expect.soft(await barriers(page), `${state} ${name}`).toEqual([]);
  }
}

const refusing = (status: number, message: string) => (route: Route) =>
  route.fulfill({
    status,
    json: { code: String(status), message, details: {}, request_id: "req_0123456789" },
  });

const why =
  executable === undefined
    ? "no Chromium"
    : "for people to look at: CONSOLE_PICTURES names the folder";

describe.skipIf(executable === undefined || pictures === undefined)(
  `pictures (else: ${why})`,
  () => {
    test("of all pages with all that there is", async () => {
      const { page } = await at.signedIn();
      await walk("full", page, (route) => route.continue(), loaded);
      await page.goto(`${at.url}/#/${pages.pipeline}`);
      for (const tab of ["Streams", "Settings"]) {
        await page.getByRole("tab", { name: tab }).click();
        await loaded(page);
        await takeAll(page, `full-pipeline-${tab.toLowerCase()}`);
      }
      await page.goto(`${at.url}/#/approvals`);
      for (const tab of ["Decided", "Policies"]) {
        await page.getByRole("tab", { name: tab }).click();
        await loaded(page);
        await takeAll(page, `full-approvals-${tab.toLowerCase()}`);
      }
      await page.goto(`${at.url}/#/${pages.activation}`);
      await page.getByRole("tab", { name: "What is sent" }).click();
      await loaded(page);
      await takeAll(page, "full-activation-settings");
    });

    test("of all pages where there is nothing yet", async () => {
      const { page } = await at.signedIn(at.api.second.users.admin);
      await walk("empty", page, (route) => route.continue(), loaded);
    });

    test("of all pages while they wait", async () => {
      const { page } = await at.signedIn();
      await walk(
        "loading",
        page,
        () => undefined,
        (at) => at.locator("[aria-busy=true]").first().waitFor({ timeout: 2_000 }),
      );
    });

    test("of all pages when the server fails, and when it refuses", async () => {
      const alert = (at: Page) => at.getByRole("alert").first().waitFor({ timeout: 6_000 });
      for (const [status, message] of [
        [500, "internal error"],
        [403, "permission denied"],
      ] as const) {
        const { page } = await at.signedIn();
        await walk(status === 500 ? "failed" : "forbidden", page, refusing(status, message), alert);
      }
    });

    test("of all pages for who may only look", async () => {
      const { page } = await at.signedIn(at.api.first.users.viewer);
      await walk("viewer", page, (route) => route.continue(), loaded);
    });

    test("of a session that has ended, and of what somebody else has changed", async () => {
      const { page } = await at.signedIn();
      const forms = [
        ["pipeline", `/pipelines/${pages.pipeline?.split("/")[1]}`, "Save"],
        ["source", `/sources/${pages.source?.split("/")[1]}`, "Save & Test"],
        ["destination", `/destinations/${pages.destination?.split("/")[1]}`, "Save & Test"],
        ["model", `/reverse-etl/models/${pages.model?.split("/")[1]}`, "Save"],
        ["receiver", `/reverse-etl/destinations/${pages.receiver?.split("/")[1]}`, "Save & Test"],
        ["activation", `/reverse-etl/activations/${pages.activation?.split("/")[1]}`, "Save"],
      ] as const;
      for (const [name, path, label] of forms) {
        await page.goto(`${at.url}/#/${pages[name]}`);
        if (name === "pipeline") await page.getByRole("tab", { name: "Settings" }).click();
        if (name === "activation") await page.getByRole("tab", { name: "What is sent" }).click();
        await loaded(page);
        await page.getByLabel("Name").fill("Mine");
        await at.must("PATCH", path, { body: { name: `Theirs of ${name}` } });
        await page.getByRole("button", { name: label, exact: true }).click();
        await page.getByText("Somebody else has changed it").waitFor();
        await takeAll(page, `meanwhile-${name}`);
      }
      await page.route("**/control/v1/**", (route) =>
        isOfFrame(route) ? route.continue() : refusing(401, "unauthenticated")(route),
      );
      await page.goto(`${at.url}/#/sources/new/conn_postgres`);
      await page.getByRole("dialog", { name: "Your session has ended" }).waitFor();
      await takeAll(page, "ended");
    });
  },
);
