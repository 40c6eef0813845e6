/**
 * One conformance run from what a person names to the report. The command line and the test adapter
 * share it.
 */
import type { KitOptions, OpenKit } from "./contract/kit.ts";
import { openDestinationKit } from "./destination/kit.ts";
import { findDestinationSubject } from "./destination/subject.ts";
import { openSourceKit } from "./lab/source-kit.ts";

/**
 * For a source or a destination.
 * @throws UnusableError: what the author has to put right before a rule can be tried
 */
export async function openKit(options: KitOptions): Promise<OpenKit> {
  const destination = findDestinationSubject(options.connector, options.cwd, options.file);
  return destination
    ? await openDestinationKit(destination, options)
    : await openSourceKit(options);
}
