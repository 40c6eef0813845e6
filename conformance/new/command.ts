/** `svc new <name>`: a folder with a connector, its recordings and its test, green as made. */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { type CommandBuilder, packageRoot, type Terminal, UsageError } from "svc-connectors/host";

const nameForm = /^[a-z][a-z0-9-]{0,39}$/;

export const buildNew: CommandBuilder = (command, terminal) => {
  command
    .argument("<name>", "the new connector: svc new tickets")
    .action((name) => makeConnector(name, terminal));
};

/** @throws UsageError */
async function makeConnector(name: string, { cwd, out }: Terminal): Promise<void> {
  if (!nameForm.test(name))
    throw new UsageError(
      "a name is lower case letters, digits and dashes, and begins with a letter",
    );
  const folder = resolve(cwd, name);
  await mkdir(folder).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(
      error.code === "EEXIST"
        ? `there is a folder "${name}" already`
        : `the folder "${name}" cannot be made here`,
    );
  });
  for (const [path, text] of await readTemplate(name)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text, { flag: "wx" });
  }
  await out.line(
    `Made ${name}/: a connector that passes every rule. Try it:\n\n  npx svc conformance ./${name}\n\n${name}/README.md says how to make it yours.`,
  );
}

/** The files of the template, by path, with the name filled in. */
async function readTemplate(name: string): Promise<ReadonlyMap<string, string>> {
  const root = join(packageRoot, "conformance", "new", "template");
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const title = name.charAt(0).toUpperCase() + name.slice(1).replaceAll("-", " ");
  const fill = (text: string) =>
    text
      .replaceAll("__NAME__", name)
      .replaceAll("__TITLE__", title)
      .replaceAll("__ID__", name.replaceAll("-", "_"));
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const texts = await Promise.all(
    files.map(async (path) => [relative(root, path), fill(await readFile(path, "utf8"))] as const),
  );
  return new Map(texts);
}
