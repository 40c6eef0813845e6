import { spawn } from "node:child_process";
import { mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const connector = new URL("../../fixtures/broken/worker/open-descriptors.ts", import.meta.url).href;

/** A host that reads the connector and prints its rows. */
const host = `
  import { createHost } from "svc-connectors/host";
  await using host = createHost({ sandbox: process.argv[1] });
  const catalog = { streams: [{ sync_mode: "full_refresh", stream: {
    name: "rows", supported_sync_modes: ["full_refresh"], source_defined_cursor: false, default_cursor_field: [],
    source_defined_primary_key: [["id"]], is_resumable: false,
    json_schema: { type: "object", properties: { id: { type: "integer" }, text: { type: "string" } } } } }] };
  const nothing = async () => {};
  let rows = "";
  const sink = { lineFormat: "rows", open: nothing, checkpoint: nothing, status: nothing, close: nothing,
    async write(_stream, lines) { rows += lines; } };
  try {
    await host.read({ name: "open-descriptors", url: process.argv[2] },
      { config: { api_token: "s3cr3t-token-0123456789abcdef" }, catalog }, sink);
    console.log("read " + rows);
  } catch (error) {
    console.log(error.code);
  }`;

const levels = ["process", "bubblewrap"];
const promise = "a worker at level %s has none of the descriptors that its host was started with";

test.for(levels)(promise, async (level, { skip }) => {
  const folder = await mkdtemp(join(tmpdir(), "svc-descriptors-"));
  try {
    const path = join(folder, "operators-file.txt");
    await writeFile(path, "the operator's own words");
    await using readable = await open(path, "r");
    await using writable = await open(path, "r+");
    const stdio: ("ignore" | "pipe" | number)[] = ["ignore", "pipe", "inherit" as "pipe"];
    // Of one digit and of two, next to each other and with gaps; 3 is the wire's own number.
    for (const number of [3, 4, 9, 27, 64]) {
      while (stdio.length < number) stdio.push("ignore");
      stdio.push(number % 2 === 0 ? writable.fd : readable.fd);
    }
    const child = spawn(
      process.execPath,
      [
        "--conditions=svc-source",
        "--disable-warning=ExperimentalWarning",
        "--input-type=module",
        "-e",
        host,
        level,
        connector,
      ],
      { cwd: root, stdio },
    );
    const output = child.stdout ? await text(child.stdout) : "";
    if (output.includes("SANDBOX_UNAVAILABLE")) skip("bubblewrap is not installed or allowed here");
    expect(output.trim()).toBe("read");
    expect(await readFile(path, "utf8")).toBe("the operator's own words");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
