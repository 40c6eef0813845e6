import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { DuckDBInstance } from "@duckdb/node-api";
import { Ajv } from "ajv";
import formats from "ajv-formats";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { capture, type Ran, runCommand } from "../../tests/command.ts";
import { systemClock } from "../host/clock.ts";
import { createHost } from "../host/create-host.ts";
import type { CliEnvironment } from "./terminal.ts";

const counting = fileURLToPath(new URL("../../fixtures/counting", import.meta.url));
const canary = "canary-Zq7-Token-0123456789";

let root: string;
let folderCount = 0;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "svc-cli-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function newFolder(
  files: { readonly [name: string]: string | object } = {},
): Promise<string> {
  const folder = join(root, String(folderCount++));
  await mkdir(folder);
  for (const [name, content] of Object.entries({
    "c.json": { token: canary, count: 25 },
    ...files,
  })) {
    await writeFile(
      join(folder, name),
      typeof content === "string" ? content : JSON.stringify(content),
    );
  }
  return folder;
}

/** One command line against the real host, with the connector in this process. */
const svc = (cwd: string, args: readonly string[], changes: Partial<CliEnvironment> = {}) =>
  runCommand(args, {
    cwd,
    createHost: (options) => createHost({ ...options, sandbox: "inline" }),
    ...changes,
  });
/** Each verb is tried in a worker once; the rest is what the command makes of its answers. */
const inWorker = { createHost };

const protocol = parse(
  await readFile(new URL("../../fixtures/airbyte-protocol.yaml", import.meta.url), "utf8"),
) as object;
const isMessage = formats
  .default(new Ajv({ strict: false }).addSchema(protocol))
  .compile({ $ref: "airbyte-protocol#/definitions/AirbyteMessage" });

type Message = {
  readonly type: string;
  readonly record?: { readonly data: { readonly id: number }; readonly stream: string };
  readonly trace?: {
    readonly type: string;
    readonly stream_status?: { readonly status: string };
    readonly error?: object;
  };
  readonly catalog?: { readonly streams: readonly object[] };
  readonly state?: object;
};

/** The messages on stdout, each checked against the protocol. */
function messagesOf({ stdout }: Ran): Message[] {
  return stdout
    .split("\n")
    .slice(0, -1)
    .map((line) => {
      const message = JSON.parse(line) as Message;
      expect(isMessage(message), line).toBe(true);
      return message;
    });
}

const brief = ({ type, trace }: Message) => trace?.stream_status?.status ?? trace?.type ?? type;

/** A configured catalog of these streams, made from what discover said. */
async function catalogOf(
  folder: string,
  names: readonly string[],
  mode = "full_refresh",
): Promise<string> {
  const [found] = messagesOf(
    await svc(folder, ["run", counting, "discover", "--config", "c.json"]),
  );
  const streams = (found?.catalog?.streams ?? []).filter((stream) =>
    names.includes((stream as { name: string }).name),
  );
  const catalog = {
    streams: streams.map((stream) => ({
      stream,
      sync_mode: mode,
      destination_sync_mode: "append",
    })),
  };
  await writeFile(join(folder, "catalog.json"), JSON.stringify(catalog));
  return "catalog.json";
}

