/**
 * The product: sandboxed worker, broker, validation, projection, leak scan, Airbyte messages out. Arguments: port, CA file, pages.
 */
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { createAirbyteSink, createHost, createMessageWriter, systemClock } from "svc-connectors/host";

const [port, caFile, pages] = process.argv.slice(2);
const connector = { name: "rows", url: new URL("./rows-connector/index.ts", import.meta.url).href };
await using host = createHost({
  seams: {
    ca: readFileSync(String(caFile), "utf8"),
    resolve: async () => [{ address: "93.184.215.14", family: 4 }],
    dial: () => connect({ host: "127.0.0.1", port: Number(port) }),
  },
});
const config = { api_token: "benchmark-token-0123456789-abcdefghij", pages: Number(pages) };
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
const summary = await host.read(
  connector,
  { config, catalog },
  createAirbyteSink(write, createMessageWriter(write, systemClock)),
);
process.stderr.write(
  `${JSON.stringify({ ...summary, streams: undefined, peakMb: Math.round(process.resourceUsage().maxRSS / 1024) })}\n`,
);
