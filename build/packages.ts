/**
 * Third parties' packages, bundled: `dist/packages/` has the parts of them that svc uses, and the
 * built modules import those. Nobody installs them one by one: fewer files, no warnings of packages
 * that ask for another Node, nothing that runs at installation.
 */
import { copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { rolldown } from "rolldown";
import { parseAst } from "rolldown/parseAst";

const folder = "dist/packages";

/**
 * Installed beside svc: native code, WebAssembly in files, what declarations name (TypeBox), what
 * only a checkout or a tool of the user has, and svc's own entries.
 */
const installed =
  /^(@duckdb\/node-api|@electric-sql\/pglite|typebox|vitest|testcontainers|pg-native|svc-connectors)(\/|$)|^node:|^[./]/;

/** Who imports it has something to set up first: runtime/image/authority.ts. */
const prepared = new Set(["@peculiar/x509"]);

/** Files that bundled packages read beside themselves, by their place there. */
const files = {
  "llhttp/llhttp.wasm": "node_modules/@mswjs/interceptors/lib/node/llhttp/llhttp.wasm",
};

/**
 * Native parts that packages look for and do without: compiled for one machine, they stay out, and
 * nothing of a user's folders is loaded in their place.
 */
const native = /\.node$|^cpu-features$/;

/** The names that modules import of each package. */
type Uses = Map<string, Set<string>>;

interface Reference {
  readonly start: number;
  readonly end: number;
  readonly source: string;
}

interface ImportedModule {
  readonly path: string;
  readonly text: string;
  readonly references: readonly Reference[];
}

export async function bundlePackages(): Promise<void> {
  const paths = (await readdir("dist", { recursive: true }))
    .filter((path) => path.endsWith(".js") && !path.startsWith("control/http/swagger-ui/"))
    .map((path) => join("dist", path));
  const uses: Uses = new Map();
  const modules = await Promise.all(paths.map((path) => readModule(path, uses)));
  await bundle(uses);
  for (const { path, text, references } of modules) {
    if (references.length > 0) await writeFile(path, rewritten(path, text, references));
  }
  // A package that bundling has broken fails here, and not on the day that somebody needs it.
  for (const source of uses.keys())
    if (!prepared.has(source)) await import(resolve(folder, `${fileOf(source)}.js`));
}

// biome-ignore lint/suspicious/noExplicitAny: a syntax tree's nodes are what their type says
type Node = any;

async function readModule(path: string, uses: Uses): Promise<ImportedModule> {
  const text = await readFile(path, "utf8");
  const references: Reference[] = [];
  const note = ({ start, end, value }: Node, names: readonly string[]) => {
    if (typeof value !== "string" || installed.test(value)) return;
    references.push({ start, end, source: value });
    const all = uses.get(value) ?? new Set();
    for (const name of names) all.add(name);
    uses.set(value, all);
  };
  const parsed = parseAst(text);
  visit(parsed, (node) => {
    if (node.type === "ImportDeclaration") note(node.source, node.specifiers.map(importedName));
    else if (node.type === "VariableDeclarator" && node.init?.argument?.type === "ImportExpression")
      note(node.init.argument.source, node.id.properties?.map(({ key }: Node) => key.name) ?? []);
  });
  // Of a package that is loaded later, names must be taken at once: `const { a } = await
  // import(…)`.
  const places = new Set(references.map(({ start }) => start));
  visit(parsed, ({ type, source }) => {
    if (type === "ImportExpression" && source.type === "Literal" && !installed.test(source.value))
      if (!places.has(source.start)) throw new Error(`${path}: which names of ${source.value}?`);
  });
  return { path, text, references };
}

const importedName = (specifier: Node): string =>
  specifier.type === "ImportDefaultSpecifier" ? "default" : specifier.imported?.name;

function visit(node: Node, look: (node: Node) => void): void {
  if (Array.isArray(node)) for (const one of node) visit(one, look);
  else if (node !== null && typeof node === "object" && typeof node.type === "string") {
    look(node);
    for (const value of Object.values(node)) visit(value, look);
  }
}

/** The file of a package's entry, without its ending. */
const fileOf = (source: string) =>
  source.replace(/^@/, "").replace(/\.js$/, "").replaceAll("/", "-");

async function bundle(uses: Uses): Promise<void> {
  const entries = new Map(
    [...uses].map(([source, names]) => [
      fileOf(source),
      `export { ${[...names].join(", ")} } from ${JSON.stringify(source)};\n`,
    ]),
  );
  const prefix = "\0package:";
  const bundle = await rolldown({
    input: Object.fromEntries([...entries.keys()].map((file) => [file, `${prefix}${file}`])),
    platform: "node",
    external: (id) => installed.test(id) && !/^[./]/.test(id),
    logLevel: "warn",
    // Modules of CommonJS ask where they are.
    transform: { define: { __dirname: "import.meta.dirname", __filename: "import.meta.filename" } },
    plugins: [
      {
        name: "entries",
        resolveId: (id) => (id.startsWith(prefix) ? id : undefined),
        load: (id) => entries.get(id.slice(prefix.length)),
      },
      {
        name: "native",
        resolveId: (id) => (native.test(id) ? `\0native:${id}` : undefined),
        load: (id) =>
          id.startsWith("\0native:")
            ? "module.exports = {}; throw new Error('left out of the package');"
            : undefined,
      },
    ],
  });
  const { output } = await bundle.write({
    dir: folder,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "shared/[name]-[hash].js",
  });
  await bundle.close();
  for (const [place, from] of Object.entries(files)) {
    await mkdir(dirname(join(folder, place)), { recursive: true });
    await copyFile(from, join(folder, place));
  }
  const ids = output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
  await writeFile(join(folder, "LICENSES.txt"), await licensesOf(ids));
}

/** Of the packages that the modules belong to, as their licences ask for. */
async function licensesOf(ids: readonly string[]): Promise<string> {
  const folders = new Set(
    ids.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []),
  );
  const texts = await Promise.all([...folders].map(licenseOf));
  return [...new Set(texts)].toSorted().join(`\n${"-".repeat(80)}\n\n`);
}

async function licenseOf(packageFolder: string): Promise<string> {
  const { name, version, license } = JSON.parse(
    await readFile(join(packageFolder, "package.json"), "utf8"),
  );
  const names = (await readdir(packageFolder)).filter((file) => /^(licen[cs]e|notice)/i.test(file));
  if (names.length === 0 && typeof license !== "string")
    throw new Error(`${packageFolder} has no licence`);
  const texts = await Promise.all(
    names.toSorted().map((file) => readFile(join(packageFolder, file), "utf8")),
  );
  return [`${name} ${version} (${license})`, ...texts].join("\n\n");
}

function rewritten(path: string, text: string, references: readonly Reference[]): string {
  let result = text;
  for (const { start, end, source } of references.toSorted((a, b) => b.start - a.start)) {
    const target = relative(dirname(path), join(folder, `${fileOf(source)}.js`));
    const specifier = JSON.stringify(target.startsWith(".") ? target : `./${target}`);
    result = result.slice(0, start) + specifier + result.slice(end);
  }
  return result;
}
