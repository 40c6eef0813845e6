/**
 * Builds the console: a page and its files, whose names have a hash of what is in them. Each has a
 * compressed sibling, so that the server compresses nothing.
 */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "vite";

export async function buildConsole(folder: string): Promise<void> {
  // Whoever builds it in a test gets what others get too.
  process.env.NODE_ENV = "production";
  await build({
    configFile: fileURLToPath(new URL("../console/vite.config.ts", import.meta.url)),
    build: { outDir: resolve(folder), emptyOutDir: true },
  });
  for (const name of await readdir(`${folder}/assets`)) {
    const path = `${folder}/assets/${name}`;
    await writeFile(`${path}.gz`, gzipSync(await readFile(path), { level: 9 }));
  }
}
