/**
 * `svc new <name>`: a folder with a connector, its recordings and its test, green as made; with
 * `.yaml` behind the name it is a declarative manifest. In a checkout of this repository it becomes
 * one of its sources, in the house's layout.
 */
import { existsSync, realpathSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import {
  builtInActivations,
  builtInDestinations,
  builtInSources,
  type CommandBuilder,
  packageRoot,
  type Terminal,
  UsageError,
} from "svc-connectors/host";

const nameForm = /^[a-z][a-z0-9-]{0,39}$/;
/** Ending of the file of a declarative manifest. */
const manifestEnding = ".yaml";

export const buildNew: CommandBuilder = (command, terminal) => {
  command
    .argument(
      "<name>",
      "the new connector: svc new tickets; a declarative manifest: svc new source-tickets.yaml",
    )
    .action((name) => makeConnector(name, terminal));
};

/** Where a new connector goes, and which folders of the template it is made of. */
interface Layout {
  /** Relative to the working folder. */
  readonly folder: string;
  readonly parts: readonly string[];
  /** The command that tries it. */
  readonly trial: string;
}

/** @throws UsageError */
async function makeConnector(wanted: string, { cwd, out }: Terminal): Promise<void> {
  const isManifest = wanted.endsWith(manifestEnding);
  const name = isManifest ? wanted.slice(0, -manifestEnding.length) : wanted;
  if (!nameForm.test(name))
    throw new UsageError(
      "a name is lower case letters, digits and dashes, and begins with a letter; with .yaml behind it, it is that of a declarative manifest. A folder of that name is made here",
    );
  const { folder, parts, trial } = layoutOf(name, isManifest, cwd);
  const texts = await Promise.all(parts.map((part) => readTemplate(part, name)));
  await mkdir(join(cwd, folder)).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(
      error.code === "EEXIST"
        ? `there is a folder "${folder}" already`
        : `the folder "${folder}" cannot be made here`,
    );
  });
  for (const [path, text] of texts.flat()) {
    await mkdir(dirname(join(cwd, folder, path)), { recursive: true });
    await writeFile(join(cwd, folder, path), text, { flag: "wx" });
  }
  await out.line(
    `Made ${folder}/: a connector that passes every rule. Try it:\n\n  ${trial}\n\n${folder}/README.md says how to make it yours.`,
  );
}

/** @throws UsageError */
function layoutOf(name: string, isManifest: boolean, cwd: string): Layout {
  if (!isOwnCheckout(cwd)) return isManifest ? manifestLayout(name) : ownLayout(name);
  if (!isManifest) return houseLayout(name);
  throw new UsageError(
    "the sources of this repository are modules: svc new NAME makes one; make a manifest in a folder of your own",
  );
}

const ownLayout = (name: string): Layout => ({
  folder: name,
  parts: ["connector", "alone"],
  trial: `npx svc conformance ./${name}`,
});

const manifestLayout = (name: string): Layout => ({
  folder: name,
  parts: ["manifest"],
  trial: `npx svc conformance ./${name}/${name}${manifestEnding}`,
});

/** @throws UsageError when a connector has the name */
function houseLayout(name: string): Layout {
  const connectors = [...builtInSources, ...builtInDestinations, ...builtInActivations];
  if (connectors.some((one) => one.name === name))
    throw new UsageError(`there is a connector "${name}" already`);
  const folder = `connectors/sources/${name}`;
  return { folder, parts: ["connector", "house"], trial: `npx vitest run ${folder}` };
}

/** True in the root of a checkout: a package has no sources of the runtime. */
const isOwnCheckout = (cwd: string) =>
  realpathSync(cwd) === realpathSync(packageRoot) &&
  existsSync(join(packageRoot, "runtime", "author.ts"));

/**
 * The files of a part of the template: paths and texts, with the name filled in. Those that tools
 * would take for this package's own have an underscore before their name there.
 */
async function readTemplate(
  part: string,
  name: string,
): Promise<readonly (readonly [path: string, text: string])[]> {
  const root = join(packageRoot, "conformance", "new", "template", part);
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  // The name of a manifest is that of its file, without the prefix that all of them have.
  const called = part === "manifest" ? name.replace(/^source-(?=[a-z])/, "") : name;
  const title = called.charAt(0).toUpperCase() + called.slice(1).replaceAll("-", " ");
  const fill = (text: string) =>
    text
      .replaceAll("__NAME__", name)
      .replaceAll("__TITLE__", title)
      .replaceAll("__ID__", called.replaceAll("-", "_"));
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return await Promise.all(
    files.map(
      async (path) =>
        [fill(relative(root, path)).replace(/^_/, ""), fill(await readFile(path, "utf8"))] as const,
    ),
  );
}
