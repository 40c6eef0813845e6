/**
 * Where this code lies on disk: as TypeScript in a checkout, or built, where several files may be
 * bundled into one.
 */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** True when this code runs as TypeScript from a checkout. */
export const isSourceRun: boolean = import.meta.url.endsWith(".ts");

/** The ending of modules beside this one. */
export const moduleEnding: ".ts" | ".js" = isSourceRun ? ".ts" : ".js";

const here = fileURLToPath(import.meta.url);
const marker = join("/", "runtime", "/");

/** `runtime/` of a checkout, or `dist/runtime/`; ends with a separator. */
export const runtimeFolder: string = here.slice(0, here.lastIndexOf(marker) + marker.length);

/** Where the package's package.json stands. */
export const packageRoot: string = isSourceRun
  ? dirname(runtimeFolder)
  : dirname(dirname(runtimeFolder));
