/**
 * A host that meets a connector which wants to exhaust it: the program of the tests named
 * exhaustion-*. Arguments: verb, attack, port of a provider (or 0), then sizes; one line of JSON for
 * each size.
 */
import { connect } from "node:net";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as passes } from "node:timers/promises";
import { type ConfiguredCatalog, createHost, type Sink } from "svc-connectors/host";

const [verb = "", attack = "", port = "", ...sizes] = process.argv.slice(2);

const catalog: ConfiguredCatalog = {
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
};
const nothing = async () => {};
const sink: Sink = {
  lineFormat: "rows",
  open: nothing,
  write: nothing,
  checkpoint: nothing,
  status: nothing,
  close: nothing,
};
const config = { api_token: "s3cr3t-token-0123456789abcdef" };
const url = new URL("../../fixtures/broken/worker/exhausting.ts", import.meta.url);

await using host = createHost({
  limits: { memoryMb: 512, unresponsiveMs: 4_000, verbTimeoutMs: 30_000, readTimeoutMs: 60_000 },
  http: { maxAttempts: 1 },
  seams: {
    // No TLS: the provider is this test's, on loopback.
    connect: (_options, callback) => {
      const socket = connect(Number(port), "127.0.0.1");
      socket.once("connect", () => callback(null, socket));
      socket.once("error", (error) => callback(error, null));
    },
  },
});

async function outcomeOf(size: string): Promise<string> {
  url.search = `${new URLSearchParams({ attack, size })}`;
  const connector = { name: attack, url: url.href };
  const ended = (error: unknown) => {
    const { code, details } = error as { code?: string; details?: Record<string, unknown> };
    if (code === undefined) throw error;
    return [code, details?.path, details?.problem ?? details?.phase].filter(Boolean).join(" ");
  };
  try {
    if (verb === "spec") await host.spec(connector);
    if (verb === "discover") await host.discover(connector, config);
    if (verb === "entities") await host.entities(connector, config, {});
    if (verb === "check") {
      const checked = await host.check(connector, config);
      if (checked.status === "failed") return ended(checked.error);
    }
    if (verb === "read") {
      const { error } = await host.read(connector, { config, catalog }, sink);
      if (error) return ended(error);
    }
    return "succeeded";
  } catch (error) {
    return ended(error);
  }
}

const mib = 1024;
const peakMb = () => Math.round(process.resourceUsage().maxRSS / mib);
await outcomeOf("1").catch(() => {}); // what is loaded once counts for no attack
const startMb = peakMb();
for (const size of sizes) {
  const delays = monitorEventLoopDelay({ resolution: 5 });
  delays.enable();
  const outcome = await outcomeOf(size);
  await passes(20); // the monitor sees a pause when it has its turn again
  delays.disable();
  const pauseMs = Math.round(delays.max / 1e6);
  console.log(
    JSON.stringify({ size: Number(size), outcome, pauseMs, grownMb: peakMb() - startMb }),
  );
}
