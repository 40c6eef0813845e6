/**
 * Patterns of a manifest, bounded in time: a pattern that a stranger wrote may take for ever. They
 * are tried in a context of their own, which is stopped from outside; no code is made of them.
 */
import { createContext, Script } from "node:vm";
import { EvaluationError } from "./evaluation-error.ts";

const maxPatternChars = 500;
const maxTextChars = 262_144;
const timeoutMs = 500;

let context: { pattern: string; flags: string; text: string; by: string } | undefined;
const searching = new Script("new RegExp(pattern, flags).exec(text)");
const replacing = new Script("text.replace(new RegExp(pattern, flags), by)");

/** Python's groups have a name in another form; its flags at the beginning are few. */
function translate(pattern: string): { readonly pattern: string; readonly flags: string } {
  if (pattern.length > maxPatternChars)
    throw new EvaluationError(`has a pattern of more than ${maxPatternChars} characters`);
  const [, flags = "", rest = pattern] = /^\(\?([ims]+)\)(.*)$/s.exec(pattern) ?? [];
  return {
    pattern: rest.replaceAll("(?P<", "(?<").replaceAll("\\Z", "$").replace(/^\\A/, "^"),
    flags,
  };
}

function run<T>(script: Script, pattern: string, extra: string, text: string, by = ""): T {
  if (text.length > maxTextChars) throw new EvaluationError("tries a pattern on too long a text");
  const made = translate(pattern);
  const given = { pattern: made.pattern, flags: made.flags + extra, text, by };
  context ??= createContext({ ...given }) as typeof given;
  Object.assign(context, given);
  try {
    return script.runInContext(context, { timeout: timeoutMs }) as T;
  } catch (error) {
    const isLong = (error as { code?: unknown }).code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
    throw new EvaluationError(
      isLong ? `has a pattern that takes more than ${timeoutMs} ms` : "has a pattern that is none",
    );
  }
}

/** The match of a pattern: the whole, and its groups. */
export function searchPattern(pattern: string, text: string): readonly string[] | undefined {
  const found = run<readonly (string | undefined)[] | null>(searching, pattern, "", text);
  return found ? Array.from(found, (one) => String(one ?? "")) : undefined;
}

/** Replaces every place; `\1` is the first group. */
export function replacePattern(pattern: string, text: string, by: string): string {
  const inJs = by
    .replaceAll("$", "$$$$")
    .replace(/\\g<(\w+)>/g, (_, name: string) => (/^\d+$/.test(name) ? `$${name}` : `$<${name}>`))
    .replace(/\\(\d)/g, "$$$1");
  return String(run<string>(replacing, pattern, "g", text, inJs));
}
