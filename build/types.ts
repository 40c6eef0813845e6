/**
 * Declarations, bundled: each entry has those that its exports need, and no others. A module that
 * imports the author's entry loads two files instead of the runtime's hundreds.
 */
import { readdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { rolldown } from "rolldown";
import { dts } from "rolldown-plugin-dts";

/** The entries of package.json, by the names under which modules of other units import them. */
export async function bundleTypes(entries: Readonly<Record<string, string>>): Promise<void> {
  const bundle = await rolldown({
    input: Object.fromEntries(
      Object.values(entries).map((path) => [path.replace(/^dist\/(.*)\.d\.ts$/, "$1.d"), path]),
    ),
    platform: "node",
    external: (id) => !/^[./]/.test(id) && entries[id] === undefined,
    logLevel: "warn",
    plugins: [
      {
        name: "entries",
        resolveId: (id) => {
          const path = entries[id];
          return path === undefined ? undefined : resolve(path);
        },
      },
      ...dts({ dtsInput: true, emitDtsOnly: true, generator: "oxc" }),
    ],
  });
  const { output } = await bundle.write({
    dir: "dist",
    format: "esm",
    chunkFileNames: "types/[name]-[hash].d.ts",
  });
  await bundle.close();
  const kept = new Set(output.map(({ fileName }) => fileName));
  for (const path of await readdir("dist", { recursive: true }))
    if (path.endsWith(".d.ts") && !kept.has(path)) await rm(join("dist", path));
}
