/** A workspace as a file: `svc apply` and `svc export` against a Control API that listens. */
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { buildApply } from "../control/commands/apply.ts";
import { buildExport } from "../control/commands/export.ts";
import { renderWorkspaceSchema } from "../docs/workspace-schema.ts";
import { type Ran, runCommand } from "./command.ts";
import type { TestWorkspace } from "./control.ts";
import { startTestWorld, type TestWorld } from "./control-operations.ts";

let world: TestWorld;
let server: string;
beforeAll(async () => {
  world = await startTestWorld();
  await world.api.server.listen({ port: 0, host: "127.0.0.1" });
  server = `http://127.0.0.1:${(world.api.server.server.address() as AddressInfo).port}/control/v1`;
});
afterAll(() => world?.[Symbol.asyncDispose]());

let folder: string;
let workspace: TestWorkspace;
let token: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-apply-"));
  workspace = await world.api.addWorkspace("file");
  token = workspace.tokens.admin;
  await writeFile(join(folder, "mailer.txt"), `${world.mailer.token}\n`);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const noSecrets = ({ stdout, stderr }: Ran, secrets = [world.mailer.token, token]) => {
  for (const secret of secrets) expect(stdout + stderr).not.toContain(secret);
};

async function run(build: typeof buildApply, ...args: string[]): Promise<Ran> {
  await writeFile(join(folder, "token.txt"), token);
  const name = build === buildApply ? "apply" : "export";
  const ran = await runCommand([name, ...args, "--server", server, "--token-file", "token.txt"], {
    cwd: folder,
    commands: { [name]: build },
  });
  noSecrets(ran);
  return ran;
}

async function apply(content: object | string, ...flags: string[]): Promise<Ran> {
  const text = typeof content === "string" ? content : stringify(content);
  await writeFile(join(folder, "w.yaml"), text);
  return run(buildApply, "w.yaml", ...flags);
}

const get = async (path: string) => {
  const { body } = await world.api.call("GET", path, { token });
  return body.data;
};
const namesOf = async (path: string) =>
  (await get(path)).items.map(({ name }: { name: string }) => name).sort();

/** Something of every kind. */
const whole = () => ({
  version: 1 as const,
  credentials: {
    Newsletters: {
      connector: "conn_mailer_product_edm",
      secrets: { api_token: { $file: "./mailer.txt" } },
      metadata: { base_url: world.mailer.baseUrl },
    },
  } as Record<string, object>,
  sources: {
    Mailer: {
      connector: "conn_mailer_product_edm",
      credential: "Newsletters",
      configuration: { base_url: world.mailer.baseUrl },
    },
  } as Record<string, object>,
  destinations: {
    Warehouse: { connector: "conn_duckdb", configuration: { file: "warehouse" } },
  } as Record<string, object>,
  pipelines: {
    "Mailer to warehouse": {
      source: "Mailer",
      destination: "Warehouse",
      streams: [
        { name: "campaigns", sync_mode: "incremental", destination_sync_mode: "append_dedup" },
        { name: "email_lists" },
      ],
      schedule: { type: "cron", cron_expression: "0  6 * * *" },
      schema_change_policy: "propagate_fully",
      paused: true,
    },
  } as Record<string, object>,
  reverse_etl_models: {
    People: {
      warehouse: "Warehouse",
      sql: "SELECT 'ada@example.com' AS mail, 'Ada' AS first_name",
      primary_key: "mail",
    },
  } as Record<string, object>,
  reverse_etl_destinations: {
    "The newsletter": {
      type: "mailer",
      credential: "Newsletters",
      configuration: { base_url: world.mailer.baseUrl },
    },
  } as Record<string, object>,
  reverse_etl_activations: {
    "People to the list": {
      model: "People",
      destination: "The newsletter",
      object: world.mailer.truth.email_lists()[0]?.uuid,
      operation: "upsert",
      mappings: [{ from: "mail", to: "email", is_primary_identifier: true }],
      schedule: { type: "basic", units: 6, time_unit: "hours" },
    },
  } as Record<string, object>,
  webhooks: {
    Ours: {
      url: "https://hooks.example.com/svc",
      event_types: ["pipeline.failed", "job.failed"],
      signing_secret_file: "./ours.whsec",
    },
  } as Record<string, object>,
});

