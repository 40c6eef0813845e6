import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";

/**
 * Writes all files or none: they are written into a folder beside the real one, then moved. Files
 * of the same names are replaced.
 */
export async function writeAll(
  folder: string,
  files: readonly { readonly name: string; readonly text: string }[],
): Promise<void> {
  const path = resolve(folder);
  await mkdir(path, { recursive: true });
  const temporary = await mkdtemp(join(dirname(path), `.${basename(path)}-`));
  try {
    for (const { name, text } of files) await writeFile(join(temporary, name), text);
    for (const { name } of files) await rename(join(temporary, name), join(path, name));
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}
