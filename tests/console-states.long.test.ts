/**
 * The console in a real browser: the keyboard alone, what fails, and what changes while one looks.
 */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { examples } from "../control/contract/examples.ts";
import {
  type ConsoleInBrowser,
  executable,
  expectNone,
  loaded,
  look,
  picture,
  startConsole,
} from "./console-browser.ts";

let at: ConsoleInBrowser;

beforeAll(async () => {
  if (executable !== undefined) at = await startConsole(executable);
});
afterAll(() => at?.[Symbol.asyncDispose]());

/** The focused element: its tag, its label and its text. Text, since it is the page's own code. */
const focused = `(({ activeElement: at, body }) => at === body ? "" : [at?.tagName,
  at?.labels?.[0]?.innerText, at?.getAttribute("aria-label"), at?.innerText].join(" ")
  .replaceAll("\\n", " "))(document)`;

/** Goes on by the keyboard until what has this name has the focus. */
async function tabTo(page: Page, name: RegExp, key = "Tab"): Promise<void> {
  const passed: unknown[] = [];
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press(key);
    const here = await page.evaluate(focused);
    if (name.test(String(here))) return;
    passed.push(here);
  }
  throw new Error(`The keyboard does not lead to ${name}, but to: ${passed.join(", ")}`);
}

async function press(page: Page, name: RegExp): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.press("Enter");
}

/** Takes away what a walk has made. */
async function clear(): Promise<void> {
  const items = async (path: string) => (await at.must("GET", path)).items;
  for (const one of await items("/pipelines"))
    await at.must("DELETE", `/connections/${one.connection_id}`);
  for (const one of await items("/sources")) await at.must("DELETE", `/sources/${one.source_id}`);
  for (const one of await items("/destinations"))
    await at.must("DELETE", `/destinations/${one.destination_id}`);
}

/** The page of this name, with all that it asked for. */
async function isAt(page: Page, name: string | RegExp): Promise<void> {
  await page.getByRole("heading", { level: 1, name }).waitFor();
  await loaded(page);
}

