import {
  type ConfiguredCatalog,
  createHost,
  type Host,
  type HostEvent,
  type HostOptions,
  type ReadSummary,
} from "svc-connectors/host";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createMemorySink, type MemorySink } from "./memory-sink.ts";

const secret = "s3cr3t-token-0123456789abcdef";

const broken = (name: string) => ({
  name,
  url: new URL(`../fixtures/broken/worker/${name}.ts`, import.meta.url).href,
});

const catalog: ConfiguredCatalog = {
  streams: [
    {
      stream: {
        name: "rows",
        json_schema: {
          type: "object",
          properties: { id: { type: "integer" }, text: { type: "string" } },
        },
        supported_sync_modes: ["full_refresh"],
        source_defined_cursor: false,
        default_cursor_field: [],
        source_defined_primary_key: [["id"]],
        is_resumable: false,
      },
      sync_mode: "full_refresh",
    },
  ],
};

interface Outcome {
  readonly summary: ReadSummary;
  readonly sink: MemorySink;
  readonly events: HostEvent[];
  /** All that the run let out. */
  readonly text: string;
}

async function run(host: Host, name: string, signal?: AbortSignal): Promise<Outcome> {
  const sink = createMemorySink();
  const events: HostEvent[] = [];
  const request = { config: { api_token: secret, region: "eu" }, catalog };
  const summary = await host.read(broken(name), request, sink, {
    onEvent: (event) => events.push(event),
    ...(signal ? { signal } : {}),
  });
  return { summary, sink, events, text: sink.text() + JSON.stringify([summary, events]) };
}

/** For connectors that end by what they do: nothing is made of it that a machine is slow. */
const patient: HostOptions = {
  limits: {
    memoryMb: 96,
    unresponsiveMs: 120_000,
    verbTimeoutMs: 240_000,
    readTimeoutMs: 240_000,
    graceMs: 300,
  },
};

/** For those that never end. */
const quick: HostOptions = {
  limits: {
    memoryMb: 96,
    unresponsiveMs: 3_000,
    verbTimeoutMs: 20_000,
    readTimeoutMs: 20_000,
    graceMs: 300,
  },
};

describe("a worker that misbehaves becomes one clean error", () => {
  let host: Host;
  beforeAll(() => {
    host = createHost(patient);
  });
  afterAll(() => host[Symbol.asyncDispose]());

  test.each([
    ["crash", "CONNECTOR_FAILED"],
    ["exit", "CONNECTOR_EXITED"],
    ["heap-bomb", "CONNECTOR_OUT_OF_MEMORY"],
    ["buffer-bomb", "CONNECTOR_OUT_OF_MEMORY"],
    ["giant-line", "RECORD_TOO_LARGE"],
    ["giant-frame", "CONNECTOR_PROTOCOL"],
    ["half-frame", "CONNECTOR_PROTOCOL"],
    ["forged-state", "CONNECTOR_PROTOCOL"],
    ["begins-twice", "CONNECTOR_PROTOCOL"],
    ["unhandled-rejection", "CONNECTOR_FAILED"],
    ["output-after-end", "CONNECTOR_PROTOCOL"],
    ["ends-early", "CONNECTOR_PROTOCOL"],
    ["throws-text", "CONNECTOR_FAILED"],
    ["giant-state", "STATE_TOO_LARGE"],
  ])("%s: %s", async (name, code) => {
    const { summary, text } = await run(host, name);
    expect(summary.status).toBe("failed");
    expect(summary.error?.code).toBe(code);
    expect(summary.error?.message).toMatch(/^[^\n]{20,500}$/);
    expect(text).not.toMatch(/\n\s+at |file:\/\/|node_modules|\/srv\/|s3cr3t/);
  });

  async function readTogether(name: string) {
    const config = { api_token: secret };
    const streams = (await host.discover(broken(name), config)).map((stream) => ({
      stream,
      sync_mode: "full_refresh" as const,
    }));
    const request = { config, catalog: { streams }, parallelStreams: 2 };
    return host.read(broken(name), request, createMemorySink());
  }

  test("one of two that read at the same time ends its stream; no more are begun, and what the other reads is kept", async () => {
    const { status, error, streams } = await readTogether("exits-in-one");
    expect([status, error?.code]).toEqual(["failed", "CONNECTOR_EXITED"]);
    const [first, ...others] = streams;
    expect([first?.status, first?.error?.code]).toEqual(["incomplete", "CONNECTOR_EXITED"]);
    for (const other of others)
      expect([other.status, other.recordCount, other.error]).toEqual(
        other.status === "complete" ? ["complete", 1, undefined] : ["incomplete", 0, undefined],
      );
  });

  test("one that says something else of itself than the one before reads nothing", async () => {
    const { error } = await readTogether("another-each-time");
    expect(error).toMatchObject({
      code: "CONNECTOR_INVALID",
      message: expect.stringMatching(/changes from one load/),
    });
  });

  test("a crash names the class of the error and the place in the connector's own code, not its text", async () => {
    const { summary } = await run(host, "crash");
    expect(summary.error?.details).toMatchObject({ name: "TypeError", file: "crash.ts", line: 8 });
    expect(summary.error?.message).not.toContain("undefined");
  });

  test("rows before a crash have arrived and the stream is incomplete", async () => {
    const { sink, summary } = await run(host, "crash");
    expect(sink.rows()).toEqual([{ id: 1 }]);
    expect(summary.streams[0]).toMatchObject({ status: "incomplete", recordCount: 1 });
  });

  test("an endless loop is noticed", async () => {
    await using impatient = createHost(quick);
    const { summary, sink } = await run(impatient, "endless-loop");
    expect([summary.status, summary.error?.code]).toEqual(["failed", "CONNECTOR_TIMEOUT"]);
    expect(sink.rows()).toEqual([{ id: 1 }, { id: 2 }]);
  });

  test("other runs of the same host are unaffected", async () => {
    const stop = new AbortController();
    const looping = run(host, "endless-loop", stop.signal);
    const names = ["heap-bomb", "chatty", "exit", "chatty"];
    const outcomes = await Promise.all(names.map((name) => run(host, name)));
    expect(outcomes.map(({ summary }) => summary.status)).toEqual([
      "failed",
      "succeeded",
      "failed",
      "succeeded",
    ]);
    stop.abort();
    expect((await looping).summary.status).toBe("cancelled");
  });

  test("a flood of logs and output is bounded", async () => {
    const { summary, events } = await run(host, "chatty");
    expect(summary.status).toBe("succeeded");
    expect(events.length).toBeLessThanOrEqual(10_300);
  });

  test("a connector that signals its parent reaches nobody, and is told on", async () => {
    const { summary, events, sink } = await run(host, "kills-host");
    expect(summary.status).toBe("succeeded");
    expect(sink.rows()).toHaveLength(2);
    expect(events.filter(({ type }) => type === "denied").length).toBeGreaterThanOrEqual(3);
  });
});