describe("svc run speaks the Airbyte Protocol", () => {
  test("a connector that there is not is named before a file that there is not", async () => {
    const { code, stderr } = await svc(root, ["run", "postgress", "read", "--config", "none.json"]);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'svc: there is no connector "postgress" (did you mean "postgres"?)\n',
    });
  });

  test("spec", async () => {
    const result = await svc(await newFolder(), ["run", counting, "spec"], inWorker);
    expect(messagesOf(result)).toMatchObject([
      {
        type: "SPEC",
        spec: {
          supportsIncremental: true,
          connectionSpecification: { properties: { token: { airbyte_secret: true } } },
        },
      },
    ]);
    expect(result).toMatchObject({ code: 0, stderr: "" });
  });

  test("check that succeeds, and one that fails: both end with 0", async () => {
    const folder = await newFolder({
      "bad.yaml": "token: x\ncount: 1\nworks: false\n",
      "wrong.json": { token: canary, count: "many" },
    });
    const check = (config: string) =>
      svc(folder, ["run", counting, "check", "--config", config], inWorker);
    const [good, bad, wrong] = [
      await check("c.json"),
      await check("bad.yaml"),
      await check("wrong.json"),
    ];
    expect(messagesOf(good)).toEqual([
      { type: "CONNECTION_STATUS", connectionStatus: { status: "SUCCEEDED" } },
    ]);
    expect(messagesOf(bad)).toMatchObject([
      { connectionStatus: { status: "FAILED", message: expect.stringContaining("credentials") } },
    ]);
    expect(messagesOf(wrong)).toMatchObject([
      { connectionStatus: { status: "FAILED", message: expect.stringContaining("count") } },
    ]);
    expect([good.code, bad.code, wrong.code]).toEqual([0, 0, 0]);
  });

  test("discover", async () => {
    const discover = ["run", counting, "discover", "--config", "c.json"];
    const result = await svc(await newFolder(), discover, inWorker);
    const [catalog] = messagesOf(result);
    expect(catalog?.catalog?.streams).toHaveLength(4);
    expect(result.code).toBe(0);
  });

  test("read: records, states with counts, statuses, logs; and again from the state that it wrote", async () => {
    const folder = await newFolder();
    const catalog = await catalogOf(folder, ["numbers"], "incremental");
    const read = ["run", counting, "read", "--config", "c.json", "--catalog", catalog];
    const result = await svc(folder, read, inWorker);
    const messages = messagesOf(result);
    expect(result.code).toBe(0);
    expect(
      messages.filter(({ type }) => type === "RECORD").map(({ record }) => record?.data.id),
    ).toEqual(Array.from({ length: 25 }, (_, id) => id));
    const outline = messages.map(brief).filter((name) => name !== "LOG");
    expect([outline[0], outline[1], outline.at(-1)]).toEqual(["STARTED", "RUNNING", "COMPLETE"]);
    const states = messages.filter(({ type }) => type === "STATE");
    expect(states.at(-1)).toMatchObject({
      state: {
        type: "STREAM",
        stream: { stream_descriptor: { name: "numbers" }, stream_state: { from: 25 } },
      },
    });
    const again = async (text: string) => {
      await writeFile(join(folder, "state.json"), text);
      return messagesOf(await svc(folder, [...read, "--state", "state.json"]));
    };
    const first = states[0] ?? { type: "none" };
    for (const text of [
      JSON.stringify([first.state]),
      `${JSON.stringify(first)}\n`,
      `${JSON.stringify(first)}\n${JSON.stringify(first)}\n`,
    ]) {
      const records = (await again(text)).filter(({ type }) => type === "RECORD");
      expect(records.map(({ record }) => record?.data.id)).toEqual(
        Array.from({ length: 15 }, (_, id) => id + 10),
      );
    }
    for (const text of ["", "{}", "[]"])
      expect((await again(text)).filter(({ type }) => type === "RECORD")).toHaveLength(25);
  });

  test("a stream that fails is INCOMPLETE with an error of its own, the others are read, and the exit code is 1", async () => {
    const folder = await newFolder();
    const catalog = await catalogOf(folder, ["numbers", "denied", "letters"]);
    const result = await svc(folder, [
      "run",
      counting,
      "read",
      "--config",
      "c.json",
      "--catalog",
      catalog,
    ]);
    const messages = messagesOf(result);
    expect(result).toMatchObject({ code: 1, stderr: "" });
    expect(messages.filter(({ type }) => type === "RECORD")).toHaveLength(27);
    expect(
      messages.filter((message) => brief(message) === "ERROR").map(({ trace }) => trace?.error),
    ).toEqual([
      {
        internal_message: "PERMISSION_DENIED",
        message: expect.stringContaining("permission"),
        failure_type: "config_error",
        stream_descriptor: { name: "denied" },
      },
    ]);
    expect(messages.map(brief)).toContain("INCOMPLETE");
  });

  test("a wrong configuration for read is told as a TRACE ERROR and in one line, and the exit code is 2", async () => {
    const folder = await newFolder({ "wrong.json": { token: canary, count: -1 } });
    const catalog = await catalogOf(folder, ["numbers"]);
    const result = await svc(folder, [
      "run",
      counting,
      "read",
      "--config",
      "wrong.json",
      "--catalog",
      catalog,
    ]);
    expect(messagesOf(result)).toMatchObject([
      { trace: { type: "ERROR", error: { failure_type: "config_error" } } },
    ]);
    expect(result.stderr).toMatch(/^svc: .*count.*\(CONFIG_INVALID\)\n$/);
    expect(result.code).toBe(2);
  });

  test("what a client leaves out or sets to null in the catalog does not matter", async () => {
    const stream = {
      name: "letters",
      namespace: "more",
      json_schema: {},
      supported_sync_modes: ["full_refresh"],
      default_cursor_field: null,
      is_file_based: null,
    };
    const folder = await newFolder({
      "k.json": {
        streams: [
          {
            stream,
            sync_mode: "full_refresh",
            destination_sync_mode: "append",
            cursor_field: null,
            generation_id: null,
          },
        ],
      },
    });
    const result = await svc(folder, [
      "run",
      counting,
      "read",
      "--config",
      "c.json",
      "--catalog",
      "k.json",
    ]);
    expect(result.code).toBe(0);
    expect(messagesOf(result).filter(({ type }) => type === "RECORD")).toHaveLength(2);
  });

  test("files of other tools are read as JSON.parse reads them: of a key given twice the last value counts, with a warning", async () => {
    const folder = await newFolder();
    await catalogOf(folder, ["numbers"], "incremental");
    const text = await readFile(join(folder, "catalog.json"), "utf8");
    await writeFile(join(folder, "catalog.json"), text.replace("{", '{"streams":[],'));
    await writeFile(join(folder, "twice.json"), `{"count":3,"token":"${canary}","count":25}`);
    const state = (id: number) =>
      `[{"type":"STREAM","stream":{"stream_descriptor":{"name":"numbers"},"stream_state":{"from":${id}}},"global_":null,"global_":null}]`;
    await writeFile(join(folder, "state.json"), state(24));
    const result = await svc(folder, [
      ...["run", counting, "read", "--config", "twice.json"],
      ...["--catalog", "catalog.json", "--state", "state.json"],
    ]);
    expect(result).toMatchObject({ code: 0, stderr: "" });
    const messages = messagesOf(result) as (Message & {
      log?: { level: string; message: string };
    })[];
    expect(
      messages.flatMap(({ log }) =>
        log?.level === "WARN" ? [log.message.split(" file ")[0]] : [],
      ),
    ).toEqual(["config", "catalog", "state"]);
    expect(result.stdout).toContain("a key is given twice; its last value counts");
    expect(result.stdout).not.toContain(canary);
    const ids = messages.flatMap(({ record }) => (record ? [record.data.id] : []));
    expect(ids[0]).toBeGreaterThan(22);
    expect(ids.length).toBeLessThan(4);
  });

  test("a stream that has no incremental read is read whole with a warning, also with the state of another mode", async () => {
    const folder = await newFolder({
      "state.json": [
        {
          type: "STREAM",
          stream: {
            stream_descriptor: { name: "letters", namespace: "more" },
            stream_state: { x: 1 },
          },
        },
      ],
    });
    await catalogOf(folder, ["letters", "numbers"], "incremental");
    const result = await svc(folder, [
      ...["run", counting, "read", "--config", "c.json"],
      ...["--catalog", "catalog.json", "--state", "state.json"],
    ]);
    expect(result.code).toBe(0);
    const text = result.stdout;
    expect(text.match(/cannot be read incrementally and is read whole/g)).toHaveLength(1);
    expect(text).toContain("more.letters");
    const records = messagesOf(result).filter(({ type }) => type === "RECORD");
    expect(new Set(records.map(({ record }) => record?.stream))).toEqual(
      new Set(["letters", "numbers"]),
    );
  });

  test.each([
    ["a legacy state", { numbers: { from: 3 } }, "legacy"],
    ["a legacy state of that type", [{ type: "LEGACY", data: {} }], "legacy"],
    ["a global state", [{ type: "GLOBAL", global: { stream_states: [] } }], "global"],
    ["a state without a stream", [{ type: "STREAM", stream: {} }], "names no stream"],
    [
      "a state of another connector",
      [
        {
          type: "STREAM",
          stream: { stream_descriptor: { name: "numbers" }, stream_state: { page: 7 } },
        },
      ],
      "not one that this connector wrote",
    ],
    ["a number", 7, "not a state message"],
  ])("%s is refused instead of starting over", async (_, state, text) => {
    const folder = await newFolder({ "s.json": JSON.stringify(state) });
    const catalog = await catalogOf(folder, ["numbers"], "incremental");
    const result = await svc(folder, [
      "run",
      counting,
      "read",
      "--config",
      "c.json",
      "--catalog",
      catalog,
      "--state",
      "s.json",
    ]);
    expect(result.code).toBe(2);
    expect(result.stderr).toContain("(STATE_INVALID)");
    expect(result.stderr).toContain(text);
    expect(messagesOf(result).filter(({ type }) => type === "RECORD")).toEqual([]);
  });

  test("a signal ends the read with INCOMPLETE, what was written stays whole, and the exit code is 1", async () => {
    const folder = await newFolder();
    const catalog = await catalogOf(folder, ["endless"]);
    let interrupt = () => {};
    const { stream, text } = capture();
    const written = new Writable({
      write(chunk: Buffer, encoding, done) {
        stream.write(chunk, encoding, done);
        if (chunk.includes('"STATE"')) interrupt();
      },
    });
    const result = await svc(
      folder,
      ["run", counting, "read", "--config", "c.json", "--catalog", catalog],
      {
        stdout: written,
        onSignal: (listener) => {
          interrupt = listener;
          return { [Symbol.dispose]: () => {} };
        },
      },
    );
    const messages = messagesOf({ ...result, stdout: text() });
    expect(messages.map(brief)).toContain("INCOMPLETE");
    expect(result.code).toBe(1);
  });

  test("when nobody reads stdout any more it ends quietly", async () => {
    const folder = await newFolder();
    const catalog = await catalogOf(folder, ["endless"]);
    const closed = new PassThrough();
    closed.once("data", () =>
      closed.destroy(Object.assign(new Error("write EPIPE"), { code: "EPIPE" })),
    );
    const result = await svc(
      folder,
      ["run", counting, "read", "--config", "c.json", "--catalog", catalog],
      {
        stdout: closed,
      },
    );
    expect(result).toMatchObject({ code: 141, stderr: "" });
  });

  test("a stdout that cannot be written to is an error", async () => {
    const full = new Writable({
      write: (_chunk, _encoding, done) => done(Object.assign(new Error("no"), { code: "ENOSPC" })),
    });
    const result = await svc(await newFolder(), ["connectors"], {
      stdout: full,
      stderr: capture().stream,
    });
    expect(result.code).toBe(1);
  });
});

