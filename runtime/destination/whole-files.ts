/** Files that appear whole or not at all, and are there after a power cut once they are told of. */
import { open, rename } from "node:fs/promises";
import { dirname } from "node:path";

/** Puts the content of a file, or the names in a folder, on the disk. */
export async function syncPath(path: string): Promise<void> {
  await using handle = await open(path, "r");
  await handle.sync();
}

/**
 * Gives a file that is written its name, in the place of what has it. Its content is on the disk
 * before, its name when this resolves.
 */
export async function renameWhole(draft: string, path: string): Promise<void> {
  await syncPath(draft);
  await rename(draft, path);
  await syncPath(dirname(path));
}
