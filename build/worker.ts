/**
 * Bundles what the sandbox runs, from the sources, for the workers that tests start: each starts in
 * a fifth of the time. It is found by what it was made of (`runtime/host/sandbox-code.ts`), so that
 * none is used after a change.
 */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { rolldown } from "rolldown";
import { bundleRoot, sandboxFolders } from "../runtime/host/sandbox-code.ts";
import { runtimeFolder } from "../runtime/wire/location.ts";

export async function bundleWorker(): Promise<void> {
  const root = bundleRoot();
  if (existsSync(root)) return;
  const draft = join(dirname(root), randomUUID());
  // The places are those of the sources, which workers are given to read.
  for (const folder of sandboxFolders)
    await mkdir(join(draft, "runtime", folder), { recursive: true });
  const bundle = await rolldown({
    input: {
      author: `${runtimeFolder}author.ts`,
      "worker/entry": `${runtimeFolder}worker/entry.ts`,
    },
    platform: "node",
    logLevel: "warn",
  });
  await bundle.write({
    dir: join(draft, "runtime"),
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "worker/[name]-[hash].js",
  });
  await bundle.close();
  await writeFile(join(draft, "package.json"), '{ "type": "module" }');
  // Another run may have made the same at the same time.
  await rename(draft, root).catch(() => rm(draft, { recursive: true }));
  await dropOld(dirname(root));
}

const day = 24 * 60 * 60 * 1000;

/** Newer ones may be in use, by a run on other sources. */
async function dropOld(cache: string): Promise<void> {
  for (const name of await readdir(cache)) {
    const path = join(cache, name);
    if (!/^(worker-|[0-9a-f-]{36}$)/.test(name)) continue;
    if ((await stat(path)).mtimeMs < Date.now() - day) await rm(path, { recursive: true });
  }
}
