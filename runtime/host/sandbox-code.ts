/**
 * The part of this package that the worker and the connectors run. In a checkout these are its
 * sources, or the bundle that the tests have made of exactly these: a worker of one file starts in
 * a fifth of the time of one of 400.
 * @see build/worker.ts
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { isSourceRun, moduleEnding, packageRoot, runtimeFolder } from "../wire/location.ts";

/** The entries that connectors import by the name of this package. */
const entries = ["author", "database-author"] as const;
/** Beside the entries. */
export const sandboxFolders = [
  "worker",
  "manifest",
  "protocol",
  "database",
  "wire",
  "contract",
] as const;

interface SandboxCode {
  readonly folder: string;
  readonly ending: ".ts" | ".js";
  /** Of the package.json that says that these are modules. */
  readonly root: string;
}

/** Where a bundle of these sources stands, whether it was made or not. */
export function bundleRoot(): string {
  const hash = createHash("sha256").update(readFileSync(join(packageRoot, "package-lock.json")));
  for (const file of sources())
    hash.update(`\0${file}\0`).update(readFileSync(runtimeFolder + file));
  const name = `worker-${hash.digest("hex").slice(0, 16)}`;
  return join(packageRoot, "node_modules/.cache/svc", name);
}

const sources = () => [
  ...entries.map((name) => `${name}.ts`),
  ...sandboxFolders.flatMap((folder) =>
    readdirSync(runtimeFolder + folder, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
      .sort()
      .map((file) => join(folder, file)),
  ),
];

function findCode(): SandboxCode {
  const root = isSourceRun && existsSync(join(packageRoot, "package-lock.json")) && bundleRoot();
  if (root && existsSync(root)) return { folder: join(root, "runtime") + sep, ending: ".js", root };
  return { folder: runtimeFolder, ending: moduleEnding, root: packageRoot };
}

const code = findCode();

/** The entries, `worker/entry` and what they load lie here; it ends with a separator. */
export const sandboxFolder: string = code.folder;
/** The ending of its modules. */
export const sandboxEnding: ".ts" | ".js" = code.ending;

/** The first module of a worker. */
export const workerEntry: string = `${code.folder}worker/entry${code.ending}`;

/** The paths of this package that every worker may read; folders end with a separator. */
export const sandboxCode: readonly string[] = [
  join(code.root, "package.json"),
  ...entries.map((name) => `${code.folder}${name}${code.ending}`),
  // A built package has its shared code in `worker/` too.
  ...sandboxFolders.map((folder) => `${code.folder}${folder}${sep}`),
  // Third parties' packages of built connectors.
  ...(isSourceRun ? [] : [join(runtimeFolder, "../packages") + sep]),
];
