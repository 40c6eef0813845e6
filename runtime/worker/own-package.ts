import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";
import { moduleEnding, runtimeFolder } from "../wire/location.ts";

/** The entries of this package that a connector may import, and the files beside this folder. */
const entries = {
  "svc-connectors": "author",
  "svc-connectors/database": "database-author",
} as const;

/**
 * Whatever copy of svc, or link to one, is installed beside a connector, or none: what it imports
 * as "svc-connectors" is the one that runs it. Other copies stay closed, and may be of another
 * version.
 */
export function provideOwnPackage(): void {
  const urls = new Map(
    Object.entries(entries).map(([specifier, file]) => [
      specifier,
      pathToFileURL(`${runtimeFolder}${file}${moduleEnding}`).href,
    ]),
  );
  registerHooks({
    resolve(specifier, context, next) {
      const url = urls.get(specifier);
      return url === undefined ? next(specifier, context) : { url, shortCircuit: true };
    },
  });
}