describe("cancelling", () => {
  test("a run that ignores ctx.signal is killed after the grace period", async () => {
    await using host = createHost(quick);
    const abort = new AbortController();
    const sink = createMemorySink();
    const status = sink.write;
    const running = host.read(
      broken("never-settles"),
      { config: { api_token: secret }, catalog },
      {
        ...sink,
        async write(...args) {
          await status(...args);
          abort.abort();
        },
      },
      { signal: abort.signal },
    );
    const summary = await running;
    expect(summary.status).toBe("cancelled");
    expect(summary.error?.code).toBe("CANCELLED");
  });

  test("a connector whose import never ends can be cancelled", async () => {
    await using host = createHost(quick);
    const abort = new AbortController();
    const loading = host.spec(broken("loads-for-ever"), { signal: abort.signal });
    abort.abort();
    await expect(loading).rejects.toMatchObject({ code: "CANCELLED" });
  });

  test("a run that is cancelled before it starts puts nothing out", async () => {
    await using host = createHost(quick);
    await expect(run(host, "never-settles", AbortSignal.abort())).rejects.toMatchObject({
      code: "CANCELLED",
    });
  });
});

test("a worker dies with its host, even when it is in an endless loop", async () => {
  const { spawn } = await import("node:child_process");
  const script = `
    import { createHost } from "svc-connectors/host";
    const host = createHost();
    const catalog = ${JSON.stringify(catalog)};
    const nothing = async () => {};
    host.read(${JSON.stringify(broken("endless-loop"))}, { config: { api_token: "x" }, catalog },
      { lineFormat: "rows", open: nothing, checkpoint: nothing, status: nothing, close: nothing, async write() { console.log("looping"); } });
  `;
  const root = new URL("../", import.meta.url);
  const child = spawn(
    process.execPath,
    ["--conditions=svc-source", "--input-type=module", "-e", script],
    {
      cwd: root,
    },
  );
  await new Promise<void>((resolve) => child.stdout.once("data", () => resolve()));
  const { execFileSync } = await import("node:child_process");
  const workers = () =>
    execFileSync("ps", ["-eo", "pid,ppid"])
      .toString()
      .split("\n")
      .flatMap((line) => {
        const [pid, ppid] = line.trim().split(/\s+/).map(Number);
        return ppid === child.pid && pid !== undefined ? [pid] : [];
      });
  const pids = workers();
  expect(pids.length).toBeGreaterThan(0);
  child.kill("SIGKILL");
  await new Promise((resolve) => child.once("close", resolve));
  await expect.poll(() => pids.filter((pid) => isAlive(pid))).toEqual([]);
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