describe("svc apply", () => {
  test("makes everything of a file, once, and keeps what is shown once in a file of one's own", async () => {
    const planned = await apply(whole(), "--plan");
    expect(planned).toMatchObject({ code: 2, stderr: "" });
    expect(planned.stdout).toContain('+ source "Mailer"');
    expect(planned.stdout).toContain("8 to make, 0 to change, 0 to delete");
    expect(await namesOf("/sources")).toEqual([]);

    const made = await apply(whole());
    expect(made.stderr).toBe("");
    expect(made.code).toBe(0);
    expect(made.stdout).toContain('reverse ETL activation "People to the list": made');
    const [pipeline] = (await get("/pipelines")).items;
    expect(pipeline).toMatchObject({
      name: "Mailer to warehouse",
      status: "paused",
      stream_count: 2,
    });
    const signing = await readFile(join(folder, "ours.whsec"), "utf8");
    expect(signing).toMatch(/^whsec_\S+\n$/);
    expect((await stat(join(folder, "ours.whsec"))).mode & 0o777).toBe(0o600);
    noSecrets(made, [signing.trim()]);

    const again = await apply(whole());
    expect(again).toMatchObject({ code: 0, stderr: "" });
    expect(again.stdout).toBe("0 to make, 0 to change, 0 to delete, 8 as they are\n");
    expect(await apply(whole(), "--plan", "--prune")).toMatchObject({ code: 0 });
    expect((await get("/pipelines")).items[0].version).toBe(pipeline.version);
  });

  test("changes what the file says otherwise, place by place, and leaves what it does not say", async () => {
    await apply(whole());
    const file = whole();
    file.pipelines["Mailer to warehouse"] = {
      source: "Mailer",
      destination: "Warehouse",
      streams: [
        { name: "campaigns", sync_mode: "full_refresh", destination_sync_mode: "overwrite" },
        { name: "subscribers" },
      ],
      prefix: "m_",
      paused: false,
    };
    file.webhooks.Ours = { url: "https://hooks.example.com/svc", enabled: false };
    file.reverse_etl_models.People = {
      warehouse: "Warehouse",
      sql: "SELECT 'ada@example.com' AS mail, 'Ada' AS first_name, 1 AS n",
      primary_key: "mail",
    };
    const changed = await apply(file);
    expect([changed.stderr, changed.code]).toEqual(["", 0]);
    expect(changed.stdout).toContain(
      '    streams.campaigns.sync_mode: "incremental" → "full_refresh"',
    );
    expect(changed.stdout).toContain('    streams.email_lists: "synced" → nothing');
    expect(changed.stdout).toContain('    streams.subscribers: nothing → "synced"');
    expect(changed.stdout).toContain("    paused: true → false");
    expect(changed.stdout).toContain("0 to make, 3 to change, 0 to delete");
    const [{ pipeline_id }] = (await get("/pipelines")).items;
    const pipeline = await get(`/pipelines/${pipeline_id}`);
    expect(pipeline).toMatchObject({
      status: "active",
      prefix: "m_",
      schedule: { type: "cron", cron_expression: "0 6 * * *", cron_timezone: "UTC" },
      schema_change_policy: "propagate_fully",
    });
    expect(pipeline.streams.map(({ name }: { name: string }) => name).sort()).toEqual([
      "campaigns",
      "subscribers",
    ]);
    expect((await get("/webhook-endpoints")).items[0]).toMatchObject({
      status: "disabled",
      event_types: ["pipeline.failed", "job.failed"],
    });
    expect((await apply(file, "--plan")).code).toBe(0);
  });

  test("a stream that is younger than what is known of its source is found, in a new pipeline and in one that is there", async () => {
    const base = { ...whole(), pipelines: {} };
    expect((await apply(base)).code).toBe(0);
    const [{ source_id }] = (await get("/sources")).items;
    const [{ destination_id }] = (await get("/destinations")).items;
    const { db } = world.api;
    /** As if the source had got this stream after it was asked. */
    const forget = async (name: string) => {
      const { id } = await db
        .selectFrom("catalogs")
        .select("id")
        .where("source_id", "=", source_id)
        .orderBy("created_at", "desc")
        .orderBy("id", "desc")
        .executeTakeFirstOrThrow();
      const { numDeletedRows } = await db
        .deleteFrom("catalog_streams")
        .where("catalog_id", "=", id)
        .where("name", "=", name)
        .executeTakeFirstOrThrow();
      expect(Number(numDeletedRows)).toBe(1);
      await db
        .updateTable("catalogs")
        .set(({ eb }) => ({ table_count: eb("table_count", "-", 1) }))
        .where("id", "=", id)
        .execute();
    };
    const body = { source_id, destination_id };
    await world.api.call("POST", "/pipelines/prepare", { token, body });
    await forget("campaigns");
    const made = await apply(whole());
    expect([made.stderr, made.code]).toEqual(["", 0]);
    await forget("subscribers");
    const file = whole();
    Object.assign(file.pipelines["Mailer to warehouse"] as object, {
      streams: [{ name: "campaigns" }, { name: "subscribers" }],
    });
    const changed = await apply(file);
    expect([changed.stderr, changed.code]).toEqual(["", 0]);
    Object.assign(file.pipelines["Mailer to warehouse"] as object, {
      streams: [{ name: "campaigns" }, { name: "nothing_of_this_name" }],
    });
    const refused = await apply(file);
    expect(refused.code).toBe(1);
    expect(refused.stdout).toContain("The source has no such stream.");
  });

  test("deletes with --prune only, only of sections that the file has, and says what before", async () => {
    await apply(whole());
    const { version, credentials, sources, destinations } = whole();
    const file = { version, credentials, sources, destinations, pipelines: {} };
    const kept = await apply(file, "--plan");
    expect(kept.code).toBe(0);
    expect(kept.stdout).toContain('  · pipeline "Mailer to warehouse"');
    const named = await apply(file, "--plan", "--prune");
    expect(named.code).toBe(2);
    expect(named.stdout).toContain('- pipeline "Mailer to warehouse"');
    expect(named.stdout).toContain('  · webhook "Ours"');
    const pruned = await apply(file, "--prune");
    expect([pruned.stderr, pruned.code]).toEqual(["", 0]);
    expect(await namesOf("/pipelines")).toEqual([]);
    expect(await namesOf("/webhook-endpoints")).toEqual(["Ours"]);
    const nothing = Object.fromEntries(Object.keys(whole()).map((name) => [name, {}]));
    const emptied = await apply({ ...nothing, version }, "--prune");
    expect([emptied.stderr, emptied.code]).toEqual(["", 0]);
    for (const path of ["/credentials", "/sources", "/destinations", "/webhook-endpoints"])
      expect(await namesOf(path)).toEqual([]);
  });

  test("knows what has another name now, and what others call it", async () => {
    await apply(whole());
    const [before] = (await get("/sources")).items;
    const file = whole();
    const { Mailer, ...rest } = file.sources;
    file.sources = { ...rest, Newsletters: { ...Mailer, renamed_from: "Mailer" } };
    file.pipelines["Mailer to warehouse"] = {
      ...file.pipelines["Mailer to warehouse"],
      source: "Newsletters",
    };
    const renamed = await apply(file, "--prune");
    expect([renamed.stderr, renamed.code]).toEqual(["", 0]);
    expect(renamed.stdout).toContain('~ source "Newsletters" (now "Mailer")');
    expect(renamed.stdout).toContain("0 to make, 1 to change, 0 to delete");
    expect((await get("/sources")).items).toMatchObject([
      { source_id: before.source_id, name: "Newsletters" },
    ]);
    expect((await apply(file, "--plan", "--prune")).code).toBe(0);
  });

  test("what fails keeps back what needs it and every deletion; the next run does the rest", async () => {
    await apply({ version: 1, webhooks: { Old: { url: "https://hooks.example.com/old" } } });
    const file = whole();
    file.sources.Mailer = {
      ...file.sources.Mailer,
      configuration: { base_url: "https://nobody-approved.example.com/api" },
    };
    const failed = await apply(file, "--prune");
    expect(failed.code).toBe(1);
    expect(failed.stdout).toMatch(/^w\.yaml:\d+: source "Mailer": failed: /m);
    expect(failed.stdout).toContain(
      'pipeline "Mailer to warehouse": left, it needs the source "Mailer"',
    );
    expect(failed.stdout).toContain(
      'webhook "Old": left, nothing is deleted while something has failed',
    );
    expect(failed.stdout).toContain('reverse ETL activation "People to the list": made');
    expect(failed.stderr).toBe(
      "svc: 3 of 9 not done; what is done stays, and the next svc apply does the rest\n",
    );
    await rm(join(folder, "ours.whsec"));
    const mended = await apply(whole(), "--prune");
    expect([mended.stderr, mended.code]).toEqual(["", 0]);
    expect(mended.stdout).toContain("2 to make, 0 to change, 1 to delete, 6 as they are");
  });

  test("--json is one document of the plan and of what came of it, without secrets", async () => {
    const file = whole();
    const planned = await apply(file, "--plan", "--json");
    expect([planned.stderr, planned.code]).toEqual(["", 2]);
    expect(JSON.parse(planned.stdout)).toMatchObject({ status: "succeeded", make: 8, same: 0 });
    file.sources.Mailer = {
      ...file.sources.Mailer,
      configuration: { base_url: "https://nobody-approved.example.com/api" },
    };
    const failed = await apply(file, "--json");
    expect([failed.stderr, failed.code]).toEqual(["", 1]);
    const { status, results } = JSON.parse(failed.stdout);
    expect(status).toBe("failed");
    expect(results).toContainEqual({
      section: "pipelines",
      name: "Mailer to warehouse",
      action: "make",
      result: "left",
      because: 'it needs the source "Mailer", which is not as it should be',
    });
    expect(results).toContainEqual(
      expect.objectContaining({ name: "Mailer", result: "failed", error: expect.anything() }),
    );
    expect(planned.stdout + failed.stdout).not.toContain(world.mailer.token);
    await rm(join(folder, "ours.whsec"));
    const mended = JSON.parse((await apply(whole(), "--json")).stdout);
    expect(mended).toMatchObject({ status: "succeeded", make: 2, same: 6 });
    const same = await apply(whole(), "--json");
    expect(JSON.parse(same.stdout)).toEqual({
      status: "succeeded",
      make: 0,
      change: 0,
      delete: 0,
      same: 8,
      keep: 0,
      steps: [],
    });
  });

  test("a change by somebody else between look and change is refused, not written over", async () => {
    await apply(whole());
    const file = whole();
    file.destinations.Warehouse = { connector: "conn_duckdb", configuration: { file: "other" } };
    file.webhooks.Ours = { url: "https://hooks.example.com/new" };
    const [{ webhook_endpoint_id: id }] = (await get("/webhook-endpoints")).items;
    // Whoever is asked about the warehouse comes before the webhook is changed.
    world.api.server.server.prependListener("request", meddle);
    let meddled: Promise<unknown> | undefined;
    function meddle({ method, url = "" }: { method?: string; url?: string }) {
      if (method !== "PATCH" || !url.includes("/destinations/") || meddled) return;
      meddled = world.api.call("PATCH", `/webhook-endpoints/${id}`, {
        token,
        body: { event_types: null },
      });
    }
    const refused = await apply(file);
    world.api.server.server.removeListener("request", meddle);
    await meddled;
    expect(refused.code).toBe(1);
    expect(refused.stdout).toMatch(/webhook "Ours": failed: .*changed since/);
    expect((await apply(file)).code).toBe(0);
  });

  test("sends secrets of what is there only when it is asked to", async () => {
    await apply(whole());
    const versionOf = async () => (await get("/credentials")).items[0].version;
    const before = await versionOf();
    await rm(join(folder, "mailer.txt"));
    expect((await apply(whole())).code).toBe(0);
    const missing = await apply(whole(), "--secrets");
    expect(missing.code).toBe(1);
    expect(missing.stderr).toMatch(
      /^w\.yaml:\d+: credentials\.Newsletters\.secrets\.api_token cannot be had/,
    );
    await writeFile(join(folder, "mailer.txt"), world.mailer.token);
    const sent = await apply(whole(), "--secrets");
    expect([sent.stderr, sent.code]).toEqual(["", 0]);
    expect(await versionOf()).toBe(before + 1);
  });

  test("a viewer sees what would change, and can change nothing", async () => {
    token = workspace.tokens.viewer;
    const { webhooks: _, ...file } = whole();
    expect((await apply(file, "--plan")).code).toBe(2);
    const refused = await apply(file);
    expect(refused.code).toBe(1);
    expect(refused.stdout).toContain('credential "Newsletters": failed: permission denied');
    expect(refused.stdout).toContain('destination "Warehouse": left, nothing more was tried');
  });

  test("what an agent's token asks for waits for its approval", async () => {
    token = workspace.tokens.agent;
    const proposed = await apply({ version: 1, destinations: whole().destinations });
    expect(proposed.code).toBe(1);
    expect(proposed.stdout).toMatch(/destination "Warehouse": failed: waits for the approval apr_/);
  });
});