describe("svc read leaves data that can be queried", () => {
  test("JSON lines in ./out, and a table of what was read", async () => {
    const folder = await newFolder();
    const result = await svc(folder, [
      "read",
      counting,
      "--config",
      "c.json",
      "--streams",
      "numbers,letters",
    ]);
    expect(result.code).toBe(0);
    const lines = (await readFile(join(folder, "out/numbers.jsonl"), "utf8"))
      .split("\n")
      .slice(0, -1);
    expect(lines.map((line) => JSON.parse(line) as object)).toContainEqual({
      id: 24,
      text: "row 24",
    });
    expect(await readFile(join(folder, "out/more.letters.jsonl"), "utf8")).toBe(
      '{"letter":"a"}\n{"letter":"b"}\n',
    );
    expect(result.stdout).toMatch(/^numbers +25 +complete +numbers\.jsonl$/m);
    expect(result.stdout).toMatch(
      /^Query it: duckdb -c "SELECT \* FROM '\.\/out\/numbers\.jsonl' LIMIT 10"$/m,
    );
  });

  test("DuckDB tables; a second run adds only what is new", async () => {
    const folder = await newFolder({ "more.json": { token: canary, count: 31 } });
    const read = (config: string) =>
      svc(
        folder,
        [
          ...["read", counting, "--config", config],
          ...["--streams", "numbers", "--out", "data/x.duckdb"],
        ],
        inWorker,
      );
    expect((await read("c.json")).stdout).toMatch(/^numbers +25 +complete +"numbers"$/m);
    expect((await read("more.json")).stdout).toMatch(/^numbers +6 +complete/m);
    const instance = await DuckDBInstance.create(join(folder, "data/x.duckdb"));
    const connection = await instance.connect();
    const rows = (
      await connection.runAndReadAll("SELECT count(*), count(DISTINCT id), max(text) FROM numbers")
    ).getRowsJson();
    connection.closeSync();
    instance.closeSync();
    expect(rows).toEqual([["31", "31", "row 9"]]);
  });

  test("a failed stream is named with its reason, the others are there, and the exit code is 1", async () => {
    const folder = await newFolder();
    const result = await svc(folder, [
      "read",
      counting,
      "--config",
      "c.json",
      "--streams",
      "denied,numbers",
    ]);
    expect(result.code).toBe(1);
    expect(result.stdout).toMatch(/^denied +0 +incomplete/m);
    expect(result.stdout).toMatch(/^denied: The credentials lack a permission/m);
    expect(result.stdout).toMatch(/^numbers +25 +complete/m);
    expect(result.stdout).toContain("Run the same command again");
  });

  test("--full-refresh reads all again; --incremental refuses a named stream that cannot", async () => {
    const folder = await newFolder();
    const read = (...flags: string[]) =>
      svc(folder, ["read", counting, "--config", "c.json", ...flags]);
    await read("--streams", "numbers");
    expect((await read("--streams", "numbers")).stdout).toMatch(/^numbers +0 /m);
    expect((await read("--streams", "numbers", "--full-refresh")).stdout).toMatch(/^numbers +25 /m);
    const refused = await read("--streams", "letters", "--incremental");
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toContain("(SYNC_MODE_UNSUPPORTED)");
  });

  test("an interrupted read keeps its rows and goes on in the next run", async () => {
    const folder = await newFolder();
    let interrupt = () => {};
    const onSignal: CliEnvironment["onSignal"] = (listener) => {
      interrupt = listener;
      return { [Symbol.dispose]: () => {} };
    };
    let waitCount = 0;
    // The connector asks the clock for time between its pages.
    const clock = {
      now: systemClock.now,
      sleep: async () => void (++waitCount > 3 && interrupt()),
    };
    const run = () =>
      svc(folder, ["read", counting, "--config", "c.json", "--streams", "endless"], {
        ...inWorker,
        onSignal,
        clock,
      });
    const first = await run();
    expect(first.code).toBe(130);
    waitCount = 0;
    await run();
    const ids = (await readFile(join(folder, "out/endless.jsonl"), "utf8"))
      .split("\n")
      .slice(0, -1)
      .map((line) => (JSON.parse(line) as { id: number }).id);
    expect(ids.length).toBeGreaterThan(50);
    expect(ids).toEqual(ids.map((_, index) => index));
  });

  test("check, discover, spec and connectors speak to people", async () => {
    const folder = await newFolder({ "bad.json": { token: canary, count: 1, works: false } });
    expect(await svc(folder, ["check", counting, "--config", "c.json"])).toMatchObject({
      code: 0,
      stdout: "The configuration works.\n",
    });
    expect(await svc(folder, ["check", counting, "--config", "bad.json"])).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("(CREDENTIALS_REJECTED)"),
    });
    expect((await svc(folder, ["discover", counting, "--config", "c.json"])).stdout).toMatch(
      /^numbers +2 +id +full_refresh, incremental +id$/m,
    );
    expect((await svc(folder, ["spec", counting])).stdout).toMatch(
      /^token +required; secret; text\n +Token\. Any text/m,
    );
    expect((await svc(folder, ["connectors"])).stdout).toMatch(/^mailer +conn_mailer_product_edm/m);
  });
});

