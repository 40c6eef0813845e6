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
import { isSandboxModule } from "./runtime.ts";

/** @throws Error when the sources do not fit together, or need what the sandbox may not read */
export async function bundleWorker(): Promise<void> {
  const root = bundleRoot();
  if (existsSync(root)) return;
  const draft = join(dirname(root), randomUUID());
  try {
    await writeBundle(draft);
    await rename(draft, root);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    // Another run has made the same at the same time.
    if (!existsSync(root)) throw error;
  }
  await dropOld(dirname(root));
}

async function writeBundle(folder: string): Promise<void> {
  // The places are those of the sources, which workers are given to read.
  for (const name of sandboxFolders)
    await mkdir(join(folder, "runtime", name), { recursive: true });
  const bundle = await rolldown({
    input: {
      author: `${runtimeFolder}author.ts`,
      "database-author": `${runtimeFolder}database-author.ts`,
      "worker/entry": `${runtimeFolder}worker/entry.ts`,
    },
    platform: "node",
    logLevel: "warn",
  });
  const { output } = await bundle.write({
    dir: join(folder, "runtime"),
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "worker/[name]-[hash].js",
  });
  await bundle.close();
  const modules = output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
  // Packages lie open to a worker of the sources too.
  const own = modules.filter((id) => !id.includes("/node_modules/"));
  const foreign = own.filter((id) => !isSandboxModule(id));
  if (foreign.length > 0)
    throw new Error(`The sandbox would load code of the host: ${foreign.join(", ")}`);
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
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
