/**
 * The code of a connector from outside, as one digest: all that its worker may read besides what
 * comes with svc. It is the same on every host that has the same installed, wherever it lies.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { relative, sep } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Manifest } from "../contract/catalog.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { JsonValue } from "../contract/json.ts";
import { canonicalize } from "../wire/canonical-json.ts";
import { packageRoot } from "../wire/location.ts";
import { codeOf } from "./code-access.ts";
import {
  closurePaths,
  fileAt,
  type PackageFile,
  packageClosure,
  packageFiles,
} from "./package-closure.ts";
import { sandboxCode } from "./sandbox-code.ts";

/** The code as it is now. */
export interface ConnectorCode {
  /** `sha256:` and 64 hexadecimal digits. */
  readonly digest: string;
  /** Paths for `--allow-fs-read` of its worker: this code, and what comes with svc. */
  readonly paths: readonly string[];
}

const maxFiles = 100_000;
const maxBytes = 1024 ** 3;
/** Files that are read at a time. */
const readAhead = 16;

/**
 * @throws CONNECTOR_UNKNOWN when the module is no file, CONNECTOR_INVALID when there is more of it
 * than a connector has, or a link leads out of it
 */
export async function readConnectorCode(connectorUrl: string): Promise<ConnectorCode> {
  const { module, moduleRoot, files } = codeOf(connectorUrl);
  if (/\.ya?ml$/.test(connectorUrl) && files.length === 1) {
    const { digest, paths } = await manifestCode(await readFile(module, "utf8"));
    return { digest, paths: [...paths, ...files] };
  }
  try {
    // A connector within this package has no packages of its own.
    const closure = moduleRoot === packageRoot ? [] : await packageClosure(moduleRoot);
    const nameOf = (path: string) => relative(moduleRoot, path).replaceAll(sep, "/");
    const facts: string[][] = [["module", nameOf(module)]];
    const found: (readonly [label: string, file: PackageFile])[] = [];
    for (const path of files) found.push(["", await fileAt(moduleRoot, nameOf(path))]);
    for (const { label, folder, needs } of closure) {
      facts.push(...[...needs].map((need) => ["needs", label, need]));
      if (folder === moduleRoot) continue; // its files are those above
      for (const file of await packageFiles(folder)) found.push([label, file]);
      refuseTooMuch(found);
    }
    for (let start = 0; start < found.length; start += readAhead)
      facts.push(
        ...(await Promise.all(
          found
            .slice(start, start + readAhead)
            .map(async ([label, file]) => ["file", label, file.name, await digestOf(file)]),
        )),
      );
    const lines = new Set(facts.map((fact) => JSON.stringify(fact)));
    const others = closure.filter(({ folder }) => folder !== moduleRoot);
    const paths = [...(await ownPaths()), ...files, ...closurePaths(others)];
    return { digest: sha256([...lines].sort().join("\n")), paths: [...new Set(paths)] };
  } catch (error) {
    if (error instanceof ConnectorError) throw error;
    // It went, or changed, while it was looked at; or this user may not read it.
    throw invalid("or a file that it needs cannot be read");
  }
}

/** The digest of what a connector says of itself. */
export const manifestDigest = (manifest: Manifest | JsonValue): string =>
  sha256(canonicalize(manifest));

/** A declarative manifest that is data: its text is all that there is of it. */
export const manifestCode = async (document: string): Promise<ConnectorCode> => ({
  digest: sha256(JSON.stringify(["manifest", document])),
  paths: await ownPaths(),
});

/** The paths of svc and its packages that every worker reads. */
async function ownPaths(): Promise<readonly string[]> {
  ownPackages ??= packageClosure(packageRoot);
  const own = (await ownPackages).filter(({ folder }) => folder !== packageRoot);
  return [...sandboxCode, ...closurePaths(own)];
}

/** Packages of svc: an installation does not change while it runs. */
let ownPackages: ReturnType<typeof packageClosure> | undefined;

function refuseTooMuch(found: readonly (readonly [string, PackageFile])[]): void {
  const bytes = found.reduce((sum, [, { size }]) => sum + size, 0);
  if (found.length > maxFiles || bytes > maxBytes)
    throw invalid(
      `and the packages that it asks for are more than ${maxFiles} files or ${maxBytes} bytes`,
    );
}

/** Digests, kept while a file's times, size and place are the same. */
const known = new Map<string, { readonly stamp: string; readonly digest: string }>();

async function digestOf({ path, stamp }: PackageFile): Promise<string> {
  const before = known.get(path);
  if (before?.stamp === stamp) return before.digest;
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  const digest = hash.digest("hex");
  known.set(path, { stamp, digest });
  return digest;
}

const sha256 = (text: string) => `sha256:${createHash("sha256").update(text).digest("hex")}`;

const invalid = (problem: string) =>
  new ConnectorError("CONNECTOR_INVALID", { path: "module", problem });
