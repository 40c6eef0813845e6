/** A stream of a manifest read by this runtime, broker and all. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Host, SandboxLevel } from "../../runtime/contract/host.ts";
import { isJsonObject } from "../../runtime/contract/json.ts";
import { createMemoryTokenStore } from "../../runtime/contract/token-store.ts";
import { createHost } from "../../runtime/host/create-host.ts";
import { findConnector } from "../../runtime/host/registry.ts";
import {
  createInstantClock,
  type ReceivedRequest,
  startProvider,
} from "../../simulators/loopback.ts";
import { createMemorySink } from "../memory-sink.ts";
import { type Case, type CaseStream, now } from "./cases.ts";
import { createShop } from "./provider.ts";

/** The parts of a reading that are compared. */
export interface Reading {
  /** All of them, in an order that does not depend on which part was read first. */
  readonly requests: readonly string[];
  /** Those of each part, in their order. */
  readonly order: { readonly [part: string]: readonly string[] };
  readonly records: readonly string[];
  readonly state: unknown;
  /** Seconds before requests that are tried again, in their order. */
  readonly waits: readonly string[];
  readonly failed: boolean;
  readonly reason: string;
}

/**
 * Starts this runtime once for many cases; each reading has a worker, or they share this process.
 */
export async function startHere(sandbox: SandboxLevel) {
  const whole = await mkdtemp(join(tmpdir(), "svc-manifest-"));
  let handle = createShop("https");
  const provider = await startProvider((...request) => handle(...request));
  const clock = createInstantClock(Date.parse(now));
  const host = createHost({
    ...{ sandbox, seams: provider.seams },
    // A wait of some milliseconds, as for a limit, must not show in a request or a record.
    clock: {
      ...{ ...clock, standsStill: true },
      now: () => Math.floor(clock.now() / 1_000) * 1_000,
    },
    // Each reading begins with the refresh token of its settings, as the other interpreter does.
    tokens: (_, { credentials, refresh }) => {
      const inner = isJsonObject(credentials) ? credentials.refresh_token : undefined;
      return createMemoryTokenStore({ refreshToken: String(inner ?? refresh) });
    },
  });
  return {
    open: (one: Case) =>
      openCase(one, join(whole, one.file.replace(/\W/g, "_")), {
        ...{ host, provider, clock },
        restart() {
          provider.received.length = 0;
          clock.advance(Date.parse(now) - clock.now());
          clock.slept.length = 0;
          handle = createShop("https");
        },
      }),
    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
      await rm(whole, { recursive: true, force: true });
    },
  };
}

interface Parts {
  readonly host: Host;
  readonly provider: Awaited<ReturnType<typeof startProvider>>;
  readonly clock: ReturnType<typeof createInstantClock>;
  /** The provider has been asked nothing, and it is the time of the cases. */
  restart(): void;
}

/** Opens a case for several readings. */
async function openCase(one: Case, folder: string, { host, provider, clock, restart }: Parts) {
  const file = join(folder, `${one.file.replace(/\W/g, "_")}.yaml`);
  await mkdir(folder, { recursive: true });
  await writeFile(file, one.manifest);
  for (const [path, schema] of Object.entries(one.files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), JSON.stringify(schema));
  }
  restart();
  const connector = findConnector(file, "/");
  const config = one.config as never;
  const streams = await host.discover(connector, config);

  return {
    streams: streams.map(
      ({ name, supported_sync_modes, json_schema }): CaseStream => ({
        name,
        isIncremental: supported_sync_modes.includes("incremental"),
        properties: (json_schema as unknown as CaseStream).properties,
      }),
    ),
    async read(wanted: CaseStream, state: unknown): Promise<Reading> {
      const { name, isIncremental } = wanted;
      restart();
      const stream = streams.find((found) => found.name === name);
      if (!stream) throw new Error(`${one.file} has no stream ${name}`);
      const sync_mode = isIncremental ? "incremental" : "full_refresh";
      const sink = createMemorySink();
      const summary = await host.read(
        connector,
        {
          config,
          catalog: { streams: [{ stream, sync_mode }] },
          ...(state === undefined ? {} : { state: [{ stream: { name }, state: state as never }] }),
        },
        sink,
      );
      return toReading(one, wanted, {
        received: provider.received,
        records: sink.rows(name),
        state: sink.state(name),
        waits: clock.slept.map((ms) => ms / 1000),
        reason: summary.status === "succeeded" ? "" : JSON.stringify(summary),
      });
    },
  };
}

/** Names of the provider's parameters that say which page of a part is meant. */
const paging = new Set(["page", "offset", "after", "limit"]);
const sameHeaders = /^(?:authorization|x-|accept$)/;

/** The observations of a reading. */
interface Seen {
  readonly received: readonly ReceivedRequest[];
  readonly records: readonly Record<string, unknown>[];
  readonly state: unknown;
  readonly waits: readonly number[];
  readonly reason: string;
}

export function toReading(
  one: Case,
  { name, isIncremental, properties }: CaseStream,
  { received, records, state, waits, reason }: Seen,
): Reading {
  const fields = Object.keys(properties);
  const order: Record<string, string[]> = {};
  const compared = received.filter(({ url }) => !one.ownRequests.includes(url.replace(/\?.*/, "")));
  const requests = compared.map((request) => {
    const url = new URL(request.url, "https://x");
    const query = [...url.searchParams];
    const headers = Object.entries(request.headers)
      .filter(
        ([header, value]) =>
          sameHeaders.test(header) && value !== "*/*" && value !== "application/json",
      )
      .sort();
    const text = JSON.stringify([request.method, url.pathname, query, headers, bodyOf(request)]);
    const part = `${url.pathname}?${query.filter(([key]) => !paging.has(key)).join("&")}`;
    order[part] = [...(order[part] ?? []), text];
    return text;
  });
  const { lookback_window: _, ...rest } = (state ?? {}) as Record<string, unknown>;
  const rows = records.map((record) =>
    JSON.stringify(
      // A field that is not there is null in a row of this runtime.
      Object.fromEntries(fields.map((field) => [field, record[field] ?? null])),
    ),
  );
  return {
    requests: requests.sort(),
    order: Object.fromEntries(Object.entries(order).sort()),
    records: rows.sort(),
    state: isIncremental ? sorted(rest) : undefined,
    waits: one.ownWaits.includes(name) ? [] : waits.map((seconds) => seconds.toFixed(1)),
    failed: reason !== "",
    reason,
  };
}

function bodyOf({ body, headers }: ReceivedRequest): unknown {
  if (String(headers["content-type"]).includes("form")) return [...new URLSearchParams(body)];
  try {
    return sorted(JSON.parse(body));
  } catch {
    return body;
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, part]) => [name, sorted(part)]),
  );
}
