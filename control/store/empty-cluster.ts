/**
 * The files of an embedded database without tables. To let PostgreSQL make them takes seconds of
 * each first start: the build lets it make them once.
 */
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { deserialize, serialize } from "node:v8";
import { constants, zstdCompress, zstdDecompress } from "node:zlib";

/**
 * An embedded database has one connection and few rows. What PostgreSQL would take for its buffers
 * is several times what all of them need, and WebAssembly gives nothing back.
 */
export const embeddedMemory = [
  "shared_buffers=32MB",
  "wal_buffers=1MB",
  "maintenance_work_mem=16MB",
];

/** Arguments of the program that makes the files. */
export const initParams = embeddedMemory.flatMap((setting) => ["--set", setting]);

/** Where the build puts it, as seen from the sources and from what was built of them. */
export const emptyClusterFile = fileURLToPath(
  new URL(
    import.meta.url.endsWith(".ts")
      ? "../../dist/control/store/empty-cluster.zst"
      : "empty-cluster.zst",
    import.meta.url,
  ),
);

/** Files of a process that has ended. */
const leftOut = ["postmaster.pid"];

interface Cluster {
  /** The version of PGlite that made it: another one makes its own. */
  readonly madeBy: string;
  readonly folders: readonly string[];
  readonly files: readonly (readonly [path: string, bytes: Uint8Array])[];
}

async function pgliteVersion(): Promise<string> {
  const manifest = new URL("../package.json", import.meta.resolve("@electric-sql/pglite"));
  return (JSON.parse(await readFile(manifest, "utf8")) as { version: string }).version;
}

/** @param folder of a database that is closed */
export async function packCluster(folder: string): Promise<Buffer> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const pathOf = ({ parentPath, name }: (typeof entries)[number]) =>
    join(parentPath, name).slice(folder.length + 1);
  const paths = entries
    .filter((entry) => entry.isFile() && !leftOut.includes(entry.name))
    .map(pathOf);
  const cluster: Cluster = {
    madeBy: await pgliteVersion(),
    folders: entries.filter((entry) => entry.isDirectory()).map(pathOf),
    files: await Promise.all(
      paths.map(async (path) => [path, await readFile(join(folder, path))] as const),
    ),
  };
  const params = { [constants.ZSTD_c_compressionLevel]: 9 };
  return await promisify(zstdCompress)(serialize(cluster), { params });
}

/**
 * Puts the files into a folder that is not there yet: whole, or not at all.
 * @returns false when there are none for this version, as in a checkout that was not built
 */
export async function unpackCluster(
  folder: string,
  file: string = emptyClusterFile,
): Promise<boolean> {
  const packed = await readFile(file).catch(() => undefined);
  if (!packed) return false;
  const cluster = deserialize(await promisify(zstdDecompress)(packed)) as Cluster;
  if (cluster.madeBy !== (await pgliteVersion())) return false;
  const draft = `${folder}.new`;
  await rm(draft, { recursive: true, force: true });
  for (const path of ["", ...cluster.folders])
    await mkdir(join(draft, path), { recursive: true, mode: 0o700 });
  for (const [path, bytes] of cluster.files)
    await writeFile(join(draft, path), bytes, { mode: 0o600 });
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
  await rename(draft, folder);
  return true;
}
