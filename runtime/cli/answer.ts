/**
 * Answers of commands: text for people, or with `--json` one JSON document for scripts.
 * docs/command-line.md says what scripts may rely on.
 */
import type { ErrorRecord } from "../contract/errors.ts";
import type { Terminal } from "./terminal.ts";

/** The flag of every command that answers something. */
export const jsonFlag = [
  "--json",
  "one JSON document on stdout instead of text, for scripts",
] as const;

/**
 * Writes what a command found.
 * @param text is made only when it is shown
 */
export async function answer(
  { out }: Pick<Terminal, "out">,
  isJson: boolean | undefined,
  document: object,
  text: () => string,
): Promise<void> {
  await out.line(isJson ? JSON.stringify(document) : text());
}

/** A failure in an answer. */
export const toErrorDocument = ({
  code,
  message,
  details,
  retryAfterMs,
}: Pick<ErrorRecord, "message" | "details" | "retryAfterMs"> & { readonly code: string }) => ({
  code,
  message,
  details,
  retry_after_ms: retryAfterMs,
});

/** True for a command line that asks for JSON, also when it is wrong in another place. */
export function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return argv.slice(0, end === -1 ? undefined : end).includes("--json");
}