describe("a file that cannot be applied", () => {
  const line = (text: string, part: string) =>
    text.split("\n").findIndex((one) => one.includes(part)) + 1;
  const canary = "canary-of-a-file-0123456789-abcdefgh";

  test.each([
    [
      "a secret",
      (file: ReturnType<typeof whole>) => {
        file.credentials.Newsletters = {
          connector: "conn_mailer_product_edm",
          secrets: { api_token: canary },
        };
      },
      "api_token:",
      /credentials\.Newsletters\.secrets\.api_token must name where the secret is/,
    ],
    [
      "a secret among the settings",
      (file: ReturnType<typeof whole>) => {
        file.sources.Mailer = { ...file.sources.Mailer, configuration: { api_token: canary } };
      },
      canary,
      /sources\.Mailer\.configuration\.api_token is a secret/,
    ],
    [
      "a password in an address",
      (file: ReturnType<typeof whole>) => {
        file.sources.Mailer = {
          ...file.sources.Mailer,
          configuration: { base_url: `https://user:${canary}@mail.example.com/api` },
        };
      },
      canary,
      /base_url holds a name or a password in an address/,
    ],
    [
      "an unknown key",
      (file: ReturnType<typeof whole>) => {
        file.sources.Mailer = { ...file.sources.Mailer, conector: "x" };
      },
      "conector: x",
      /sources\.Mailer\.conector is not known \(did you mean "connector"\?\)/,
    ],
    [
      "an unknown name",
      (file: ReturnType<typeof whole>) => {
        file.pipelines["Mailer to warehouse"] = {
          source: "Mailr",
          destination: "Warehouse",
          select_all: true,
        };
      },
      "source: Mailr",
      /source names no source of the file or the workspace \(did you mean "Mailer"\?\)/,
    ],
    [
      "an unknown connector",
      (file: ReturnType<typeof whole>) => {
        file.destinations.Warehouse = { connector: "conn_duckd" };
      },
      "connector: conn_duckd",
      /destinations\.Warehouse\.connector names no connector \(did you mean "conn_duckdb"\?\)/,
    ],
    [
      "a kind that is none",
      (file: ReturnType<typeof whole>) => {
        file.pipelines["Mailer to warehouse"] = {
          source: "Mailer",
          destination: "Warehouse",
          streams: "all",
        };
      },
      "streams: all",
      /streams must be a list/,
    ],
  ])("names the place: %s", async (_, spoil, part, problem) => {
    const file = whole();
    spoil(file);
    const text = stringify(file);
    const ran = await apply(text);
    expect(ran.stderr).toMatch(problem);
    expect(ran.stderr).toContain(`w.yaml:${line(text, part)}: `);
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    noSecrets(ran, [canary]);
    expect(await namesOf("/destinations")).toEqual([]);
  });

  test("YAML that cannot be read is refused with its line, and nothing of it is shown", async () => {
    const ran = await apply(`version: 1\nsources:\n  a: {x: ${canary}\n`);
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(ran.stderr).toMatch(/^svc: workspace file "w\.yaml", line \d+: /);
    noSecrets(ran, [canary]);
  });

  test("a secret that stands elsewhere in the file is found", async () => {
    const file = {
      ...whole(),
      sources: { Mailer: { connector: "conn_mailer_product_edm", credential: "Newsletters" } },
    };
    const text = `# the token is ${world.mailer.token}\n${stringify(file)}`;
    const ran = await apply(text);
    expect(ran.stderr).toContain("api_token has a value that stands in this file: take it out");
    expect(ran.code).toBe(1);
  });

  test("what stays as it was made is not made anew in silence", async () => {
    await apply(whole());
    const file = whole();
    file.destinations.Other = { connector: "conn_duckdb", configuration: { file: "other" } };
    file.pipelines["Mailer to warehouse"] = { source: "Mailer", destination: "Other" };
    const ran = await apply(file);
    expect(ran.code).toBe(1);
    expect(ran.stderr).toContain("destination cannot be changed: give the pipeline another name");
    expect(await namesOf("/destinations")).toEqual(["Warehouse"]);
  });

  test("an account that nobody has connected is asked for", async () => {
    const ran = await apply({ version: 1, credentials: { Ours: { connector: "conn_social" } } });
    expect(ran.code).toBe(1);
    expect(ran.stderr).toContain("connect the account in the browser first");
  });
});

