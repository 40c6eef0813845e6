/**
 * Hosts that meet connectors which want to exhaust them: the program of the tests named
 * exhaustion-*. Each message to it is an attack; it answers with what became of its sizes.
 */
import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as passes } from "node:timers/promises";
import {
  type ConfiguredCatalog,
  createDestinationHost,
  createHost,
  type Host,
  type Sink,
  type WorkerLimits,
} from "svc-connectors/host";
import { Agent } from "undici";
import { mysql, postgres } from "../../runtime/contract/egress.ts";
import { createBroker } from "../../runtime/egress/create-broker.ts";
import { createSecretRegistry } from "../../runtime/filter/secrets.ts";
import { systemClock } from "../../runtime/host/clock.ts";
import { findImage } from "../../runtime/image/find-image.ts";
import type { Attack, Met } from "./exhaustion-case.ts";

const catalogOf = (attack: string): ConfiguredCatalog => ({
  streams: Array.from({ length: attack === "states" ? 100 : 1 }, (_, index) => ({
    sync_mode: "incremental",
    stream: {
      name: `rows${index}`,
      json_schema: {
        type: "object",
        properties: { id: { type: "integer" }, text: { type: "string" } },
      },
      supported_sync_modes: ["incremental"],
      source_defined_cursor: true,
      default_cursor_field: ["id"],
      source_defined_primary_key: [["id"]],
      is_resumable: true,
    },
  })),
});
const nothing = async () => {};
const sink: Sink = {
  lineFormat: "rows",
  open: nothing,
  write: nothing,
  checkpoint: nothing,
  status: nothing,
  close: nothing,
};
const configOf = (attack: string, size: number) => ({
  api_token:
    attack === "config-secrets"
      ? randomBytes(size).toString("base64").slice(0, size)
      : "s3cr3t-token-0123456789abcdef",
});
const url = new URL("../../fixtures/broken/worker/exhausting.ts", import.meta.url);

/** Only what takes nothing of a provider's answers, or waits for one, is there to be too late. */
const deadlinesOf = ({ attack }: Attack): Partial<WorkerLimits> => {
  if (attack === "requests") return { unresponsiveMs: 4_000, verbTimeoutMs: 10_000 };
  return attack.startsWith("answers-nobody-takes")
    ? { unresponsiveMs: 4_000, verbTimeoutMs: 30_000 }
    : { unresponsiveMs: 120_000, verbTimeoutMs: 240_000 };
};

const hostFor = (attack: Attack): Host =>
  createHost({
    limits: { memoryMb: 512, ...deadlinesOf(attack), readTimeoutMs: 240_000 },
    http: { maxAttempts: 1 },
    seams: {
      // No TLS: the provider is this test's, on loopback.
      openDispatcher: () =>
        new Agent({
          connect: (_options, callback) => {
            const socket = connect(attack.port, "127.0.0.1");
            socket.once("connect", () => callback(null, socket));
            socket.once("error", (error) => callback(error, null));
          },
        }),
    },
  });

const destination = new URL("../../connectors/destinations/postgres/index.ts", import.meta.url)
  .href;
const loopback = { approvedHosts: [], allowNetworks: ["127.0.0.1/32"] };
const resolve = async () => [{ address: "127.0.0.1", family: 4 as const }];
const login = (port: number) => ({
  host: "db.example.test",
  port,
  database: "d",
  username: "u",
  password: "q7Zt3LmX9aRk",
  ssl_mode: "disable",
});
const fields = {
  host: "host",
  port: "port",
  database: "database",
  username: "username",
  password: "password",
  sslMode: "ssl_mode",
};

/**
 * A session with the database at the port, of which all that it says is taken until it ends; or,
 * where a destination meets it, a check of that.
 */
async function meetDatabase({ verb, port }: Attack): Promise<void> {
  const signal = AbortSignal.timeout(60_000);
  if (verb === "destination") {
    const host = createDestinationHost({ settings: loopback, seams: { resolve } });
    const checked = await host.check({ name: "postgres", url: destination }, login(port), {
      signal,
    });
    if (checked.status === "failed") throw checked.error;
    return;
  }
  const broker = createBroker({
    declaration: verb === "mysql" ? mysql(fields) : postgres(fields),
    config: login(port),
    secrets: createSecretRegistry(),
    clock: systemClock,
    settings: loopback,
    seams: { resolve },
  });
  try {
    const session = await broker.connect(signal);
    session.write(verb === "mysql" ? mysqlStart : postgresStart);
    for await (const _ of session); // what a worker would be sent
  } finally {
    await broker.close();
  }
}

