/**
 * The steps after the compiler in `npm run build`: `dist` gets few, large files, and needs few
 * packages beside it.
 */
import { copyFile, cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { buildConsole } from "./console.ts";
import { makeEmptyCluster } from "./database.ts";
import { bundlePackages } from "./packages.ts";
import { bundleRuntime } from "./runtime.ts";
import { bundleTypes } from "./types.ts";
import { builtSchemas, compileValidators } from "./validators.ts";

const { bin, exports } = JSON.parse(await readFile("package.json", "utf8")) as {
  bin: Record<string, string>;
  exports: Record<string, string | { types: string }>;
};

const validators = await compileValidators(await builtSchemas("dist/connectors/sources"));
await writeFile("dist/runtime/spec/compiled.js", validators);
await bundleRuntime();
await bundlePackages();
await bundleTypes(
  Object.fromEntries(
    Object.entries(exports).flatMap(([name, target]) =>
      typeof target === "string"
        ? []
        : [[name.replace(".", "svc-connectors"), target.types.replace("./", "")]],
    ),
  ),
);

await buildConsole("dist/console");

// The assets of the page of the API's documents.
await cp("control/http/swagger-ui", "dist/control/http/swagger-ui", { recursive: true });

await makeEmptyCluster();

// An executable for each source: the same file, whose name says which one it runs.
await mkdir("dist/bin");
for (const path of Object.values(bin)) {
  if (path.startsWith("dist/bin/")) await copyFile("bin/source", path);
}
