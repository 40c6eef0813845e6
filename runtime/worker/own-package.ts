import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";
import { moduleEnding, runtimeFolder } from "../wire/location.ts";

/**
 * Whatever copy of svc, or link to one, is installed beside a connector, or none: what it imports
 * as "svc-connectors" is the one that runs it. Other copies stay closed, and may be of another
 * version.
 */
export function provideOwnPackage(): void {
  const url = pathToFileURL(`${runtimeFolder}author${moduleEnding}`).href;
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === "svc-connectors" ? { url, shortCircuit: true } : next(specifier, context),
  });
}
