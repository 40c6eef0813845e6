/**
 * A declarative manifest, read by svc and by Airbyte's own interpreter from the same provider: CPU
 * seconds of whole process trees, and the time from the start to the first record. Medians of some
 * rounds, by turns.
 *
 *     python3 -m venv FOLDER && FOLDER/bin/pip install airbyte-cdk==7.39.1
 *     CDK_VENV=FOLDER node --conditions=svc-source bench/manifests.ts [records] [rounds]
 *
 * Without the condition the built package is measured. Without CDK_VENV only svc is.
 */
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { compare, printComparison, type Way } from "./columns/measure.ts";
import { median, startProgram } from "./run.ts";

const [records = 200_000, rounds = 3] = process.argv.slice(2).map(Number);
const pages = Math.ceil(records / 1_000);
const venv = process.env.CDK_VENV;
const here = (file: string) => fileURLToPath(new URL(file, import.meta.url));

using server = await startProgram("rows-server.ts");
const { port, ca } = server.ready as { port: number; ca: string };
const folder = await mkdtemp(join(tmpdir(), "svc-bench-"));
const file = (name: string) => join(folder, name);
await writeFile(file("ca.pem"), ca);

const text = await readFile(here("manifests/rows.yaml"), "utf8");
// It asks a name that this machine resolves, as svc is led to it by its seam.
const manifest = parse(text.replace("bench.example.com", `localhost:${port}`));
const config = { api_token: "bench-token-7f3a9c51e8b2d604qmxzrlpt", pages };
const stream = {
  name: "rows",
  json_schema: {},
  supported_sync_modes: ["full_refresh"],
  source_defined_primary_key: [["id"]],
};
await writeFile(
  file("config.json"),
  JSON.stringify({ ...config, __injected_declarative_manifest: manifest }),
);
await writeFile(
  file("catalog.json"),
  JSON.stringify({
    streams: [{ stream, sync_mode: "full_refresh", destination_sync_mode: "append" }],
  }),
);

const isBuilt = !process.execArgv.includes("--conditions=svc-source");
// A build has no types: stripping the driver's at each start is no work of svc's.
const driver = here(isBuilt ? "../dist/bench-svc-read.mjs" : "svc-read.ts");
if (isBuilt)
  await writeFile(driver, stripTypeScriptTypes(await readFile(here("svc-read.ts"), "utf8")));
const svc = (reader: string) =>
  [process.execPath, ...process.execArgv, driver, port, file("ca.pem"), pages, here(reader)]
    .map((word) => `'${word}'`)
    .join(" ");
const cdk = `REQUESTS_CA_BUNDLE='${file("ca.pem")}' DO_NOT_TRACK=1 '${venv}/bin/source-declarative-manifest' read --config '${file("config.json")}' --catalog '${file("catalog.json")}'`;
const ways: readonly Way[] = [
  { name: "svc", command: () => `${svc("manifests/rows.yaml")} 2>&1` },
  ...(venv === undefined ? [] : [{ name: "airbyte-cdk", aim: 0.2, command: () => cdk }]),
  {
    name: "svc, its TypeScript connector",
    command: () => `${svc("rows-connector/index.ts")} 2>&1`,
  },
];

try {
  const title = `${records.toLocaleString("en")} records of a manifest`;
  printComparison(title, ways, await compare(title, ways, rounds, () => ""));
  const firsts = new Map(ways.map(({ name }) => [name, [] as number[]]));
  for (let round = 0; round < rounds; round++)
    for (const { name, command } of ways)
      firsts.get(name)?.push(await secondsToFirstRecord(String(await command(""))));
  const ours = median(firsts.get("svc") ?? []);
  console.log("| start to the first record | s | svc's against it | aim |\n|---|---|---|---|");
  for (const [name, seconds] of firsts) {
    const ratio = name === "svc" ? "" : (ours / median(seconds)).toFixed(2);
    const aim = name === "airbyte-cdk" ? "≤ 0.1" : "";
    console.log(`| ${name} | ${median(seconds).toFixed(2)} | ${ratio} | ${aim} |`);
  }
} finally {
  await rm(folder, { recursive: true });
  if (isBuilt) await rm(driver);
}

/** Runs a command of the shell's until it has written a record, and ends it. */
async function secondsToFirstRecord(command: string): Promise<number> {
  const startedMs = performance.now();
  const child = spawn("bash", ["-c", command], {
    stdio: ["ignore", "pipe", "ignore"],
    detached: true,
  });
  let tail = "";
  for await (const chunk of child.stdout) {
    tail = `${tail.slice(-100)}${chunk}`;
    if (!/"type": ?"RECORD"/.test(tail)) continue;
    const seconds = (performance.now() - startedMs) / 1_000;
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    return seconds;
  }
  throw new Error(`${command} has written no record`);
}
