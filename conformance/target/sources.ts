import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { Target } from "../contract/target.ts";

/**
 * Relative imports and re-exports of a module, also `import()` of a fixed path. Those of types
 * alone are gone when it runs.
 */
const relativeImport = /(?:\bfrom|\bimport\s*\(?)\s*["'](\.{1,2}\/[^"'\n]+)["']/g;
const typeImport = /^[ \t]*(?:import|export)\s+type\b[^;"']*["'][^"'\n]*["'];?/gm;
const maxFiles = 200;
/** Where the build puts third parties' packages: built modules import those by relative path. */
const builtPackages = new URL("../../packages/", import.meta.url).href;

/**
 * The source files of a connector: its module and all that it imports by relative path, without
 * what third parties have written.
 */
export function readSources(url: string, packages: string = builtPackages): Target["sources"] {
  const root = dirname(fileURLToPath(url));
  const found = new Map<string, string>();
  const waiting = [url];
  for (
    let next = waiting.pop();
    next !== undefined && found.size < maxFiles;
    next = waiting.pop()
  ) {
    if (found.has(next) || next.startsWith(packages) || !existsSync(fileURLToPath(next))) continue;
    const text = readFileSync(fileURLToPath(next), "utf8");
    found.set(next, text);
    for (const [, specifier = ""] of text.replaceAll(typeImport, "").matchAll(relativeImport))
      waiting.push(new URL(specifier, next).href);
  }
  return [...found].map(([href, text]) => {
    const path = fileURLToPath(href);
    return { path: relative(root, path) || basename(path), text, file: path };
  });
}
