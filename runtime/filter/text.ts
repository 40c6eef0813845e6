import type { SecretRegistry } from "./secrets.ts";
import { findShapes } from "./shape-guards.ts";

/** The replacement of a stack frame, path, key, token or image name. */
export const hiddenWord = "[hidden]";

/** More of a text is not looked at: what leaves is 500 characters. */
const maxInput = 20_000;
const maxOutput = 500;

/**
 * Free text as it may leave: log messages, a worker's stderr, reasons in errors. Secrets are
 * replaced by "[redacted]"; stack frames, internal paths, PEM, JWT and image names by "[hidden]".
 * One line of at most 500 characters, without control characters.
 */
export function sanitizeText(text: string, secrets: SecretRegistry): string {
  const redacted = secrets.redactText(text.length > maxInput ? text.slice(0, maxInput) : text);
  const line = hideShapes(redacted)
    .replace(/\u001b\[[0-9;?]*[A-Za-z]/g, "")
    .replace(/[\s\u0000-\u001f\u007f-\u009f\u2028\u2029\ud800-\udfff]+/gu, " ")
    .replaceAll(/\[hidden\](?:[\s(),:;]*\[hidden\])+/g, hiddenWord)
    .trim();
  return line.length > maxOutput
    ? `${line
        .slice(0, maxOutput - 1)
        .toWellFormed()
        .replace(/\ufffd$/, "")}…`
    : line;
}

function hideShapes(text: string): string {
  const pieces: string[] = [];
  let done = 0;
  for (const { index, length } of findShapes(text)) {
    const end = index + length;
    if (end <= done) continue;
    if (index >= done) pieces.push(text.slice(done, index), hiddenWord);
    done = end;
  }
  return pieces.join("") + text.slice(done);
}
