import { createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import { chmod, link, mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";

/** A key that wraps other keys (KEK). */
export interface WrappingKey {
  readonly id: string;
  readonly key: KeyObject;
}

/** The operator's keys: new values are sealed under the current one, older ones stay readable. */
export interface Keyring {
  readonly current: WrappingKey;
  find(id: string): WrappingKey | undefined;
}

/**
 * Why the key file cannot be used. The service does not start then; it never goes on without
 * encryption.
 */
export class KeyFileError extends Error {
  override readonly name = "KeyFileError";
}

interface KeyFile {
  readonly current: string;
  readonly keys: readonly { readonly id: string; readonly key: string }[];
}

const keyBytes = 32;

/**
 * Reads the key file; makes it when there is none and `create` says so. It holds the keys in base64
 * and must be readable by its owner only. It is a file, not an environment variable: those can be
 * read from outside the process.
 * @throws KeyFileError
 */
export async function openKeyring(
  path: string,
  options: { readonly create: boolean },
): Promise<Keyring> {
  const found = await readKeyFile(path);
  if (found) return toKeyring(found);
  if (!options.create) throw new KeyFileError(`the key file ${path} does not exist`);
  const id = newKeyId();
  const file = { current: id, keys: [{ id, key: randomBytes(keyBytes).toString("base64") }] };
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // Two servers may start at once on one folder: the first one's file stays.
  if (await createKeyFile(path, file)) return toKeyring(file);
  return openKeyring(path, { create: false });
}

/**
 * Adds a key to the file and makes it the current one. Servers that run read the file again when
 * they meet its id.
 */
export async function addKey(path: string): Promise<Keyring> {
  const found = await requireKeyFile(path);
  const id = newKeyId();
  const file = {
    current: id,
    keys: [{ id, key: randomBytes(keyBytes).toString("base64") }, ...found.keys],
  };
  await replaceKeyFile(path, file);
  return toKeyring(file);
}

/** Takes keys out of the file that nothing is sealed under any more. The current one stays. */
export async function removeKeys(path: string, ids: readonly string[]): Promise<void> {
  const found = await requireKeyFile(path);
  const keys = found.keys.filter(({ id }) => id === found.current || !ids.includes(id));
  await replaceKeyFile(path, { ...found, keys });
}

/** The ids of the file's keys, newest first. @throws KeyFileError */
export async function readKeyIds(
  path: string,
): Promise<{ readonly current: string; readonly ids: readonly string[] }> {
  const { current, keys } = await requireKeyFile(path);
  return { current, ids: keys.map(({ id }) => id) };
}

/** A ring that lives in memory: for tests and throw-away servers. */
export function createMemoryKeyring(): Keyring {
  const current = { id: newKeyId(), key: createSecretKey(randomBytes(keyBytes)) };
  return { current, find: (id) => (id === current.id ? current : undefined) };
}

const newKeyId = () => `kek_${randomBytes(8).toString("hex")}`;

async function requireKeyFile(path: string): Promise<KeyFile> {
  const found = await readKeyFile(path);
  if (!found) throw new KeyFileError(`the key file ${path} does not exist`);
  return found;
}

async function readKeyFile(path: string): Promise<KeyFile | undefined> {
  const stats = await stat(path).catch(() => undefined);
  if (!stats) return undefined;
  if ((stats.mode & 0o077) !== 0) {
    throw new KeyFileError(
      `the key file ${path} is open to other users: chmod 600 it, and consider rotating its keys`,
    );
  }
  const text = await readFile(path, "utf8").catch(() => {
    throw new KeyFileError(`the key file ${path} cannot be read`);
  });
  try {
    const file = JSON.parse(text) as KeyFile;
    const isWhole = file.keys.every(
      ({ id, key }) => /^kek_[0-9a-f]{16}$/.test(id) && decode(key).length === keyBytes,
    );
    if (isWhole && file.keys.some(({ id }) => id === file.current)) return file;
  } catch {
    // The parser's message would quote the file.
  }
  throw new KeyFileError(`the key file ${path} is damaged: restore it from your backup`);
}

function toKeyring({ current, keys }: KeyFile): Keyring {
  const ring = new Map(keys.map(({ id, key }) => [id, { id, key: createSecretKey(decode(key)) }]));
  const own = ring.get(current);
  if (!own) throw new KeyFileError("the key file names a current key that it does not hold");
  return { current: own, find: (id) => ring.get(id) };
}

const decode = (text: string) => Buffer.from(text, "base64");

/** False when there is one already. The file appears whole or not at all. */
async function createKeyFile(path: string, file: KeyFile): Promise<boolean> {
  const draft = await writeDraft(path, file);
  try {
    await link(draft, path);
    await syncFolder(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw new KeyFileError(`the key file ${path} cannot be written`);
  } finally {
    await rm(draft, { force: true });
  }
}

async function replaceKeyFile(path: string, file: KeyFile): Promise<void> {
  try {
    await rename(await writeDraft(path, file), path);
    await syncFolder(path);
  } catch {
    throw new KeyFileError(`the key file ${path} cannot be written`);
  }
}

/** The file's new name outlives a power cut before anything is sealed under its keys. */
async function syncFolder(path: string): Promise<void> {
  await using folder = await open(dirname(path), "r");
  await folder.sync();
}

async function writeDraft(path: string, file: KeyFile): Promise<string> {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString("hex")}`;
  const handle = await open(draft, "wx", 0o600).catch(() => {
    throw new KeyFileError(`the key file ${path} cannot be written`);
  });
  try {
    await handle.writeFile(`${JSON.stringify(file, null, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await chmod(draft, 0o600);
  return draft;
}
