/**
 * Apart from location.ts, since a worker starts sooner when it does not load Node's file system.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../wire/location.ts";

/** The package's version. */
export const packageVersion: string = (
  JSON.parse(readFileSync(join(packageRoot, "package.json"), "utf8")) as { version: string }
).version;
