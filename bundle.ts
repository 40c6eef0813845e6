/**
 * The last step of the build: bundles the runtime and TypeBox, so that a worker starts in the time that a few files take instead
 * of the 700 that TypeBox has. Types stay those that tsc wrote.
 */
import { readdir, rm } from "node:fs/promises";
import { rolldown } from "rolldown";

const folder = "dist/runtime";
const bundle = await rolldown({
  input: {
    author: `${folder}/author.js`,
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
  chunkFileNames: "[name]-[hash].js",
  cleanDir: false,
});
await bundle.close();
// What went into the bundles is not needed a second time; the declarations stay.
const kept = new Set(output.map(({ fileName }) => fileName));
for (const name of await readdir(folder, { recursive: true })) {
  if (name.endsWith(".js") && !kept.has(name)) await rm(`${folder}/${name}`);
}