describe.skipIf(executable === undefined)("states of the console (else: no Chromium)", () => {
  test.each([
    1440, 360,
  ])("the keyboard alone leads from nothing to rows at %d pixels", async (width) => {
    await clear();
    const { page, complaints } = await at.signedIn();
    await page.setViewportSize({ width, height: 800 });
    await page.getByRole("heading", { name: "From nothing to rows" }).waitFor();
    await press(page, /Add a source/);
    await isAt(page, "Add a source");
    await press(page, /^A .*Mailer/);
    await page.getByLabel("Base URL").waitFor();
    await press(page, /Save & Test/);
    // Who has forgotten something is where it is missing, and goes on from there.
    await page.getByText("Fill this in.").first().waitFor();
    await expect.poll(() => page.evaluate(focused)).toContain("Base URL");
    await page.keyboard.type(`https://${at.mailer.hostname}/api`);
    await tabTo(page, /API token/);
    await page.keyboard.type(`${at.mailer.token}-of-another`);
    await page.keyboard.press("Enter");
    // The refusal of the provider is read first, where the keyboard is.
    await page.getByRole("alert").waitFor();
    await expect.poll(() => page.evaluate(focused)).toMatch(/^DIV /);
    await tabTo(page, /API token/, "Shift+Tab");
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.type(at.mailer.token);
    await page.keyboard.press("Enter");
    // The next step is seen at once, however narrow the screen is.
    const next = page.locator("main").getByRole("link", { name: "Add a destination" });
    await next.waitFor();
    const { y, height } = (await next.boundingBox()) ?? { y: Number.NaN, height: Number.NaN };
    expect(y).toBeGreaterThan(0);
    expect(y + height).toBeLessThan(800);
    await press(page, /Add a destination/);
    await isAt(page, "Add a destination");
    await press(page, /^A .*DuckDB/);
    await page.getByLabel("File").waitFor();
    await tabTo(page, /File/);
    await page.keyboard.type(`keys-${width}`);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Last check" }).waitFor();
    await page.getByRole("link", { name: "Create a pipeline" }).first().waitFor();
    await press(page, /Create a pipeline/);
    await page.getByText("13 of 13 chosen").waitFor();
    await press(page, /Create the pipeline/);
    await page.getByRole("button", { name: "Sync now" }).waitFor();
    await press(page, /Sync now/);
    await isAt(page, /^Sync of/);
    await page.locator(".head").getByText("Succeeded").waitFor();
    await press(page, /_svc_campaigns$/);
    await page.getByText("All 6 rows.").waitFor();
    await picture(page, `keyboard-${width}`);
    expect(await at.countRows(`keys-${width}`, "_svc_campaigns")).toBe(6);
    expectNone(complaints);
  });

  test("a page that cannot be shown says why, keeps its name, and leads back", async () => {
    const { page } = await at.signedIn();
    const pages = [
      ["sources/src_nobody", "Source", "Sources"],
      ["pipelines/pip_nobody", "Pipeline", "Pipelines"],
      ["jobs/job_nobody", "Job", "Jobs"],
      ["connectors/conn_nobody", "Connector", "Connectors"],
      ["destinations/dst_nobody", "Destination", "Destinations"],
      ["connectors/conn_nobody/replace", "Connector", "Connectors"],
      ["approvals/apr_nobody", "Approval", "Approvals"],
      ["activations/act_nobody", "Activation", "Reverse ETL"],
      ["models/mdl_nobody", "Model", "Models"],
      ["receivers/red_nobody", "Receiver", "Receivers"],
      ["runs/run_nobody", "Run", "Reverse ETL"],
    ] as const;
    const refusals = [
      { status: 404, text: "Not here", pages },
      {
        status: 403,
        message: "permission denied",
        text: "An administrator can change that",
        pages,
      },
      // It is asked again, which takes seconds: two pages tell of all.
      { status: 500, message: "internal error", text: "in the log", pages: pages.slice(0, 2) },
    ];
    for (const { status, message, text, pages } of refusals) {
      await page.unrouteAll();
      if (message !== undefined)
        await page.route(/control\/v1\/[a-z-]+\/[^?]/, (route) =>
          route.fulfill({
            status,
            json: { code: String(status), message, details: {}, request_id: "r" },
          }),
        );
      for (const [path, name, up] of pages) {
        await page.goto(`${at.url}/#/${path}`);
        await page.getByRole("alert").getByText(text).waitFor();
        await isAt(page, name);
        expect(await page.title(), path).toBe(`${name} · svc`);
        expect(await page.locator(".crumb a").innerText(), path).toBe(up);
      }
    }
    await picture(page, "no-page");
  });

  test("a manifest becomes a connector, is replaced and removed by who administers the instance, and by nobody else", async () => {
    const { page, complaints } = await at.signedIn();
    await page.goto(`${at.url}/#/connectors`);
    await page.getByRole("link", { name: "Add a connector" }).click();
    await isAt(page, "Add a connector");
    // The operator allows no image here.
    expect(await page.getByText("An image").count()).toBe(0);
    await page.getByRole("button", { name: "Add it" }).click();
    await page.getByText("Choose its file, or paste its text.").waitFor();
    const { manifest } = examples["connector.update"] as { manifest: string };
    await page.locator("input[type=file]").setInputFiles({
      name: "Source_Orders.YAML",
      mimeType: "application/yaml",
      buffer: Buffer.from("type: DeclarativeSource\nstreams: 7"),
    });
    await expect.poll(() => page.getByLabel("Name").inputValue()).toBe("orders");
    await page.getByRole("button", { name: "Add it" }).click();
    const note = page.getByRole("alert");
    await note.waitFor();
    expect(await note.innerText()).toMatch(/streams|version|check/);
    await look(page, "connector-refused");
    await page.getByLabel("Manifest").fill(manifest);
    await page.getByRole("button", { name: "Add it" }).click();
    await page.getByText("Every workspace may use it now.").waitFor();
    await page.getByRole("link", { name: "Replace the manifest" }).click();
    await isAt(page, "Replace orders");
    await page.getByLabel("Manifest").fill(manifest.replaceAll("api.orders.", "api2.orders."));
    await page.getByRole("button", { name: "Replace it" }).click();
    await page.getByText("https://api2.orders.example.com", { exact: true }).waitFor();

    // Somebody else replaces it meanwhile: both are seen, and one decides.
    await page.getByRole("link", { name: "Replace the manifest" }).click();
    await isAt(page, "Replace orders");
    const newer = (number: number) => manifest.replaceAll("api.orders.", `api${number}.orders.`);
    await page.getByLabel("Manifest").fill(newer(3));
    await at.must("PATCH", "/connectors/conn_orders", { body: { manifest: newer(4) } });
    await page.getByRole("button", { name: "Replace it" }).click();
    const meanwhile = page.getByRole("alert").filter({ hasText: "Somebody else has changed it" });
    await meanwhile.locator("ins", { hasText: "api4.orders" }).waitFor();
    expect(await page.getByLabel("Manifest").inputValue()).toBe(newer(3));
    await look(page, "connector-meanwhile");
    await meanwhile.getByRole("button", { name: "Load what it is now" }).click();
    await expect.poll(() => page.getByLabel("Manifest").inputValue()).toBe(newer(4));
    await page.getByLabel("Manifest").fill(newer(3));
    await at.must("PATCH", "/connectors/conn_orders", { body: { manifest: newer(5) } });
    await page.getByRole("button", { name: "Replace it" }).click();
    await page.getByRole("button", { name: "Keep mine, and save over it" }).click();
    await page.getByText("https://api3.orders.example.com", { exact: true }).waitFor();

    const { first, second } = at.api;
    for (const userId of [second.users.admin, first.users.editor]) {
      const other = await at.signedIn(userId);
      await other.page.goto(`${at.url}/#/connectors/conn_orders`);
      await other.page.getByText("Nobody has given a report of it yet.").waitFor();
      const offered = await other.page.locator("main").getByRole("button").allInnerTexts();
      expect(offered).toEqual([]);
      expect(await other.page.getByText("Replace the manifest").count()).toBe(0);
      for (const path of ["conn_orders/replace", "new"]) {
        await other.page.goto(`${at.url}/#/connectors/${path}`);
        await other.page.getByText("For administrators of the instance").waitFor();
        expect(await other.page.getByLabel("Manifest").count()).toBe(0);
      }
      await other.context.close();
    }

    await page.getByRole("button", { name: "Remove this connector" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("orders was removed.").waitFor();
    await isAt(page, "Connectors");
    const { items } = await at.must("GET", "/connectors?search=orders");
    expect(items).toEqual([]);
    expectNone(complaints);
  });

  test("an image that the operator allows is added with its digest and its hosts", async () => {
    const { page } = await at.open();
    await page.route("**/control/v1/me", async (route) => {
      const response = await route.fetch();
      const json = await response.json();
      await route.fulfill({
        response,
        json: { ...json, data: { ...json.data, instance: { images: ["acme/*"] } } },
      });
    });
    await page.goto(await at.link());
    await isAt(page, "Home");
    await page.goto(`${at.url}/#/connectors/new`);
    await page.getByText("An image", { exact: true }).click();
    await page.getByText("The operator allows acme/*").waitFor();
    await page.getByRole("textbox", { name: "Image" }).fill("acme/source-shop:1.4");
    await page.getByRole("button", { name: "Add it" }).click();
    await page.getByText("Name it by its digest").waitFor();
    await page.getByText("Name at least one").waitFor();
    const image = `acme/source-shop@sha256:${"a".repeat(64)}`;
    await page.getByRole("textbox", { name: "Image" }).fill(image);
    await page.getByLabel("Hosts").first().fill("api.shop.example.com");
    await page.keyboard.press("Enter");
    const asked = page.waitForRequest((request) => request.method() === "POST");
    await page.getByRole("button", { name: "Add it" }).click();
    expect((await asked).postDataJSON()).toEqual({
      name: "shop",
      source_image: image,
      allowed_hosts: ["api.shop.example.com"],
    });
    // It is the server that decides.
    await page.getByRole("alert").getByText("the operator allows no images").waitFor();
    await look(page, "image");
  });

  test("a job ends while one looks at it, the server restarts meanwhile, and no clock is believed", async () => {
    await clear();
    const { pipeline } = await at.makePipeline("Mailer");
    const good = await at.sync(pipeline);
    const { page } = await at.signedIn();
    // Two hours ahead of the server.
    await page.clock.setFixedTime(Date.now() + 7_200_000);
    at.mailer.faults.inject({ type: "hang" }, { times: 50 });
    await page.goto(`${at.url}/#/pipelines/${pipeline}`);
    await page.getByRole("button", { name: "Sync now" }).click();
    await page.locator(".head").getByText("Running").waitFor();
    const job = page.url().split("/").at(-1);

    await at.stop();
    const lost = page.getByRole("alert").filter({ hasText: "The server cannot be reached" });
    await lost.waitFor();
    // The last known state is still there.
    await page.locator(".head").getByText("Running").waitFor();
    await at.start();
    await lost.waitFor({ state: "detached" });

    // Somebody else ends it.
    await at.must("POST", `/jobs/${job}/cancel`);
    await page.locator(".head").getByText("Cancelled", { exact: true }).waitFor();
    at.mailer.faults.clear();
    expect(await page.getByRole("button", { name: /cancel/i }).count()).toBe(0);
    await page.goto(`${at.url}/#/sources`);
    await page.getByText(/^Checked (just now|\d+ (second|minute)s? ago)$/).waitFor();

    // A page that has not heard of the end offers to cancel, and is told.
    await page.route("**/jobs/*/events", (route) => route.abort());
    let isStale = true;
    const text = "<img src=x onerror=alert(1)> ".repeat(40_000);
    await page.route(`**/jobs/${good}`, async (route) => {
      const response = await route.fetch();
      const json = await response.json();
      const failure = { code: "X", type: "system_error", origin: "source", message: text };
      const data = { ...json.data, ...(isStale ? { status: "running" } : { failure }) };
      await route.fulfill({ response, json: { ...json, data } });
    });
    await page.goto(`${at.url}/#/jobs/${good}`);
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("The job has ended already.").waitFor();
    // Its error may be a megabyte, and is text.
    isStale = false;
    const why = page.getByRole("alert").filter({ hasText: "Why it failed" });
    await why.waitFor();
    expect((await why.innerText()).length).toBeLessThan(2_000);
    await why.getByRole("button", { name: "Show more of it" }).click();
    expect((await why.innerText()).length).toBeGreaterThan(90_000);
    expect(await page.locator("main img").count()).toBe(0);
  });
});
