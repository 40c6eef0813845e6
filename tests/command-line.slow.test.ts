/** The command, from its arguments to the tables that it leaves, against the mailer's simulator. */
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import * as conformance from "svc-connectors/conformance";
import * as control from "svc-connectors/control";
import { createHost } from "svc-connectors/host";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildDemo } from "../demo/demo.ts";
import { type MailerSimulator, startMailer } from "../simulators/mailer/mailer.ts";
import { commandsOf, runCommand } from "./command.ts";

let mailer: MailerSimulator;
let folder: string;
beforeAll(async () => {
  mailer = await startMailer({ seed: 11, lists: 2, subscribersPerList: 150, campaigns: 12 });
  folder = await mkdtemp(join(tmpdir(), "svc-command-"));
  await writeFile(join(folder, "token.txt"), `${mailer.token}\n`);
  await writeFile(
    join(folder, "mailer.yaml"),
    `base_url: ${mailer.baseUrl}\napi_token: { $file: ./token.txt }\n`,
  );
  await writeFile(join(folder, "svc.config.yaml"), `approved_hosts: [${mailer.hostname}]\n`);
});
afterAll(async () => {
  await mailer.close();
  await rm(folder, { recursive: true, force: true });
});

const commands = commandsOf(conformance, control, { buildDemo });

async function svc(...args: string[]) {
  const ran = await runCommand(args, {
    cwd: folder,
    commands,
    createHost: (options) => createHost({ ...options, seams: mailer.seams }),
  });
  expect(ran.stdout + ran.stderr).not.toContain(mailer.token.slice(6, 26));
  return ran;
}

test("check says that a configuration works, and why one does not", async () => {
  expect(await svc("check", "mailer", "--config", "mailer.yaml")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/works/),
  });
  await writeFile(
    join(folder, "wrong.yaml"),
    `base_url: ${mailer.baseUrl}\napi_token: ${mailer.badToken}\n`,
  );
  const wrong = await svc("check", "mailer", "--config", "wrong.yaml");
  expect(wrong.code).toBe(1);
  expect(wrong.stderr).toContain("did not accept the credentials");
});

test("a host that nobody approved is refused before any request", async () => {
  const before = mailer.requests.length;
  await writeFile(
    join(folder, "other.yaml"),
    `base_url: https://other.example.com/api\napi_token: ${mailer.token}\n`,
  );
  const refused = await svc("check", "mailer", "--config", "other.yaml");
  expect(refused.stderr).toMatch(/not_approved/);
  expect(mailer.requests.length).toBe(before);
});

test("read leaves DuckDB tables that can be queried at once, and a second read adds only what is new", async () => {
  const read = () => svc("read", "mailer", "--config", "mailer.yaml", "--out", "mail.duckdb");
  expect(await read()).toMatchObject({ code: 0 });
  const query = async (sql: string) => {
    const instance = await DuckDBInstance.create(join(folder, "mail.duckdb"));
    const connection = await instance.connect();
    const rows = (await connection.runAndReadAll(sql)).getRowsJson();
    connection.closeSync();
    instance.closeSync();
    return rows;
  };
  const count =
    "SELECT (SELECT count(*) FROM subscribers), (SELECT count(*) FROM campaigns), (SELECT count(DISTINCT uuid) FROM campaigns)";
  expect(await query(count)).toEqual([["300", "12", "12"]]);
  mailer.mutate.addCampaign({ sentAt: "2026-06-02T10:00:00Z", opens: 3 });
  expect(await read()).toMatchObject({ code: 0 });
  expect(await query(count)).toEqual([["300", "13", "13"]]);
});

test("read leaves JSON lines without a trace of the token in any file", async () => {
  expect(
    await svc(
      "read",
      "mailer",
      "--config",
      "mailer.yaml",
      "--streams",
      "email_lists,tags",
      "--out",
      "lines",
    ),
  ).toMatchObject({ code: 0 });
  const entries = await readdir(join(folder, "lines"), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  expect(files.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["email_lists.jsonl", "tags.jsonl"]),
  );
  for (const { parentPath, name } of files) {
    expect(await readFile(join(parentPath, name), "utf8")).not.toContain(mailer.token);
  }
});

test("run speaks the Airbyte Protocol: a catalog from discover, records, states and a way to go on", async () => {
  const discovered = await svc("run", "mailer", "discover", "--config", "mailer.yaml");
  const messages = (text: string) =>
    text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  const { catalog } = messages(discovered.stdout).find(({ type }) => type === "CATALOG");
  const stream = catalog.streams.find(({ name }: { name: string }) => name === "campaigns");
  const configured = {
    streams: [
      {
        stream,
        sync_mode: "incremental",
        destination_sync_mode: "append_dedup",
        cursor_field: stream.default_cursor_field,
      },
    ],
  };
  await writeFile(join(folder, "catalog.json"), JSON.stringify(configured));
  const first = await svc(
    "run",
    "mailer",
    "read",
    "--config",
    "mailer.yaml",
    "--catalog",
    "catalog.json",
  );
  expect(first.code).toBe(0);
  const states = messages(first.stdout).filter(({ type }) => type === "STATE");
  expect(messages(first.stdout).filter(({ type }) => type === "RECORD")).toHaveLength(13);
  await writeFile(
    join(folder, "state.json"),
    JSON.stringify(states.slice(-1).map(({ state }) => state)),
  );
  const second = await svc(
    "run",
    "mailer",
    "read",
    "--config",
    "mailer.yaml",
    "--catalog",
    "catalog.json",
    "--state",
    "state.json",
  );
  expect(second.code).toBe(0);
  expect(
    messages(second.stdout)
      .filter(({ type }) => type === "TRACE")
      .at(-1).trace.stream_status.status,
  ).toBe("COMPLETE");
});

const own = ["read", "check", "discover", "spec", "config", "run", "version", "completion"];
test.each([
  ...own,
  ...Object.keys(commands),
])("svc %s --help says what it is, and what each word and flag means", async (name) => {
  const { code, stdout } = await svc(name, "--help");
  expect(code).toBe(0);
  expect(stdout).toMatch(new RegExp(`^Usage: svc ${name} `));
  const entries = stdout.split("\n").filter((line) => /^ {2}\S/.test(line));
  expect(entries.length).toBeGreaterThan(0);
  for (const entry of entries) expect(entry).toMatch(/^ {2}\S.* {2,}\S/);
  for (const [, verb = ""] of stdout.matchAll(/^ {2}([a-z]+)(?: [<[]\w+[>\]])? {2}/gm)) {
    if (!stdout.includes("\nCommands:") || verb === "help") continue;
    expect(await svc(name, verb, "--help")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(new RegExp(`^Usage: svc ${name} ${verb} `)),
    });
  }
});
