/** The console's forms in a real browser: settings within settings, faults at their fields. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { addMember, createUser } from "../control/members/workspaces.ts";
import {
  type ConsoleInBrowser,
  executable,
  expectNone,
  loaded,
  look,
  startConsole,
  textOf,
} from "./console-browser.ts";
import { skipUnlessWhole } from "./effort.ts";
import { soon } from "./soon.ts";

let at: ConsoleInBrowser;
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

describe.skipIf(executable === undefined)("forms of the console (else: no Chromium)", () => {
  test("settings within settings have fields of their own, and say there what is missing", async () => {
    const { page, complaints } = await at.signedIn();
    await page.goto(`${at.url}/#/sources/new/conn_postgres`);
    // Nobody looks for a port among what can be left as it is.
    expect(await page.getByLabel("Port", { exact: true }).inputValue()).toBe("5432");
    await page.getByLabel("Host").fill("db.example.com");
    await page.getByLabel("Database").fill("shop");
    await page.getByLabel("Username").fill("reader");
    await page.getByRole("textbox", { name: "Password" }).fill("correct horse battery");
    await page.getByRole("button", { name: /^More settings/ }).click();
    await page.getByRole("switch", { name: "Replication" }).click({ force: true });
    await page.getByRole("button", { name: "Add to Queries" }).click();
    await page.getByRole("button", { name: "Save & Test" }).click();
    await page.getByText("Fill this in.").nth(3).waitFor();
    expect(await page.getByText("Fill this in.").count()).toBe(4);
    await look(page, "form-nested");
    await page.getByLabel("Publication").fill("shop");
    await page.getByLabel("Slot").fill("Shop!");
    const query = page.getByRole("group", { name: "Queries, 1" });
    await query.getByLabel("Name").fill("paid");
    await query.getByLabel("SQL").fill("SELECT 1 AS id");
    await page.getByRole("button", { name: "Save & Test" }).click();
    await page.getByText("It has not the right form.").waitFor();
    await page.getByLabel("Slot").fill("shop_slot");
    const sent = page.waitForRequest(
      (one) => one.method() === "POST" && one.url().endsWith("/control/v1/sources"),
    );
    await page.getByRole("button", { name: "Save & Test" }).click();
    const { configuration } = (await sent).postDataJSON();
    expect(configuration).toMatchObject({
      port: 5432,
      replication: { publication: "shop", slot: "shop_slot" },
      queries: [{ name: "paid", sql: "SELECT 1 AS id" }],
    });
    await page.getByRole("alert").first().waitFor();
    expectNone(complaints);
  });

  test("one of several log-ins is chosen, and nothing of another one is sent", async (task) => {
    skipUnlessWhole(task);
    const { page, complaints } = await at.signedIn();
    const secret = { type: "string", writeOnly: true };
    await page.route("**/connectors/conn_postgres/spec", async (route) => {
      const response = await route.fetch();
      const answer = await response.json();
      answer.data.connection_specification = {
        type: "object",
        required: ["credentials"],
        properties: {
          credentials: {
            title: "Authentication",
            oneOf: [
              {
                title: "Account",
                required: ["kind", "client_id", "client_secret"],
                properties: {
                  kind: { const: "oauth2.0" },
                  client_id: { type: "string", title: "Client id" },
                  client_secret: { ...secret, title: "Client secret" },
                },
              },
              {
                title: "Token",
                required: ["kind", "token"],
                properties: { kind: { const: "token" }, token: { ...secret, title: "Token" } },
              },
            ],
          },
        },
      };
      await route.fulfill({ response, json: answer });
    });
    await page.goto(`${at.url}/#/sources/new/conn_postgres`);
    const group = page.getByRole("group", { name: "Authentication" });
    await group.getByLabel("Client id").fill("me");
    await group.getByRole("textbox", { name: "Client secret" }).fill("hush-hush-hush");
    await group.getByRole("combobox").selectOption({ label: "Token" });
    expect(await group.getByLabel("Client id").count()).toBe(0);
    await page.getByRole("button", { name: "Save & Test" }).click();
    await group.getByText("Fill this in.").waitFor();
    await look(page, "form-one-of");
    await group.getByRole("textbox", { name: "Token" }).fill("a-token-of-somebody");
    const sent = page.waitForRequest(
      (one) => one.method() === "POST" && one.url().endsWith("/control/v1/credentials"),
    );
    await page.getByRole("button", { name: "Save & Test" }).click();
    expect((await sent).postDataJSON().secrets).toEqual({
      "credentials.token": "a-token-of-somebody",
    });
    await page.getByRole("alert").first().waitFor();
    expectNone(complaints);
  });

  test("a secret that is refused, or has not the right form, is said at its field; one can be made up", async (task) => {
    skipUnlessWhole(task);
    const { page, complaints } = await at.signedIn();
    await page.goto(`${at.url}/#/sources/${source}`);
    await page.getByRole("textbox", { name: "API token" }).fill("wrong-token-of-somebody");
    await page.getByRole("button", { name: "Save & Test" }).click();
    await page.getByText("The test has failed").waitFor();
    await page.getByText("It was not accepted.").waitFor();
    await page.goto(`${at.url}/#/receivers/new`);
    await page.getByLabel("URL").fill(at.webhook.url);
    const secret = page.getByRole("textbox", { name: "Signing secret" });
    await secret.fill("too-short");
    await page.getByRole("button", { name: "Save & Test" }).click();
    await page.getByText("must be base64 of 24 to 64 bytes").waitFor();
    expect(await page.getByText("svc spec").count()).toBe(0);
    await look(page, "form-webhook-refused");
    await page.getByRole("button", { name: "Generate one" }).click();
    await expect.poll(() => secret.inputValue()).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expectNone(complaints);
  });

  test("a second pipeline into the same tables is given a prefix, and streams are set together", async (task) => {
    skipUnlessWhole(task);
    const { page, complaints } = await at.signedIn();
    await page.goto(`${at.url}/#/pipelines/new/source/${source}`);
    await page.getByRole("combobox", { name: "To", exact: true }).selectOption(destination);
    await page.getByText(/\d+ of \d+ chosen/).waitFor();
    await page
      .getByRole("combobox", { name: /^How the \d+ chosen are read$/ })
      .selectOption("full_refresh append");
    await page.getByText(/^\d+ streams set\.$/).waitFor();
    expect(await page.getByLabel("How tags is read").inputValue()).toBe("full_refresh append");
    await page.getByRole("button", { name: "Ask the source again" }).click();
    await page.getByText("The source has what it had before.").waitFor();
    expect(await page.getByLabel("How tags is read").inputValue()).toBe("full_refresh append");
    await page.getByRole("button", { name: /of tags$/ }).click();
    const detail = page.getByRole("dialog", { name: "tags" });
    await detail.getByLabel("Hashed columns").first().click();
    await page.getByRole("option", { name: "name", exact: true }).click();
    await page.keyboard.press("Escape");
    await detail.getByRole("button", { name: "Add a condition" }).click();
    await look(page, "stream-detail");
    await detail.getByRole("button", { name: "Remove condition 1" }).click();
    await detail.getByRole("button", { name: "Done" }).click();
    await page.getByLabel("Name").fill("Second");
    await page.getByRole("button", { name: "Create the pipeline" }).click();
    await page.getByText("Another pipeline writes to these tables").waitFor();
    await page.getByText(/^Another pipeline writes to _svc_/).waitFor();
    await look(page, "pipeline-new-taken");
    await page.getByLabel("Prefix of its tables").fill("second_");
    await page.getByRole("button", { name: "Create the pipeline" }).click();
    await page.getByRole("heading", { name: "What it does" }).waitFor();
    const { items } = await at.must("GET", "/pipelines?search=Second");
    const made = await at.must("GET", `/pipelines/${items[0].pipeline_id}`);
    const tags = made.streams.find((one: { readonly name: string }) => one.name === "tags");
    expect(made.prefix).toBe("second_");
    expect([tags.table.name, tags.hashed_fields]).toEqual(["_svc_second_tags", ["name"]]);
    expectNone(complaints);
  });

  test("what is wrong with a query is said in the database's words; no value, no text and ids are told apart", async (task) => {
    skipUnlessWhole(task);
    const { page, complaints } = await at.signedIn();
    await page.goto(`${at.url}/#/models/new/${destination}`);
    await page.getByLabel("SQL").fill("SELECT emial FROM _svc_subscribers");
    await page.getByRole("button", { name: "Try it" }).click();
    await page.getByText("The query has failed").waitFor();
    await page.getByRole("alert").getByText(/emial/).waitFor();
    await page
      .getByLabel("SQL")
      .fill("SELECT NULL AS a, '' AS b, _svc_job_id FROM _svc_subscribers LIMIT 1");
    await page.getByRole("button", { name: "Try it" }).click();
    const table = page.getByRole("region", { name: "What the query gives" });
    await table.getByRole("cell", { name: "null" }).waitFor();
    await table.getByRole("cell", { name: "empty" }).waitFor();
    await table.getByRole("cell", { name: /^job_/ }).waitFor();
    await page.getByRole("button", { name: "Columns of _svc_tags" }).click();
    await page.getByRole("button", { name: /^Insert name / }).waitFor();
    await look(page, "query-values");
    expectNone(complaints);
  });

  test("who is mailed of what is chosen, and a webhook is added, tried and seen to be sent to", async (task) => {
    skipUnlessWhole(task);
    const { page, complaints } = await at.signedIn();
    await page.goto(`${at.url}/#/notifications`);
    await page.getByLabel("A change waits for approval").check();
    await page.getByText("Some people", { exact: true }).click();
    await page.getByLabel("viewer of first").uncheck();
    await look(page, "notifications");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    const settings = await at.must("GET", "/notification-settings");
    expect(settings.event_types).toContain("approval.created");
    expect(settings.member_ids.length).toBeGreaterThan(1);
    await page.getByRole("button", { name: "Add a webhook" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Pager");
    await dialog.getByLabel("URL").fill("http://hooks.example.com/svc");
    await dialog.getByRole("button", { name: "Add", exact: true }).click();
    await dialog.locator("[aria-invalid=true]").waitFor();
    await look(page, "webhook-new");
    await dialog.getByLabel("URL").fill(at.webhook.url);
    await dialog.getByRole("button", { name: "Add", exact: true }).click();
    const secret = await textOf(page.locator("output.token"));
    expect(secret).toMatch(/^whsec_/);
    await page.getByRole("button", { name: "I have kept it" }).click();
    await page.getByRole("heading", { level: 1, name: "Pager" }).waitFor();
    expect(await page.locator("body").innerText()).not.toContain(secret);
    await page.getByRole("button", { name: "Send a test" }).click();
    await page.locator(".rows").getByText("A test", { exact: true }).waitFor();
    await look(page, "webhook");
    await page.getByRole("button", { name: "Disable" }).click();
    await page.getByText("Somebody has disabled it.").waitFor();
    expectNone(complaints);
  });

  test("a workspace is renamed, and only who administers the instance makes another one", async (task) => {
    skipUnlessWhole(task);
    const { first, second, db } = at.api;
    const rename = async (userId: string, workspace: string) => {
      const opened = await at.signedIn(userId);
      const { page } = opened;
      await page.getByRole("button", { name: RegExp(workspace) }).click();
      await page.getByRole("menuitem", { name: "This workspace" }).click();
      await page.getByRole("textbox", { name: "Name", exact: true }).fill(`Our ${workspace}`);
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByRole("heading", { level: 1, name: `Our ${workspace}` }).waitFor();
      return opened;
    };
    const { page: other } = await rename(second.users.admin, "second");
    expect(await other.getByLabel("Name of the new one").count()).toBe(0);
    // Somebody else than the other tests', who may then be in two workspaces.
    const now = new Date();
    const userId = await createUser(db, { email: "beside@example.com", name: "first of all" }, now);
    await addMember(db, { workspaceId: first.id, userId, role: "admin" }, now);
    const { page, complaints } = await rename(userId, "first");
    await look(page, "workspace");
    await page.getByLabel("Name of the new one").fill("Beside");
    await page.getByRole("button", { name: "Create it" }).click();
    await page.getByRole("heading", { name: "From nothing to rows" }).waitFor();
    await page.getByRole("combobox", { name: "Workspace" }).waitFor();
    expectNone(complaints);
  });

  test("jobs are found by what they are of and how they ended, also those of reverse ETL", async (task) => {
    skipUnlessWhole(task);
    const { credential_handle: credentialHandle } = await at.must("POST", "/credentials", {
      body: {
        connector_id: "conn_webhook",
        name: "Hook",
        secrets: { signing_secret: at.webhook.secret },
      },
    });
    const { destinationId } = await at.must("POST", "/reverse-etl/destinations", {
      body: {
        name: "Hook",
        type: "webhook",
        credentialHandle,
        configuration: { url: at.webhook.url },
      },
    });
    const { modelId } = await at.must("POST", "/reverse-etl/models", {
      body: {
        name: "Tags",
        warehouseId: destination,
        queryType: "raw_sql",
        raw: { sql: "SELECT uuid, status FROM _svc_campaigns" },
        primaryKey: "uuid",
      },
    });
    const { page, complaints } = await at.signedIn();
    await page.goto(`${at.url}/#/models/${modelId}`);
    await page.getByRole("link", { name: "Create an activation" }).click();
    await expect.poll(() => page.getByLabel("Name").inputValue()).toBe("Tags to Hook");
    const { activationId } = await at.must("POST", "/reverse-etl/activations", {
      body: {
        name: "Tags to Hook",
        modelId,
        destinationId,
        object: "rows",
        operation: "upsert",
        mappings: [{ from: "uuid", to: "uuid", isPrimaryIdentifier: true }],
      },
    });
    at.webhook.faults.inject({ type: "status", status: 422 }, { times: 1 });
    const { runId } = await at.must("POST", `/reverse-etl/activations/${activationId}/run`, {
      body: {},
    });
    await vi.waitUntil(
      async () => (await at.must("GET", `/reverse-etl/runs/${runId}`)).finishedAt !== null,
      soon,
    );
    await page.goto(`${at.url}/#/activations`);
    await page.locator(".rows").getByText("Failed", { exact: true }).waitFor();
    await page.goto(`${at.url}/#/`);
    const needs = page.locator("section").filter({ hasText: "Needs you" });
    await needs.getByText("Tags to Hook").waitFor();
    await page.goto(`${at.url}/#/jobs/of/${activationId}`);
    await page.getByRole("link", { name: /Tags to Hook/ }).click();
    await page.getByRole("link", { name: "What was sent, and which rows were refused" }).click();
    await page.getByRole("heading", { name: "Refused rows" }).waitFor();
    await page.locator(".crumb").getByText("Tags to Hook").waitFor();
    await page.goto(`${at.url}/#/jobs`);
    await page.getByLabel("Status").selectOption("failed");
    await page.getByText("No job is like this.").waitFor();
    await page.getByLabel("Status").selectOption("");
    await page.getByRole("combobox", { name: "Of" }).selectOption(pipeline);
    await expect.poll(() => page.url()).toContain(`/jobs/of/${pipeline}`);
    await loaded(page);
    expect(await page.locator(".rows > li").count()).toBe(1);
    await page.locator(".rows a").click();
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save the whole log" }).click();
    expect((await download).suggestedFilename()).toMatch(/^job_.*\.log$/);
    expectNone(complaints);
  });
});