describe("what a person gets wrong is one line, exit code 2, no stack, no content", () => {
  const secretText = `token: ${canary}`;
  const cases: [
    what: string,
    args: string[],
    expected: RegExp,
    files?: { [name: string]: string },
  ][] = [
    ["an unknown command", ["raed"], /unknown command "raed" \(did you mean "read"\?\)/],
    ["an unknown flag before any command", ["--verison"], /unknown flag/],
    [
      "an unknown flag",
      ["read", counting, "--confg", "c.json"],
      /unknown flag --confg \(did you mean "config"\?\)/,
    ],
    ["a flag of another command", ["read", counting, "--catalog", "x"], /unknown flag --catalog/],
    ["a flag without its value", ["read", counting, "--config"], /--config needs a value/],
    [
      "a flag in the place of a value",
      ["run", counting, "read", "--config", "--catalog", "x"],
      /--config needs a value/,
    ],
    [
      "a value for a switch",
      ["read", counting, "--config", "c.json", "--incremental=yes"],
      /--incremental takes no value/,
    ],
    [
      "a flag given twice",
      ["read", counting, "--config", "c.json", "--config", "c.json"],
      /--config is given twice/,
    ],
    [
      "both modes",
      ["read", counting, "--config", "c.json", "--incremental", "--full-refresh"],
      /choose one of/,
    ],
    [
      "a sandbox that is none",
      ["read", counting, "--config", "c.json", "--sandbox", "bublewrap"],
      /did you mean "bubblewrap"/,
    ],
    [
      "memory that is no number",
      ["read", counting, "--config", "c.json", "--memory", "lots"],
      /--memory must be a whole number/,
    ],
    ["no connector", ["read", "--config", "c.json"], /name a connector/],
    [
      "a verb in the place of the connector",
      ["run", "check", "--config", "c.json"],
      /name a connector before check/,
    ],
    ["no verb", ["run", counting], /say what to do: spec, check, discover, read/],
    [
      "an unknown verb",
      ["run", counting, "chekc"],
      /unknown verb "chekc" \(did you mean "check"\?\)/,
    ],
    ["a word too many", ["run", counting, "spec", "now"], /unexpected "now"/],
    [
      "an unknown connector",
      ["read", "postgers", "--config", "c.json"],
      /there is no connector "postgers" \(did you mean "postgres"\?\)/,
    ],
    [
      "a path that is none",
      ["read", "./nothing", "--config", "c.json"],
      /there is no connector "\.\/nothing"; a path leads to a module, .* manifest/,
    ],
    [
      "a path to one of svc's own",
      ["read", "./postgres", "--config", "c.json"],
      /there is no connector "\.\/postgres"; svc's own is called postgres, without a path/,
    ],
    ["a bad file: URL", ["read", "file://host/x", "--config", "c.json"], /there is no connector/],
    ["no config", ["read", counting], /read needs --config FILE/],
    ["no catalog", ["run", counting, "read", "--config", "c.json"], /read needs --catalog FILE/],
    [
      "a missing file",
      ["read", counting, "--config", "none.json"],
      /config file "none\.json": does not exist/,
    ],
    ["a folder for a file", ["read", counting, "--config", "."], /config file "\.": is a folder/],
    ["an empty file", ["read", counting, "--config", "f"], /must hold an object/, { f: "" }],
    [
      "a list for an object",
      ["read", counting, "--config", "f"],
      /must hold an object/,
      { f: "[1]" },
    ],
    [
      "broken JSON",
      ["read", counting, "--config", "f"],
      /config file "f", line 2: is not valid JSON/,
      { f: `{"token": "${canary}",\n "count": oops "x"` },
    ],
    [
      "broken YAML",
      ["read", counting, "--config", "f"],
      /config file "f", line 2: /,
      { f: `${secretText}\n: : {[\n` },
    ],
    [
      "a tab in YAML",
      ["read", counting, "--config", "f"],
      /line 2: a tab cannot indent/,
      { f: `a:\n\tb: ${canary}\n` },
    ],
    [
      "a key twice in YAML",
      ["read", counting, "--config", "f"],
      /line 2: a key is given twice/,
      { f: `${secretText}\n${secretText}\n` },
    ],
    [
      "a key twice in JSON",
      ["read", counting, "--config", "f"],
      /line 3: a key is given twice/,
      { f: `{"token": "${canary}",\n "a": {"token": 1},\n "tok\\u0065n": 2}` },
    ],
    [
      "a YAML tag",
      ["read", counting, "--config", "f"],
      /line 1: tags are not supported/,
      { f: `token: !!js/function ${canary}\n` },
    ],
    [
      "two YAML documents",
      ["read", counting, "--config", "f"],
      /a second document/,
      { f: `${secretText}\n---\n${secretText}\n` },
    ],
    [
      "a bomb of aliases",
      ["read", counting, "--config", "f"],
      /too many aliases/,
      {
        f: `a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n`,
      },
    ],
    [
      "a number that JSON lacks",
      ["read", counting, "--config", "f"],
      /\.nan or \.inf/,
      { f: "count: .inf\n" },
    ],
    [
      "a file that is too large",
      ["read", counting, "--config", "f"],
      /is larger than 1048576 bytes/,
      { f: `# ${"x".repeat(1 << 20)}` },
    ],
    [
      "a secret's file that is missing",
      ["read", counting, "--config", "f"],
      /secret file "no\/token": does not exist/,
      { f: '{"token": {"$file": "no/token"}, "count": 1}' },
    ],
    [
      "a $file that names none",
      ["read", counting, "--config", "f"],
      /\$file must name a file/,
      { f: '{"token": {"$file": 7}, "count": 1}' },
    ],
    [
      "an unknown setting of the connector",
      ["read", counting, "--config", "f"],
      /\(CONFIG_INVALID\)/,
      { f: `{"token": "${canary}", "count": 1, "cuont": 2}` },
    ],
    [
      "an unknown stream",
      ["read", counting, "--config", "c.json", "--streams", "numbres"],
      /there is no stream "numbres" \(did you mean "numbers"\?\)/,
    ],
    [
      "an output that is a file",
      ["read", counting, "--config", "c.json", "--out", "c.json"],
      /--out c\.json is a file/,
    ],
    [
      "settings that are missing",
      ["read", counting, "--config", "c.json", "--settings", "none.yaml"],
      /"none\.yaml": does not exist/,
    ],
    [
      "an unknown operator setting",
      ["check", counting, "--config", "c.json"],
      /svc\.config\.yaml: approved_host is not a setting \(did you mean "approved_hosts"\?\)/,
      { "svc.config.yaml": "approved_host: []\n" },
    ],
    [
      "a network that is none",
      ["check", counting, "--config", "c.json"],
      /allow_networks\[1\] must be a network/,
      { "svc.config.yaml": "allow_networks: [10.0.0.0/8, 10.0.0.0/99]\n" },
    ],
    [
      "a host that is none",
      ["check", counting, "--config", "c.json"],
      /approved_hosts\[0\] must be a host name/,
      { "svc.config.yaml": "approved_hosts: ['https://x.example.com']\n" },
    ],
    [
      "a catalog that is none",
      ["run", counting, "read", "--config", "c.json", "--catalog", "f"],
      /\(CATALOG_INVALID\)/,
      { f: "{}" },
    ],
    [
      "a discovered catalog in the place of a configured one",
      ["run", counting, "read", "--config", "c.json", "--catalog", "f"],
      /\(CATALOG_INVALID\)/,
      { f: '{"streams": [{"name": "numbers"}]}' },
    ],
    [
      "a catalog of an unknown stream",
      ["run", counting, "read", "--config", "c.json", "--catalog", "f"],
      /no stream named ghosts.*\(STREAM_UNKNOWN\)/,
      {
        f: '{"streams": [{"stream": {"name": "ghosts", "json_schema": {}, "supported_sync_modes": ["full_refresh"]}, "sync_mode": "full_refresh"}]}',
      },
    ],
  ];

  test.each(cases)("%s", async (_, args, expected, files = {}) => {
    const { code, stdout, stderr } = await svc(await newFolder(files), args);
    expect(stderr).toMatch(expected);
    expect(stderr).toMatch(/^svc: [^\n]{5,600}\n$/);
    expect(code).toBe(2);
    expect(stdout + stderr).not.toContain(canary);
    expect(stdout + stderr).not.toContain(canary.slice(0, 8));
    expect(stderr).not.toMatch(/\bat .*:\d+:\d+|node_modules|Error:/);
    // A client of the protocol reads stdout alone.
    if (args[0] !== "run") return;
    const [failure, ...more] = messagesOf({ code, stdout, stderr });
    expect(more).toEqual([]);
    expect(failure?.trace).toMatchObject({
      type: "ERROR",
      error: { message: expect.stringMatching(/^.{5,600}$/), failure_type: "config_error" },
    });
    expect(stderr).toContain((failure?.trace?.error as { message: string }).message);
  });

  test("a file that is not UTF-8", async () => {
    const folder = await newFolder();
    await writeFile(join(folder, "latin1.yaml"), Buffer.from(`${secretText}\xff\n`, "latin1"));
    expect(await svc(folder, ["read", counting, "--config", "latin1.yaml"])).toMatchObject({
      code: 2,
      stderr: 'svc: config file "latin1.yaml": is not UTF-8 text\n',
    });
  });
});

