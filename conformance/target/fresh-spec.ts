/**
 * Reads a connector's spec in a process that has only just loaded its module: modules are loaded
 * once, so that a run cannot show it.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { JsonObject } from "svc-connectors";
import { UnusableError } from "../contract/unusable.ts";

const run = promisify(execFile);
const maxMs = 30_000;
const maxBytes = 16 * 1_048_576;

/** Moves the clock, loads the module, prints the spec. */
const program = `
const shift = Number(process.argv[2]), Real = Date;
globalThis.Date = class extends Real {
  constructor(...args) { args.length === 0 ? super(Real.now() + shift) : super(...args); }
  static now() { return Real.now() + shift; }
};
const { default: source } = await import(process.argv[1]);
process.stdout.write(JSON.stringify(source.spec));`;

/** @throws UnusableError when the module cannot be loaded */
export async function freshSpec(
  url: string,
  environment: Readonly<Record<string, string>>,
  clockShiftMs: number,
): Promise<JsonObject> {
  // From source, the connector's own import of svc-connectors leads to the sources as well.
  const conditions = import.meta.url.endsWith(".ts") ? ["--conditions=svc-source"] : [];
  const args = [...conditions, "--input-type=module", "--eval", program, url, String(clockShiftMs)];
  const { stdout } = await run(process.execPath, args, {
    env: { ...environment },
    timeout: maxMs,
    maxBuffer: maxBytes,
  }).catch(() => {
    throw new UnusableError(
      "the connector's module cannot be loaded in a process of its own; load it with node to see why",
    );
  });
  return JSON.parse(stdout) as JsonObject;
}