describe("svc export", () => {
  test("writes a file of which nothing is left to do, without secrets", async () => {
    await apply(whole());
    const exported = await run(buildExport);
    expect([exported.stderr, exported.code]).toEqual(["", 0]);
    const content = parse(exported.stdout);
    expect(content.credentials.Newsletters).toMatchObject({
      secrets: { api_token: { $env: "SVC_NEWSLETTERS_API_TOKEN" } },
    });
    expect(content.pipelines["Mailer to warehouse"].streams).toContainEqual({
      name: "email_lists",
      sync_mode: "full_refresh",
      destination_sync_mode: expect.any(String),
      primary_key: [["uuid"]],
    });
    const same = await apply(exported.stdout, "--plan", "--prune");
    expect([same.stderr, same.stdout, same.code]).toEqual([
      "",
      "0 to make, 0 to change, 0 to delete, 8 as they are\n",
      0,
    ]);
  });

  test("what it writes makes another workspace alike", async () => {
    await apply(whole());
    const content = parse((await run(buildExport)).stdout);
    const other = await world.api.addWorkspace("copy");
    token = other.tokens.admin;
    delete content.workspace;
    content.credentials.Newsletters.secrets.api_token = { $file: "mailer.txt" };
    // A table of a warehouse has one pipeline that writes to it; files belong to their workspace.
    const copied = await apply(content);
    expect([copied.stderr, copied.code]).toEqual(["", 0]);
    const again = parse((await run(buildExport)).stdout);
    expect({ ...again, workspace: undefined }).toEqual({
      ...content,
      workspace: undefined,
      credentials: again.credentials,
    });
  });

  test("a viewer gets what a viewer may see", async () => {
    await apply(whole());
    token = workspace.tokens.viewer;
    const exported = await run(buildExport);
    expect(exported.code).toBe(0);
    expect(exported.stderr).toBe("webhooks are left out: the token may not see them\n");
    expect(parse(exported.stdout)).not.toHaveProperty("webhooks");
  });
});

test("docs/workspace.schema.json is the form that is applied; `npm run docs` rewrites it", async () => {
  const page = new URL("../docs/workspace.schema.json", import.meta.url);
  expect(await readFile(page, "utf8")).toBe(renderWorkspaceSchema());
});
