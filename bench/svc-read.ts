/**
 * The product: sandboxed worker, broker, validation, projection, leak scan, Airbyte messages out.
 * Arguments: port, CA file, pages, and what reads them: default the connector of this folder.
 */
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import {
  createAirbyteSink,
  createHost,
  createMessageWriter,
  systemClock,
  tuneCollector,
} from "svc-connectors/host";

tuneCollector();
const [port, caFile, pages, reader = "./rows-connector/index.ts"] = process.argv.slice(2);
const connector = { name: "rows", url: new URL(reader, import.meta.url).href };
await using host = createHost({
  seams: {
    ca: readFileSync(String(caFile), "utf8"),
    resolve: async () => [{ address: "93.184.215.14", family: 4 }],
    dial: () => connect({ host: "127.0.0.1", port: Number(port) }),
  },
});
const config = { api_token: "bench-token-7f3a9c51e8b2d604qmxzrlpt", pages: Number(pages) };
const write = (chunk: string | Buffer) =>
  new Promise<void>((resolve, reject) => {
    process.stdout.write(chunk, (error) => (error ? reject(error) : resolve()));
  });
const stream = {
  name: "rows",
  json_schema: {},
  supported_sync_modes: ["full_refresh" as const],
  source_defined_cursor: false,
  default_cursor_field: [],
  source_defined_primary_key: [],
  is_resumable: false,
};
const catalog = { streams: [{ stream, sync_mode: "full_refresh" as const }] };
let workerPeakMb = 0;
const sampling = setInterval(() => {
  workerPeakMb = Math.max(workerPeakMb, peakOfChildren());
}, 100);
const summary = await host.read(
  connector,
  { config, catalog },
  createAirbyteSink(write, createMessageWriter(write, systemClock)),
);
clearInterval(sampling);
// A read that fails is quick, and no figure.
if (summary.status !== "succeeded") process.exitCode = 1;
const peakMb = { host: Math.round(process.resourceUsage().maxRSS / 1024), worker: workerPeakMb };
process.stderr.write(
  `${JSON.stringify({ status: summary.status, records: summary.recordCount, peakMb })}\n`,
);

/** The high-water mark of this process's largest child. @see proc_pid_status(5) */
function peakOfChildren(): number {
  try {
    const pids = readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").trim().split(" ");
    const marks = pids.map((pid) =>
      Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0),
    );
    return Math.round(Math.max(0, ...marks) / 1024);
  } catch {
    return 0; // it has just ended, or this is no Linux
  }
}
