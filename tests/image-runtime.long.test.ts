/**
 * Images in the runtime: a well-made one is read like any connector, and one that means harm meets
 * walls.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DuckDBInstance } from "@duckdb/node-api";
import {
  askDocker,
  type CatalogStream,
  createHost,
  type HostEvent,
  openImage,
  type WorkerLimits,
} from "svc-connectors/host";
import { beforeAll, describe, expect, test } from "vitest";
import { askInstance } from "../control/operator/ask.ts";
import { createOperator } from "../control/operator/operator.ts";
import { buildImages, hasDocker } from "../fixtures/images/docker.ts";
import { answerNotes, type Notebook, notebook } from "../fixtures/reference/provider.ts";
import { createCertificateAuthority } from "../simulators/certificates.ts";
import { answerJson, providerName, startProvider } from "../simulators/loopback.ts";
import { runCommand } from "./command.ts";
import { startTestControl } from "./control.ts";
import { queryDestination } from "./control-pipelines.ts";
import { createMemorySink } from "./memory-sink.ts";
import { containersOf, searchContainer } from "./search-container.ts";

const token = "the-token-of-this-account-0123456789";
const privateKey = "the-key-of-this-account-abcdefghijklm";

/**
 * Notes for who has the token, over TLS.
 * @param before is waited for before each answer
 */
async function startNotes(book: () => Notebook, before: () => Promise<void> = async () => {}) {
  const authority = await createCertificateAuthority();
  const certificate = await authority.issue(["api.notes.example.com"]);
  const provider = await startProvider(
    async ({ method, url, headers }, response) => {
      await before();
      const isAllowed = headers.authorization === `Bearer ${token}`;
      const target = new URL(url, "https://api.notes.example.com");
      const { status, body } = answerNotes(book(), method, target, isAllowed);
      response.writeHead(status, { "content-type": "application/json" }).end(body);
    },
    { certificate },
  );
  const seams = { ...provider.seams, ca: authority.caPem };
  return { ...provider, seams, received: provider.received };
}

const hasGo = spawnSync("go", ["version"], { stdio: "ignore" }).status === 0;