test("a secret comes from a file beside the configuration, without its last line break", async () => {
  const folder = await newFolder({
    "c.yaml": "token: {$file: ./token}\ncount: 1\n",
    token: `${canary}\n`,
  });
  const asked: unknown[] = [];
  const host: CliEnvironment["createHost"] = (options) => {
    const real = createHost(options);
    return {
      ...real,
      async check(_connector, config) {
        asked.push(config);
        return { status: "succeeded" };
      },
      [Symbol.asyncDispose]: () => real[Symbol.asyncDispose](),
    };
  };
  await svc(folder, ["check", counting, "--config", "c.yaml"], { createHost: host });
  expect(asked).toEqual([{ token: canary, count: 1 }]);
});

test("databases on this machine and private networks are reached, requests go only to what the operator opened", async () => {
  const folder = await newFolder({
    "svc.config.yaml": "approved_hosts: ['*.example.com']\nallow_networks: [100.64.0.0/10]\n",
  });
  const settings: unknown[] = [];
  const host: CliEnvironment["createHost"] = (options) => {
    settings.push(options.settings);
    return createHost(options);
  };
  await svc(folder, ["spec", counting], { createHost: host });
  await svc(folder, ["spec", "postgres"], { createHost: host });
  expect(settings).toHaveLength(2);
  for (const one of settings) {
    expect(one).toMatchObject({
      approvedHosts: ["*.example.com"],
      allowNetworks: ["100.64.0.0/10"],
      databaseNetworks: expect.arrayContaining(["127.0.0.0/8", "10.0.0.0/8", "fc00::/7"]),
    });
    expect(JSON.stringify(one)).not.toMatch(/169\.254|fe80|0\.0\.0\.0\/0/);
  }
});

test("help and version", async () => {
  const folder = await newFolder();
  expect(await svc(folder, ["--help"])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("svc <command>"),
  });
  expect(await svc(folder, [])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("svc <command>"),
  });
  expect(await svc(folder, ["read", "--help"])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("--streams A,B"),
  });
  expect((await svc(folder, ["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});
