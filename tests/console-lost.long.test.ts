/** The console in a real browser: what gets lost on the way to a page, and comes all the same. */
import type { Page } from "playwright-core";
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

const heading = (page: Page, name: string) =>
  page.getByRole("heading", { level: 1, name }).waitFor();
/** By the menu, which is beside every page. */
const goTo = (page: Page, name: string) =>
  page.getByRole("link", { name, exact: true }).first().click();

/** Of what the browser logs of requests that the test takes away. */
const isTakenAway = (text: string) =>
  /net::ERR_FAILED|Failed to fetch dynamically imported/.test(text);

describe.skipIf(executable === undefined)("what gets lost (else: no Chromium)", () => {
  test.each([
    "audit",
    "paged-rows",
  ])("a page comes although the file %s did not come at first", async (file) => {
    const { page, complaints } = await at.signedIn();
    // The code of a page is fetched ahead of the page: it has to be lost twice.
    let lost = 0;
    await page.route(`**/assets/${file}-*.js`, (route) =>
      lost++ < 2 ? route.abort() : route.continue(),
    );
    await goTo(page, "Audit log");
    await heading(page, "Audit log");
    await loaded(page);
    expect(lost).toBeGreaterThan(2);
    expectNone(complaints.filter((one) => !isTakenAway(one)));
  });

  test("a page that never comes leaves the others alone, says what to do, and comes when it can", async () => {
    const { page } = await at.signedIn();
    await page.route("**/assets/audit-*.js", (route) => route.abort());
    await goTo(page, "Audit log");
    await heading(page, "This page did not come");
    await look(page, "page-lost");
    await goTo(page, "People");
    await heading(page, "People");
    await goTo(page, "Audit log");
    await heading(page, "This page did not come");
    // Who comes back to it asks for it anew.
    await goTo(page, "People");
    await page.unrouteAll();
    await goTo(page, "Audit log");
    await heading(page, "Audit log");
  });

  test("a page of another version's comes after the console was loaded again", async () => {
    const { page } = await at.signedIn();
    await page.route("**/assets/audit-*.js", (route) => route.fulfill({ status: 404 }));
    await goTo(page, "Audit log");
    await heading(page, "This page did not come");
    await page.unrouteAll();
    await page.getByRole("button", { name: "Load the console again" }).click();
    await heading(page, "Audit log");
  });

  test("a page whose code fails says so and no more, and another address is another page", async () => {
    const { page } = await at.signedIn();
    await page.route("**/assets/audit-*.js", (route) =>
      route.fulfill({
        contentType: "text/javascript",
        body: 'export default () => { throw new Error("of-the-code"); };',
      }),
    );
    await goTo(page, "Audit log");
    await heading(page, "This page cannot be shown");
    expect(await page.title()).toBe("This page cannot be shown · svc");
    expect(await page.locator("body").innerText()).not.toContain("of-the-code");
    expect(await barriers(page)).toEqual([]);
    await picture(page, "page-failed");
    await goTo(page, "People");
    await heading(page, "People");
  });

  test("a change whose answer got lost is done once, and shown", async () => {
    const { page } = await at.signedIn();
    const keys: (string | undefined)[] = [];
    await page.route("**/control/v1/destinations", async (route) => {
      const request = route.request();
      if (request.method() !== "POST") return route.continue();
      keys.push(request.headers()["idempotency-key"]);
      if (keys.length > 1) return route.continue();
      expect((await route.fetch()).status()).toBe(201);
      await route.abort("connectionreset");
    });
    await page.goto(`${at.url}/#/destinations/new/conn_duckdb`);
    await page.getByLabel("File").fill("lost");
    await page.getByRole("button", { name: "Save & Test" }).click();
    await page.getByRole("heading", { name: "Last check" }).waitFor();
    expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), keys[0]]);
    const { items } = await at.must("GET", "/destinations");
    expect(items).toHaveLength(1);
    await goTo(page, "Destinations");
    await heading(page, "Destinations");
    await page
      .getByRole("main")
      .getByRole("link", { name: /lost|DuckDB/ })
      .first()
      .waitFor();
    expect(await page.locator(".rows > *").count()).toBe(1);
  });

  test("a change that is still under way when it is sent again is waited for", async () => {
    const { page } = await at.signedIn();
    const { pipeline } = await at.makePipeline("Late");
    let asked = 0;
    await page.route(`**/pipelines/${pipeline}/sync`, async (route) => {
      asked += 1;
      if (asked === 1) return route.abort("connectionreset");
      if (asked > 3) return route.continue();
      await route.fulfill({
        status: 409,
        json: {
          code: "409",
          message: "the first request with this key is still under way",
          details: { reason: "idempotency_in_flight" },
          request_id: "r",
        },
      });
    });
    await page.goto(`${at.url}/#/pipelines/${pipeline}`);
    await page.getByRole("button", { name: "Sync now" }).click();
    await page.locator(".head").getByText("Succeeded").waitFor();
    expect(asked).toBe(4);
  });

  test("what the server refuses as one too many waits as long as it asks, says so, and is done once", async () => {
    const { page } = await at.signedIn();
    const tooMany = (seconds: string) => ({
      status: 429,
      headers: { "retry-after": seconds },
      json: { code: "429", message: "too many", details: {}, request_id: "r" },
    });
    const refused: string[] = [];
    const keys = new Set<string | undefined>();
    await page.route("**/control/v1/destinations*", (route) => {
      const method = route.request().method();
      if (method === "POST") keys.add(route.request().headers()["idempotency-key"]);
      if (refused.includes(method)) return route.continue();
      refused.push(method);
      return route.fulfill(tooMany("1"));
    });
    const note = page.getByText("The server asks to wait 1 second. It goes on by itself.");
    await page.goto(`${at.url}/#/destinations/new/conn_duckdb`);
    await page.getByLabel("File").fill("waited");
    await page.getByRole("button", { name: "Save & Test" }).click();
    await note.waitFor();
    expect(await barriers(page)).toEqual([]);
    await picture(page, "waits");
    await page.getByRole("heading", { name: "Last check" }).waitFor();
    await note.waitFor({ state: "detached" });
    expect(keys.size).toBe(1);
    await goTo(page, "Destinations");
    await page
      .getByRole("main")
      .getByRole("link", { name: /DuckDB/ })
      .first()
      .waitFor();
    expect(refused.toSorted()).toEqual(["GET", "POST"]);

    // Who would wait for longer than a minute is told, and goes on when they want to.
    let isOver = false;
    await page.route("**/members?*", (route) =>
      isOver ? route.continue() : route.fulfill(tooMany("3600")),
    );
    await goTo(page, "People");
    const alert = page.getByRole("alert").filter({ hasText: "Too many requests" }).first();
    await alert.waitFor();
    isOver = true;
    await alert.getByRole("button", { name: "Try again" }).click();
    await alert.waitFor({ state: "detached" });
  });

  test("a token whose answer got lost is not shown as one, and one is told what to do", async () => {
    const { page } = await at.signedIn();
    let isFirst = true;
    await page.route("**/control/v1/sessions", async (route) => {
      if (route.request().method() !== "POST" || !isFirst) return route.continue();
      isFirst = false;
      await route.fetch();
      await route.abort("connectionreset");
    });
    await page.goto(`${at.url}/#/access`);
    await page.getByRole("button", { name: "Create a token" }).click();
    await page.getByLabel("Name").fill("Helper");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "The token got lost on the way" });
    await dialog.getByText("create another one").waitFor();
    expect(await page.locator("output.token").count()).toBe(0);
    expect(await barriers(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Close", exact: true }).last().click();
    await page.getByRole("button", { name: "Revoke Helper" }).waitFor();
  });

  test("a late answer of the session that ended does not ask again who has signed in", async () => {
    const { page } = await at.signedIn();
    const refusal = {
      status: 401,
      json: { code: "401", message: "unauthenticated", details: {}, request_id: "r" },
    };
    let answer = () => {};
    const hasSignedIn = new Promise<void>((resolve) => {
      answer = resolve;
    });
    let isOver = false;
    await page.route("**/control/v1/connectors?*", async (route) => {
      if (isOver) return route.continue();
      await hasSignedIn;
      isOver = true;
      await route.fulfill(refusal);
    });
    let hasEnded = true;
    await page.route("**/members?*", (route) =>
      hasEnded ? route.fulfill(refusal) : route.continue(),
    );
    const isAsked = page.waitForRequest("**/control/v1/connectors?*");
    await goTo(page, "Connectors");
    await isAsked;
    await goTo(page, "People");
    const dialog = page.getByRole("dialog", { name: "Your session has ended" });
    await dialog.waitFor();
    hasEnded = false;
    await dialog.getByRole("textbox").fill(at.api.first.tokens.admin);
    await dialog.getByRole("button", { name: "Sign in" }).click();
    await dialog.waitFor({ state: "detached" });
    const late = page.waitForResponse((response) => response.status() === 401);
    answer();
    await (await late).finished();
    // A page later, whatever that answer has set off is seen.
    await goTo(page, "Jobs");
    await heading(page, "Jobs");
    await loaded(page);
    expect(await dialog.count()).toBe(0);
  });
});