describe.skipIf(!hasDocker)("with Docker", () => {
  const others = ["node", ...(hasGo ? ["go"] : [])];
  beforeAll(() => buildImages("reference", "hostile", "cdk", ...others));

  test.each(
    others,
  )("one in %s finds its way through the proxy by what its language knows", async (language) => {
    await using provider = await startNotes(() => notebook);
    await using host = createHost({ seams: provider.seams });
    const hosts = ["api.notes.example.com"];
    const image = await openImage(`svc-test-${language}`, { hosts, exposed: [], memoryMb: 512 });
    const config = { api_token: token };
    const [stream] = await host.discover(image, config);
    const catalog = {
      streams: [{ stream: stream as CatalogStream, sync_mode: "full_refresh" as const }],
    };
    const sink = createMemorySink();
    const { status } = await host.read(image, { config, catalog }, sink);
    expect([status, sink.rows("notes").map(({ id }) => id)]).toEqual([
      "succeeded",
      notebook.notes.map(({ id }) => id),
    ]);
  });

  test.each([
    ["reference", "cursor="],
    ["cdk", "since=2026-05-02"],
  ])("a well-made image (%s) is read into DuckDB, signs with a token that it does not have, and goes on from its state", async (name, place) => {
    let book: Notebook = { ...notebook, notes: notebook.notes.slice(0, 5) };
    await using provider = await startNotes(() => book);
    const cwd = await mkdtemp(join(tmpdir(), "svc-image-test-"));
    const read = () =>
      runCommand(
        [
          ...["read", `image:svc-test-${name}`, "--config", "c.json", "--out", "x.duckdb"],
          ...["--incremental", "--allow-host", "api.notes.example.com"],
        ],
        {
          cwd,
          createHost: (options) => createHost({ ...options, seams: provider.seams }),
        },
      );
    try {
      await writeFile(join(cwd, "c.json"), JSON.stringify({ api_token: token }));
      const first = await read();
      expect([first.code, first.stderr]).toEqual([0, expect.anything()]);
      book = notebook;
      const count = provider.received.length;
      expect(await read()).toMatchObject({ code: 0 });
      expect(
        provider.received
          .slice(count)
          .map(({ url }) => url)
          .join(" "),
      ).toContain(place);
      const db = await DuckDBInstance.create(join(cwd, "x.duckdb"));
      const connection = await db.connect();
      const found = await connection.runAndReadAll("SELECT id FROM notes ORDER BY id");
      expect(found.getRows().flat()).toEqual(notebook.notes.map(({ id }) => id));
      connection.closeSync();
      db.closeSync();
    } finally {
      await rm(cwd, { recursive: true });
    }
  });

  test("one on Airbyte's CDK is known, checked and read: a manifest's streams and one in Python, without its token", async () => {
    await using provider = await startNotes(() => notebook);
    await using host = createHost({ seams: provider.seams });
    const hosts = ["api.notes.example.com"];
    const image = await openImage("svc-test-cdk", { hosts, exposed: [], memoryMb: 512 });
    const config = { api_token: token };
    expect(await host.check(image, config)).toMatchObject({ status: "succeeded" });
    const others = { api_token: "of-another-account" };
    const wrong = await host.check(image, others);
    expect(wrong).toMatchObject({ status: "failed", error: { code: "CREDENTIALS_REJECTED" } });
    const missing = await host.check(image, {});
    expect(missing).toMatchObject({ status: "failed", error: { code: "CONFIG_INVALID" } });
    const found = await host.discover(image, config);
    expect(found.map(({ name }) => name)).toEqual(["notes", "folder_members", "tags"]);
    const read = found.map((stream) => ({ stream, sync_mode: "full_refresh" as const }));
    const sink = createMemorySink();
    const { status } = await host.read(image, { config, catalog: { streams: read } }, sink);
    expect(status).toBe("succeeded");
    const catalog = { streams: read };
    const refused = await host.read(image, { config: others, catalog }, createMemorySink());
    expect(refused.streams.map(({ error }) => error?.code)).toEqual(
      read.map(() => "CREDENTIALS_REJECTED"),
    );
    expect(sink.rows("notes").map(({ id }) => id)).toEqual(notebook.notes.map(({ id }) => id));
    // The CDK reads partitions beside each other, in no order.
    const members = sink.rows("folder_members").map((row) => `${row.folder_id} ${row.id}`);
    expect(members.toSorted()).toEqual(["f1 u1", "f1 u2", "f1 u3", "f2 u1"]);
  });

  test("one on Airbyte's CDK holds its token nowhere while it reads: in no file, environment, argument or memory", async () => {
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await using provider = await startNotes(
      () => notebook,
      () => {
        asked.resolve();
        return answered.promise;
      },
    );
    await using host = createHost({ seams: provider.seams });
    const hosts = ["api.notes.example.com"];
    const image = await openImage("svc-test-cdk", { hosts, exposed: [], memoryMb: 512 });
    const schema = { type: "object", properties: { id: { type: "string" } } };
    const stream = { name: "notes", json_schema: schema, supported_sync_modes: ["full_refresh"] };
    const catalog = { streams: [{ stream, sync_mode: "full_refresh" }] };
    const sink = createMemorySink();
    const reading = host.read(image, { config: { api_token: token }, catalog } as never, sink);
    await Promise.race([asked.promise, reading]);
    const [container = ""] = await containersOf("read");
    const encoded = Buffer.from(token).toString("base64").slice(0, 40);
    const texts = [token, token.slice(4, 20), encoded, "api_token", "api.notes.example.com"];
    const places = await searchContainer(container, texts);
    answered.resolve();
    expect((await reading).status).toBe("succeeded");
    expect(texts.slice(0, 3).map((text) => places[text])).toEqual([[], [], []]);
    // It sees what is there: the settings in their file and in memory.
    expect(places.api_token).toContainEqual(expect.stringMatching(/^\/.*config/));
    expect(places["api.notes.example.com"]).toContainEqual(expect.stringContaining("memory of"));
  });

  test.each([
    ["reference"],
    ["cdk"],
  ])("one that was built here (%s) is a connector of the service by its id, and a job reads it", async (base) => {
    await using provider = await startNotes(() => notebook);
    await using api = await startTestControl({ seams: provider.seams, jobs: "run" });
    const made = async (path: string, body: object) => {
      const answer = await api.call("POST", path, { body });
      if (answer.status >= 300) throw new Error(answer.text);
      return answer.body.data;
    };
    const reference = `svc-test-${base}:latest`;
    const image = { name: "notes", reference, hosts: ["api.notes.example.com"], exposed: [] };
    const operator = createOperator(askInstance(api.control.services));
    const { connector_id } = await operator.run("connector.add", { body: { image } });
    const { credential_handle } = await made("/credentials", {
      ...{ connector_id, name: "Token" },
      secrets: { api_token: token },
    });
    const { source_id } = await made("/sources", {
      name: "Notes",
      connector_id,
      credential_handle,
    });
    const { destination_id } = await made("/destinations", {
      ...{ name: "Warehouse", connector_id: "conn_duckdb" },
      configuration: { file: "warehouse" },
    });
    const { pipeline_id } = await made("/pipelines", {
      ...{ name: "Notes", source_id, destination_id, schedule: { type: "manual" } },
      streams: [{ name: "notes" }],
    });
    const { job } = await made(`/pipelines/${pipeline_id}/sync`, {});
    const statusOf = async () =>
      (await api.call("GET", `/jobs/${job.job_id}`)).body.data.status as string;
    await expect.poll(statusOf, { timeout: 600_000, interval: 200 }).toBe("succeeded");
    const rows = await queryDestination(
      api,
      destination_id,
      "SELECT id FROM _svc_notes ORDER BY 1",
    );
    expect(rows.flat()).toEqual(notebook.notes.map(({ id }) => id));
  });

  test("what is no connector, has no such setting or no name is refused, and says what to do", async () => {
    const refusal = (name: string, exposed: readonly string[] = []) =>
      openImage(name, { hosts: [], exposed, memoryMb: 256 }).then(
        () => "opened",
        (error: { message: string }) => error.message,
      );
    expect(await refusal("svc-test-base")).toContain("has no program that can be started");
    expect(await refusal("--privileged")).toContain("no name that a registry could have");
    expect(await refusal("svc-test-hostile", ["job"])).toContain("job is no secret setting");
  });

  test("nothing of a run is left when its process is killed: no container, and the next one clears its files", async () => {
    const checksOf = () => containersOf("check");
    const cwd = await mkdtemp(join(tmpdir(), "svc-image-test-"));
    await writeFile(join(cwd, "c.json"), JSON.stringify({ api_token: token, job: "silent" }));
    const child = spawn(
      process.execPath,
      [
        ...["--conditions=svc-source", fileURLToPath(new URL("../svc.ts", import.meta.url))],
        ...["check", "image:svc-test-hostile", "--config", "c.json"],
      ],
      { cwd, stdio: "ignore" },
    );
    try {
      await expect.poll(checksOf, { timeout: 600_000 }).toHaveLength(1);
      child.kill("SIGKILL");
      await expect.poll(checksOf, { timeout: 600_000 }).toEqual([]);
      const filesOf = async () =>
        (await readdir("/dev/shm")).filter((name) => name.startsWith(`svc-image-${child.pid}-`));
      expect(await filesOf()).toHaveLength(1);
      // Any further run clears them, one that comes to nothing too.
      const another = openImage("svc-test-base", { hosts: [], exposed: [], memoryMb: 256 });
      await expect(another).rejects.toThrow("no program");
      expect(await filesOf()).toEqual([]);
    } finally {
      child.kill("SIGKILL");
      await rm(cwd, { recursive: true });
    }
  });

  describe("an image that means harm", () => {
    const minted = "minted-Qw8Lz3Xv5Nt7Rk1Pb4Hs6Jd2Mf9Gy0C";
    const open = (exposed: readonly string[] = []) =>
      openImage("svc-test-hostile", { hosts: [providerName], exposed, memoryMb: 256 });
    const stream = {
      name: "things",
      json_schema: {
        type: "object",
        properties: Object.fromEntries(
          [
            ...["id", "public", "machine", "name", "another", "port", "address", "plain", "root"],
            ...["own", "temporary", "gate", "environment", "files", "docker", "user", "rights"],
            ...["privileges", "mount", "stopped", "few", "token", "answer", "again", "minted"],
            ...["given", "length", "other"],
          ].map((name) => [name, { type: name === "id" ? "integer" : "string" }]),
        ),
      },
      supported_sync_modes: ["full_refresh", "incremental"] as const,
      source_defined_cursor: true,
      default_cursor_field: ["id"],
      source_defined_primary_key: [["id"]],
      is_resumable: false,
    };

    /** Reads its one stream; what it tries is the job. */
    async function attack(
      job: string,
      { exposed, limits }: { exposed?: string[]; limits?: Partial<WorkerLimits> } = {},
    ) {
      await using provider = await startProvider(({ headers }, response) =>
        answerJson(response, 200, { access_token: minted, echo: headers.authorization }),
      );
      await using host = createHost({ seams: provider.seams, ...(limits ? { limits } : {}) });
      const sink = createMemorySink();
      const events: HostEvent[] = [];
      const summary = await host.read(
        await open(exposed),
        {
          config: { api_token: token, private_key: privateKey, job },
          catalog: { streams: [{ stream, sync_mode: "incremental" }] },
        },
        sink,
        { onEvent: (event) => events.push(event) },
      );
      const row = sink.rows("things")[0] as Record<string, string> | undefined;
      const everything = JSON.stringify([sink.events, summary, events]);
      return { row, summary, events, everything, received: provider.received };
    }

    test("reaches its allowed host and nothing else, may write to memory alone, and has no rights", async () => {
      const { row, summary, events } = await attack("walls");
      expect(row).toEqual({
        id: 1,
        ...{ public: "OSError", machine: "OSError", name: "gaierror" },
        ...{ another: "HTTP/1.1 403 Forbidden", port: "HTTP/1.1 403 Forbidden" },
        ...{ address: "HTTP/1.1 403 Forbidden", plain: "HTTP/1.1 403 Forbidden" },
        ...{ root: "OSError", own: "PermissionError", temporary: "reached", mount: "refused" },
        ...{ gate: "PermissionError", environment: "PermissionError", files: "PermissionError" },
        ...{ docker: "False", user: "65534", rights: "0000000000000000", privileges: "1" },
      });
      const denied = events.flatMap((event) => (event.type === "denied" ? [event.resource] : []));
      expect(denied).toEqual([
        "the host evil.example.com",
        `port 22 of ${providerName}`,
        "the host 10.0.0.1",
        "the network without TLS",
      ]);
      expect(summary.status).toBe("succeeded");
    });

    test("shows by no channel what its token is, nor one that the provider mints for it", async () => {
      const { row, everything, received, summary } = await attack("leaks");
      expect(received.map(({ headers }) => headers.authorization)).toEqual([
        `Bearer ${token}`,
        `Bearer ${minted}`,
      ]);
      // A token that it has encoded or cut itself stays worthless.
      for (const name of ["x-encoded", "x-cut"])
        expect(received[0]?.headers[name]).not.toContain(token.slice(0, 12));
      expect(row?.token).toBe("[redacted]");
      for (const one of [token, minted, Buffer.from(token).toString("base64").slice(0, 30)])
        expect(everything).not.toContain(one);
      expect(everything).not.toMatch(/leaked|[0-9A-Za-z]{32}/);
      expect(summary.error?.code).toBe("CONNECTOR_FAILED");
    });

    test("gets a secret as it is when the operator exposes that one, and rows still hide it", async () => {
      const { row, everything } = await attack("exposed", { exposed: ["private_key"] });
      expect(row).toEqual({
        id: 1,
        given: "[redacted]",
        length: `${privateKey.length}`,
        other: "False",
      });
      expect(everything).not.toContain(privateKey);
    });

    test("forks until its limit, and ends with its container", async () => {
      const { row } = await attack("forks");
      expect(row).toEqual({ id: 1, stopped: "BlockingIOError", few: "True" });
    });

    test.each([
      ["memory", "CONNECTOR_OUT_OF_MEMORY"],
      ["endless", "CONNECTOR_PROTOCOL"],
      ["forged", "CONNECTOR_PROTOCOL"],
      ["dies", "CONNECTOR_EXITED"],
      ["silent", "CONNECTOR_TIMEOUT"],
    ])("that tries %s ends with %s, without a row and without a word of its own", async (job, code) => {
      const limits = job === "silent" ? { imageSilenceMs: 400 } : {};
      const { summary, row, everything } = await attack(job, {
        limits: { memoryMb: 64, ...limits },
      });
      expect([summary.status, summary.error?.code, row]).toEqual(["failed", code, undefined]);
      expect(everything).not.toContain("nobody catches");
    });

    test("leaves nothing behind: no container, no file", async () => {
      const containers = async () => {
        const { output } = await askDocker(["ps", "-a", "--format", "{{.Names}}"]);
        return output.split("\n").filter((name) => name.startsWith("svc-image-"));
      };
      await expect.poll(containers, { timeout: 600_000 }).toEqual([]);
      const own = (await readdir("/dev/shm")).filter((name) =>
        name.startsWith(`svc-image-${process.pid}-`),
      );
      expect(own).toEqual([]);
    });
  });
});
