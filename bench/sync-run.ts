/**
 * One sync as a process of its own: PostgreSQL through its sandboxed worker and the output filter
 * into a destination. Argument: JSON {source, streams?, destination: {name, config, folder?}}.
 * Prints {rows, streams, peakMb} as its last line.
 */
import {
  createDestinationHost,
  createHost,
  findConnector,
  findDestination,
  tuneCollector,
} from "svc-connectors/host";

tuneCollector();
const request = JSON.parse(String(process.argv[2])) as {
  readonly source: Record<string, never>;
  readonly destination: {
    readonly name: string;
    readonly config: Record<string, never>;
    readonly folder?: string;
  };
};
const settings = { allowNetworks: ["127.0.0.0/8"] };
await using host = createHost({ settings });
const destinations = createDestinationHost({ settings });
const source = findConnector("postgres", ".");
const discovered = await host.discover(source, request.source);
const configured = discovered.map((stream) => ({
  stream,
  sync_mode: "full_refresh" as const,
  destination_sync_mode: "overwrite",
}));
const { name, config, folder } = request.destination;
await using opened = await destinations.write(
  findDestination(name),
  config,
  {
    owner: "cn_bench",
    jobId: "job_bench",
    fence: 1,
    streams: configured.map((one) => ({ configured: one, table: `_svc_${one.stream.name}` })),
  },
  { folder },
);
const summary = await host.read(
  source,
  { config: request.source, catalog: { streams: configured } },
  opened.sink,
);
if (summary.status !== "succeeded") throw new Error(summary.error?.message);
const peakMb = Math.round(process.resourceUsage().maxRSS / 1024);
process.stderr.write(
  `${JSON.stringify({ rows: summary.recordCount, streams: summary.streams.length, peakMb })}\n`,
);
