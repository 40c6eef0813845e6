/**
 * One sync as a process of its own: PostgreSQL through its sandboxed worker and the output filter
 * into a destination. Argument: JSON {source, destination: {name, config, folder?}, fence?}. With
 * `replication` in the source's settings it goes on from the saved states. Prints {rows, streams,
 * peakMb, cpu} as its last line; `cpu`: seconds of this process, without its worker.
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
  readonly fence?: number;
};
const settings = { allowNetworks: ["127.0.0.0/8"] };
await using host = createHost({ settings });
const destinations = createDestinationHost({ settings });
const source = findConnector("postgres", ".");
const discovered = await host.discover(source, request.source);
const readsLog = "replication" in request.source;
const configured = discovered.map((stream) => ({
  stream,
  sync_mode: readsLog ? ("incremental" as const) : ("full_refresh" as const),
  destination_sync_mode: readsLog ? "append_dedup" : "overwrite",
}));
const { name, config, folder } = request.destination;
await using opened = await destinations.write(
  findDestination(name),
  config,
  {
    owner: "cn_bench",
    jobId: "job_bench",
    fence: request.fence ?? 1,
    streams: configured.map((one) => ({ configured: one, table: `_svc_${one.stream.name}` })),
  },
  { folder },
);
const summary = await host.read(
  source,
  {
    config: request.source,
    catalog: { streams: configured },
    ...(readsLog ? { state: opened.sink.savedState() } : {}),
  },
  opened.sink,
);
if (summary.status !== "succeeded") throw new Error(summary.error?.message);
const peakMb = Math.round(process.resourceUsage().maxRSS / 1024);
const { user, system } = process.cpuUsage();
const cpu = (user + system) / 1e6;
process.stderr.write(
  `${JSON.stringify({ rows: summary.recordCount, streams: summary.streams.length, peakMb, cpu })}\n`,
);
