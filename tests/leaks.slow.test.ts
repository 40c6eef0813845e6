/**
 * Canary secrets under every kind of failure, through the whole path: simulator → broker →
 * sandboxed worker → filter → sinks. Nothing of them may come out in any encoding, nor a stack
 * frame or an internal path; and a planted leak must be found.
 */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createHost,
  type Host,
  type HostEvent,
  openDuckdbOutput,
  openJsonlOutput,
  selectStreams,
  systemClock,
} from "svc-connectors/host";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scanDeep } from "../runtime/filter/deep-scan.ts";
import { createScanner } from "../runtime/filter/scanner.ts";
import { secretViews } from "../runtime/filter/secret-views.ts";
import { findShapes } from "../runtime/filter/shape-guards.ts";
import { type MailerSimulator, startMailer } from "../simulators/mailer/mailer.ts";
import type { Fault } from "../simulators/simulator/faults.ts";
import { choose } from "./effort.ts";
import { createMemorySink } from "./memory-sink.ts";

const mailerConnector = {
  name: "mailer",
  url: new URL("../connectors/sources/mailer/index.ts", import.meta.url).href,
};

/**
 * Two shapes: one of plain characters, one with everything that an encoding changes (no line break:
 * a header cannot hold one).
 */
const canaries = {
  plain: "cnry7Kq2ZpX9vLm4Rt8Wn3Bs6Yd1Hf5Gj0Qc2Ax9Ve4Tu",
  awkward: "cnry\"\\/+=&%é~Zt8Wn3'Bs6#Yd1?Hf5 Gj0;Qc2",
};
/** The awkward one says more. */
const tried = Object.entries(canaries).slice(choose({ quick: 1, whole: 0 }));

const faults: [string, Fault][] = [
  ["401 with an echoing body", { type: "echo_authorization" }],
  ["500 with a stack trace", { type: "stack_trace" }],
  ["malformed JSON", { type: "malformed_json" }],
  ["a web page", { type: "html" }],
  ["a redirect to a metadata address", { type: "redirect" }],
  ["a truncated body", { type: "truncated" }],
  ["a reset", { type: "reset" }],
  ["a gzip bomb", { type: "gzip_bomb", bytes: 300 * 1024 * 1024 }],
  ["403 with text", { type: "status", status: 403, body: "denied for /var/www/html/app.php" }],
];

/** No real waits between tries. */
const instantClock = { now: () => Date.now(), sleep: async () => {} };

function leaksIn(text: string, secret: string): string[] {
  const scanner = createScanner(secretViews(secret));
  const found = scanDeep(Buffer.from(text), scanner).map(
    (finding) => `secret ${JSON.stringify(finding)}`,
  );
  return [
    ...found,
    ...findShapes(text).map(({ shape, index }) => `${shape}: ${text.slice(index, index + 60)}`),
  ];
}

describe.each(tried)("a canary of the shape %s", (_, secret) => {
  let mailer: MailerSimulator;
  let host: Host;
  beforeAll(async () => {
    mailer = await startMailer({ seed: 3, lists: 2, campaigns: 3, subscribersPerList: 20 });
    host = createHost({
      settings: { approvedHosts: [mailer.hostname] },
      seams: mailer.seams,
      clock: instantClock,
      keepWarm: 1,
    });
  });
  afterAll(async () => {
    await host[Symbol.asyncDispose]();
    await mailer.close();
  });
  const config = () => ({ base_url: mailer.baseUrl, api_token: secret });

  test.each(faults)("does not come out of a check under %s", async (_name, fault) => {
    const requestsBefore = mailer.requests.length;
    mailer.faults.clear();
    mailer.faults.inject(fault, { times: 50 });
    const events: HostEvent[] = [];
    const result = await host.check(mailerConnector, config(), {
      onEvent: (event) => events.push(event),
    });
    expect(result.status).toBe("failed");
    expect(mailer.requests.length).toBeGreaterThan(requestsBefore);
    expect(leaksIn(JSON.stringify([result, events]), secret)).toEqual([]);
  });

  test.each(faults)("does not come out of a read under %s", async (_name, fault) => {
    const requestsBefore = mailer.requests.length;
    mailer.faults.clear();
    mailer.faults.inject(fault, { times: 50 });
    const sink = createMemorySink();
    const events: HostEvent[] = [];
    const discovered = await host.discover(mailerConnector, config());
    const catalog = { streams: selectStreams(discovered, "campaigns,email_lists", undefined) };
    const summary = await host.read(mailerConnector, { config: config(), catalog }, sink, {
      onEvent: (event) => events.push(event),
    });
    expect(summary.status).toBe("failed");
    expect(mailer.requests.length).toBeGreaterThan(requestsBefore);
    expect(leaksIn(JSON.stringify([summary, events]) + sink.text(), secret)).toEqual([]);
  });

  test("does not come out of a refused configuration", async () => {
    for (const wrong of [
      { base_url: `https://${mailer.hostname}/api?token=${secret}` },
      { page_size: secret },
      { [secret]: 1 },
    ]) {
      const result = await host.check(mailerConnector, { ...config(), ...wrong });
      expect(result.status).toBe("failed");
      expect(leaksIn(JSON.stringify(result), secret)).toEqual([]);
    }
  });
});

