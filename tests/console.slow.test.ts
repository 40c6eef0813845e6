/** The console in a real browser: a person's way from an empty workspace to rows, and its walls. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  barriers,
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

describe.skipIf(executable === undefined)("the console (else: no Chromium)", () => {
  test("leads from an empty workspace to rows in DuckDB", async () => {
    const { page, complaints } = await at.open();
    // The catalogue comes while one reads: a server that has just begun takes seconds for it.
    const isAsked = page.waitForRequest("**/control/v1/connectors?*");
    await page.goto(await at.link());
    await page.getByRole("heading", { name: "From nothing to rows" }).waitFor();
    await isAsked;
    expect(page.url()).not.toContain("svc_in_");
    await look(page, "first-steps");

    await page.getByRole("link", { name: "Add a source" }).click();
    await page.getByRole("heading", { name: "Add a source" }).waitFor();
    await look(page, "catalogue");
    await page.getByRole("link", { name: /^Mailer/ }).click();
    await page.getByRole("button", { name: "Save & Test" }).click();
    await page.getByText("Fill this in.").first().waitFor();
    await page.getByLabel("Base URL").fill(`https://${at.mailer.hostname}/api`);
    await page.getByRole("textbox", { name: "API token" }).fill("wrong-token-of-somebody");
    await page.getByRole("button", { name: "Save & Test" }).click();
    await page
      .getByRole("alert")
      .getByText(/credentials|token/i)
      .waitFor();
    await look(page, "source-refused");
    await page.getByRole("textbox", { name: "API token" }).fill(at.mailer.token);
    await page.getByRole("button", { name: "Save & Test" }).click();
    await page.getByRole("heading", { name: "Last check" }).waitFor();
    await look(page, "source");

    await page.getByRole("link", { name: "Add a destination" }).click();
    await page.getByRole("link", { name: /^DuckDB/ }).click();
    await page.getByLabel("File").fill("shop");
    await page.getByRole("button", { name: "Save & Test" }).click();
    await page.getByRole("link", { name: "Create a pipeline" }).click();

    await page.getByRole("heading", { name: "Streams" }).waitFor();
    await page.getByRole("textbox", { name: "Search streams" }).fill("campaigns");
    await page.getByRole("textbox", { name: "Search streams" }).fill("");
    await page.getByText("Daily", { exact: true }).click();
    await page.getByText("Next, in").waitFor();
    await look(page, "pipeline-new");
    await page.getByRole("button", { name: "Create the pipeline" }).click();
    await page.getByRole("button", { name: "Sync now" }).click();
    await page.getByRole("heading", { name: /^Sync of/ }).waitFor();
    await page.locator(".head").getByText("Succeeded").waitFor();
    expect(await page.getByRole("button", { name: "Cancel" }).count()).toBe(0);
    await look(page, "job");
    await page.getByRole("link", { name: "_svc_campaigns", exact: true }).click();
    await page.getByText("All 6 rows.").waitFor();
    await look(page, "rows");
    await page.goBack();
    await page.getByRole("heading", { name: /^Sync of/ }).waitFor();

    await page.locator(".crumb a").click();
    await page.getByRole("heading", { name: "History" }).waitFor();
    await look(page, "pipeline");
    await page.getByRole("tab", { name: "Streams" }).click();
    await page.getByText(/\d+ of \d+ chosen/).waitFor();
    await look(page, "pipeline-streams");
    await page.getByRole("tab", { name: "Settings" }).click();
    await look(page, "pipeline-settings");
    for (const name of ["Jobs", "Pipelines", "Sources", "Home"]) {
      await page.getByRole("link", { name, exact: true }).first().click();
      await page.getByRole("heading", { level: 1, name }).waitFor();
      await look(page, name.toLowerCase());
    }
    expectNone(complaints);
    expect(await at.countRows("shop", "_svc_campaigns")).toBe(6);
  });

  test("shows nothing to a script that could be stolen, and runs none that stands in a name", async () => {
    const hostile = '"><img src=x onerror=alert(1)><script>alert(1)</script>\u202e';
    await at.api.call("POST", "/destinations", {
      body: { name: hostile, connector_id: "conn_duckdb", configuration: { file: "hostile" } },
    });
    const { page } = await at.signedIn();
    let dialogs = 0;
    page.on("dialog", (dialog) => {
      dialogs += 1;
      void dialog.dismiss();
    });
    await page.goto(`${at.url}/#/destinations`);
    await page.getByText("<script>alert(1)").waitFor();
    expect(await page.locator("main img, main script").count()).toBe(0);
    expect(await page.evaluate("document.cookie")).toBe("");
    const stored = await page.evaluate("JSON.stringify([localStorage, sessionStorage])");
    expect(stored).not.toMatch(/svc_(at|cs|in)_/);
    // Text does not become markup or code, even for a script that stands in the page.
    await expect(
      page.evaluate("document.body.insertAdjacentHTML('beforeend', '<b>x</b>')"),
    ).rejects.toThrow("TrustedHTML");
    expect(dialogs).toBe(0);
  });

  test("asks who comes back after the session has ended, and keeps what was typed", async () => {
    const { page, complaints } = await at.open();
    await page.goto(await at.link());
    await page.getByRole("heading", { name: "Home" }).waitFor();
    await page.goto(`${at.url}/#/destinations/new/conn_duckdb`);
    await page.getByLabel("File").fill("kept");
    await at.api.db
      .updateTable("sessions")
      .set({ revoked_at: new Date() })
      .where("name", "=", "Console")
      .execute();
    await page.getByRole("button", { name: "Save & Test" }).click();
    const dialog = page.getByRole("dialog", { name: "Your session has ended" });
    await dialog.waitFor();
    expect(await barriers(page)).toEqual([]);
    await picture(page, "ended");
    await dialog.getByRole("textbox").fill(at.api.first.tokens.viewer);
    await dialog.getByRole("button", { name: "Sign in" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await page.getByLabel("File").inputValue()).toBe("kept");
    await page.getByRole("button", { name: "Save & Test" }).click();
    await page.getByText("You may not do this").waitFor();
    expectNone(complaints.filter((one) => !one.includes("403")));
  });

  test("says of a used link that it was used, and lets nobody see a page without a session", async () => {
    const { page } = await at.open();
    const used = await at.link();
    await page.goto(used);
    await page.getByRole("heading", { name: "Home" }).waitFor();
    await page.getByRole("button", { name: /admin/ }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await look(page, "sign-in");
    await page.goto(used);
    await page.getByRole("heading", { name: "The link was used or has ended" }).waitFor();
  });

  test("a change that somebody else made meanwhile is not written over", async () => {
    const { page } = await at.signedIn();
    const { pipeline: id } = await at.makePipeline("Ours");
    await page.goto(`${at.url}/#/pipelines/${id}`);
    await page.getByRole("tab", { name: "Settings" }).click();
    await page.getByLabel("Name").fill("Mine");
    await at.api.call("PATCH", `/pipelines/${id}`, { body: { name: "Theirs" } });
    await page.getByRole("button", { name: "Save" }).click();
    const note = page.getByRole("alert").filter({ hasText: "Somebody else has changed it" });
    await note.locator("ins", { hasText: "Theirs" }).waitFor();
    expect(await barriers(page)).toEqual([]);
    await page.getByRole("button", { name: "Load what it is now" }).click();
    await expect.poll(() => page.getByLabel("Name").inputValue()).toBe("Theirs");
  });

  test("its first page is at most 250 kB", async () => {
    const { page } = await at.open();
    const sizes = new Map<string, number>();
    page.on("response", async (response) => {
      const name = new URL(response.url()).pathname;
      if (name.startsWith("/assets/"))
        sizes.set(name, (await response.request().sizes()).responseBodySize);
    });
    await page.goto(await at.link());
    await page.getByRole("heading", { name: "Home" }).waitFor();
    await loaded(page);
    const sum = [...sizes.values()].reduce((before, size) => before + size, 0);
    expect(sizes.size).toBeGreaterThan(2);
    expect(sum).toBeLessThan(250_000);
  });
});
