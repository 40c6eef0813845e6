import { createHash, randomUUID } from "node:crypto";
import { copyFile, link, mkdir, readdir, readFile, rm, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { ConnectorError } from "svc-connectors";
import { type ObjectStore, outputFailed, renameWhole } from "svc-connectors/destination";

/** Beside nothing that people look for; a folder of the destination's own. */
const lockPath = "_svc/lock";
const busyTimeoutMs = 10_000;

/** A folder of this machine. Processes of this machine may share it. */
export function createFolderStore(root: string): ObjectStore {
  const at = (path: string) => join(root, ...path.split("/"));
  const safely = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw outputFailed(error);
    }
  };
  const read = async (path: string) => {
    const bytes = await readFile(at(path)).catch(ifMissing);
    return bytes && { bytes, tag: createHash("sha256").update(bytes).digest("hex") };
  };
  return {
    read: (path) => safely(() => read(path)),
    replace: (path, bytes, tag) =>
      safely(async () => {
        const file = at(path);
        await makeFolder(dirname(file));
        await makeFolder(dirname(at(lockPath)));
        using _alone = await lock(at(lockPath));
        if ((await read(path))?.tag !== tag) return undefined;
        const draft = `${file}.${randomUUID()}`;
        try {
          await writeFile(draft, bytes, { flag: "wx", mode: 0o600 });
          await renameWhole(draft, file);
        } finally {
          await rm(draft, { force: true });
        }
        return createHash("sha256").update(bytes).digest("hex");
      }),
    put: (file, path) =>
      safely(async () => {
        await makeFolder(dirname(at(path)));
        await renameWhole(file, at(path));
      }),
    fetch: (path, file) =>
      safely(async () => {
        // A second name costs nothing; some file systems have none.
        await link(at(path), file).catch(() => copyFile(at(path), file));
      }),
    list: (prefix) =>
      safely(async () => {
        const folder = prefix.slice(0, prefix.lastIndexOf("/") + 1);
        const entries = await readdir(at(folder), { recursive: true, withFileTypes: true }).catch(
          ifMissing,
        );
        return (entries ?? [])
          .filter((entry) => entry.isFile())
          .map((entry) => join(entry.parentPath, entry.name).slice(join(root, "/").length))
          .filter((path) => path.startsWith(prefix))
          .sort();
      }),
    remove: (paths) =>
      safely(async () => {
        for (const path of paths) {
          await rm(at(path), { force: true });
          // Of a partition that is no more; one that is not empty stays.
          if (path.split("/").length > 3) await rmdir(dirname(at(path))).catch(() => undefined);
        }
      }),
  };
}

const ifMissing = (error: unknown) => {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
  throw error;
};

const makeFolder = (path: string) => mkdir(path, { recursive: true, mode: 0o700 });

/** Keeps other processes off, and ends with this one. */
async function lock(path: string): Promise<Disposable> {
  for (const endMs = Date.now() + busyTimeoutMs; ; ) {
    const database = new DatabaseSync(path);
    try {
      database.exec("PRAGMA journal_mode = MEMORY; PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE");
      return { [Symbol.dispose]: () => database.close() };
    } catch {
      database.close();
      if (Date.now() > endMs) throw new ConnectorError("OUTPUT_BUSY");
      await delay(5);
    }
  }
}
