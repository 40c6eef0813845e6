/**
 * DuckDB's own functions for data chunks: `@duckdb/node-api` fills them value by value only. They
 * are those of the copy that it has loaded itself.
 */
import { createRequire } from "node:module";
import type * as NodeBindings from "@duckdb/node-bindings";

export type Bindings = typeof NodeBindings;
export type { Vector } from "@duckdb/node-bindings";

let loaded: Bindings | undefined;

/** Loads the native library, which costs about 30 ms. */
export function bindings(): Bindings {
  if (!loaded) {
    const require = createRequire(import.meta.url);
    const ofNodeApi = createRequire(require.resolve("@duckdb/node-api"));
    loaded = ofNodeApi("@duckdb/node-bindings") as Bindings;
  }
  return loaded;
}
