/**
 * The baseline: one process, undici, JSON.parse, one Airbyte RECORD per row by JSON.stringify, one
 * write per page. Nothing is checked. Arguments: port, CA file, pages.
 */
import { readFileSync, writeSync } from "node:fs";
import { Agent, request } from "undici";

const [port, caFile, pages] = process.argv.slice(2);
const dispatcher = new Agent({
  connect: { ca: readFileSync(String(caFile), "utf8"), servername: "bench.example.com" },
  connections: 1,
});
for (let page = 1; page <= Number(pages); page++) {
  const { body } = await request(`https://127.0.0.1:${port}/v1/rows?page=${page}`, {
    dispatcher,
    headers: { authorization: "Bearer naive-token", accept: "application/json" },
  });
  const { data } = JSON.parse(await body.text()) as { data: unknown[] };
  const emittedAt = Date.now();
  let out = "";
  for (const row of data) {
    out += `${JSON.stringify({ type: "RECORD", record: { stream: "rows", data: row, emitted_at: emittedAt } })}\n`;
  }
  writeSync(1, out);
}
await dispatcher.close();
process.stderr.write(
  `${JSON.stringify({ peakMb: Math.round(process.resourceUsage().maxRSS / 1024) })}\n`,
);
