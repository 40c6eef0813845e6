import { setFlagsFromString } from "node:v8";

/**
 * Without it, buffers that come and go set off many full collections: a sixth of the CPU of a large
 * read. A flag of the V8 in Node 26, which other versions may not know.
 */
export const collectorFlags: readonly string[] = process.versions.node.startsWith("26.")
  ? ["--external-memory-accounted-in-global-limit"]
  : [];

/** Sets the flags for this process; for programs whose work is to move data, at their start. */
export function tuneCollector(): void {
  for (const flag of collectorFlags) setFlagsFromString(flag);
}