/** Start-up and a query of a client. */
const postgresStart = (() => {
  const start = Buffer.from("\0\0\0\0\0\x03\0\0user\0anyone\0\0", "latin1");
  start.writeUInt32BE(start.length, 0);
  return Buffer.concat([start, Buffer.from("Q\0\0\0\rSELECT 1\0", "latin1")]);
})();

/** The answer to a greeting, with capabilities of protocol 4.1 alone, and a query. */
const mysqlStart = (() => {
  const response = Buffer.alloc(4 + 40);
  response.set([40, 0, 0, 1, 0, 2]);
  return Buffer.concat([response, Buffer.from("\x09\0\0\0\x03SELECT 1", "latin1")]);
})();

const databases: ReadonlySet<string> = new Set(["postgres", "mysql", "destination"]);

async function outcomeOf(host: Host, given: Attack, size: number): Promise<string> {
  const { verb, attack } = given;
  url.search = `${new URLSearchParams({ attack, size: String(size) })}`;
  const connector = { name: attack, url: url.href };
  const config = configOf(attack, size);
  const ended = (error: unknown) => {
    const { code, details } = error as { code?: string; details?: Record<string, unknown> };
    if (code === undefined) throw error;
    const problem = details?.problem ?? details?.phase ?? details?.reason;
    return [code, details?.path, problem].filter(Boolean).join(" ");
  };
  try {
    if (databases.has(verb)) await meetDatabase(given);
    if (verb === "image") await findImage(`${attack}-${size}`);
    if (verb === "spec") await host.spec(connector);
    if (verb === "discover") await host.discover(connector, config);
    if (verb === "entities") await host.entities(connector, config, {});
    if (verb === "check") {
      const checked = await host.check(connector, config);
      if (checked.status === "failed") return ended(checked.error);
    }
    if (verb === "read") {
      const { error } = await host.read(connector, { config, catalog: catalogOf(attack) }, sink);
      if (error) return ended(error);
    }
    return "succeeded";
  } catch (error) {
    return ended(error);
  }
}

const mib = 1024;
const peakMb = () => Math.round(process.resourceUsage().maxRSS / mib);
let startMb: number | undefined;

/** What this thread works between two turns, at most. */
function watchTurns() {
  let most = 0;
  let before = process.threadCpuUsage();
  const look = () => {
    const { user, system } = process.threadCpuUsage(before);
    most = Math.max(most, user + system);
    before = process.threadCpuUsage();
  };
  const turn = () => {
    look();
    next = setTimeout(turn, 1);
  };
  let next = setTimeout(turn, 1);
  return {
    end() {
      look();
      clearTimeout(next);
      return Math.round(most / 1_000);
    },
  };
}

/** A document that is read and written, time and again: work like that of a host. */
const document = JSON.stringify(
  Array.from({ length: 2_000 }, (_, id) => ({ id, name: `row ${id}`, at: id * 1.5 })),
);
/** Processor time of that on two quiet cores, as the promise was measured on them. */
const quietMs = 4;

/** How many times longer this thread takes for the same work now; at least 1. */
function slowness(): number {
  const taken = Array.from({ length: 7 }, () => {
    const before = process.threadCpuUsage();
    for (let times = 10; times > 0; times--) JSON.stringify(JSON.parse(document));
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  });
  const median = taken.sort((a, b) => a - b)[3] ?? quietMs;
  return Math.max(1, median / quietMs);
}

async function meet(attack: Attack): Promise<readonly Met[]> {
  await using host = hostFor(attack);
  if (startMb === undefined) {
    await outcomeOf(host, attack, 1).catch(() => {}); // what is loaded once counts for no attack
    slowness();
    startMb = peakMb();
  }
  const met: Met[] = [];
  for (const size of attack.sizes) {
    const delays = monitorEventLoopDelay({ resolution: 5 });
    delays.enable();
    const busy = watchTurns();
    const outcome = await outcomeOf(host, attack, size);
    await passes(20); // the monitor sees a pause when it has its turn again
    delays.disable();
    const pauseMs = Math.round(delays.max / 1e6);
    const busyMs = Math.round(busy.end() / slowness());
    met.push({ size, outcome, pauseMs, busyMs, grownMb: peakMb() - startMb });
  }
  return met;
}

process.on("message", async (attack: Attack) => process.send?.(await meet(attack)));