describe("a planted leak", () => {
  const leaking = {
    name: "leaking",
    url: new URL("../fixtures/broken/worker/echoing.ts", import.meta.url).href,
  };
  const views = ["raw", "base64", "hex", "percent", "json"] as const;

  test("a provider that puts the token into its rows is found and redacted in memory, JSONL and DuckDB", async () => {
    const secret = canaries.plain;
    const folder = await mkdtemp(join(tmpdir(), "svc-leaks-"));
    await using mailer = await startMailer({ seed: 3, lists: 1, campaigns: 1 });
    mailer.faults.inject(
      {
        type: "status",
        status: 200,
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          data: views.map((view, id) => ({
            id,
            text: `before ${encode(secret, view)} after`,
            [secret]: 1,
          })),
        }),
      },
      { times: 9 },
    );
    await using host = createHost({
      settings: { approvedHosts: [mailer.hostname] },
      seams: mailer.seams,
      clock: instantClock,
    });
    const config = { base_url: mailer.baseUrl, api_token: secret };
    const catalog = {
      streams: selectStreams(await host.discover(leaking, config), undefined, undefined),
    };
    const options = { connectorId: "conn_echoing", clock: systemClock, streams: catalog.streams };
    try {
      const sinks = [
        await openJsonlOutput(join(folder, "jsonl"), options),
        await openDuckdbOutput(join(folder, "out.duckdb"), options),
        createMemorySink(),
        createMemorySink("airbyte"),
      ];
      for (const sink of sinks) {
        const events: HostEvent[] = [];
        const summary = await host.read(leaking, { config, catalog }, sink, {
          onEvent: (event) => events.push(event),
        });
        // the property that is named like the secret
        expect(events.map(({ type }) => type)).toContain("dropped");
        expect(leaksIn(JSON.stringify(events), secret)).toEqual([]);
        expect(summary).toMatchObject({ status: "succeeded", recordCount: views.length });
        expect(summary.redactedCount).toBeGreaterThanOrEqual(views.length);
        if ("text" in sink) expect(leaksIn(sink.text(), secret)).toEqual([]);
      }
      const scanner = createScanner(secretViews(secret));
      for (const name of await readdir(folder, { recursive: true, withFileTypes: true })) {
        if (!name.isFile()) continue;
        const bytes = await readFile(join(name.parentPath, name.name));
        expect(scanner.find(bytes), name.name).toEqual([]);
      }
      const [line] = (await readFile(join(folder, "jsonl/rows.jsonl"), "utf8")).split("\n");
      expect(JSON.parse(line ?? "")).toMatchObject({
        id: 0,
        text: expect.stringContaining("[redacted]"),
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  test.each(views)("the detector of these tests finds the %s form", (view) => {
    expect(leaksIn(`{"text":"${encode(canaries.plain, view)}"}`, canaries.plain)).not.toEqual([]);
  });
});

function encode(secret: string, view: "raw" | "base64" | "hex" | "percent" | "json"): string {
  const bytes = Buffer.from(secret);
  if (view === "base64" || view === "hex") return bytes.toString(view);
  if (view === "percent")
    return [...bytes].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
  return view === "json" ? JSON.stringify(JSON.stringify(secret)) : secret;
}
