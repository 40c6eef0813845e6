/**
 * Bundles the runtime and TypeBox, so that a worker starts in the time that a few files take
 * instead of the 700 that TypeBox has. Types stay those that tsc wrote. What the sandbox runs ends
 * up in `worker/`, apart from the host's code.
 */
import { readdir, rm } from "node:fs/promises";
import { rolldown } from "rolldown";

const folder = "dist/runtime";
/** Modules that the sandbox may read: see runtime/host/code-access.ts. */
export const isSandboxModule = (id: string): boolean =>
  /\/runtime\/((database-)?author\.[jt]s$|(worker|manifest|protocol|database|wire|contract)\/)|\/node_modules\/typebox\/|^\0/.test(
    id,
  );

export async function bundleRuntime(): Promise<void> {
  const bundle = await rolldown({
    input: {
      author: `${folder}/author.js`,
      "database-author": `${folder}/database-author.js`,
      cli: `${folder}/cli.js`,
      host: `${folder}/host.js`,
      "destination-author": `${folder}/destination-author.js`,
      "worker/entry": `${folder}/worker/entry.js`,
    },
    platform: "node",
    external: [/^(?!\.|\/|typebox)/],
    logLevel: "warn",
  });
  const { output } = await bundle.write({
    dir: folder,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: ({ moduleIds }) =>
      `${moduleIds.length > 0 && moduleIds.every(isSandboxModule) ? "worker" : "host"}/[name]-[hash].js`,
    cleanDir: false,
  });
  await bundle.close();

  // Code that the sandbox loads must lie where it may read: a build that breaks the wall fails.
  const chunks = new Map(
    output.flatMap((file) => (file.type === "chunk" ? [[file.fileName, file] as const] : [])),
  );
  const reachable = (name: string): string[] => [
    name,
    ...(chunks.get(name)?.imports ?? []).flatMap(reachable),
  ];
  for (const name of ["worker/entry.js", "author.js", "database-author.js"].flatMap(reachable)) {
    const foreign = chunks.get(name)?.moduleIds.filter((id) => !isSandboxModule(id)) ?? [];
    if (foreign.length > 0)
      throw new Error(`The sandbox would load code of the host: ${foreign.join(", ")}`);
  }

  // Files that went into the bundles are not needed a second time; the declarations stay.
  const kept = new Set(output.map(({ fileName }) => fileName));
  for (const name of await readdir(folder, { recursive: true })) {
    if (name.endsWith(".js") && !kept.has(name)) await rm(`${folder}/${name}`);
  }
}
