/** Removes what killed writers have left, and files that do not count any more. */
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { shortHash, type WriteCommand } from "svc-connectors/destination";
import { isOlder } from "./files.ts";
import type { OpenManifest } from "./manifest.ts";
import { tableFolder } from "./paths.ts";
import type { Lake } from "./store.ts";
import { scratchOf } from "./writer.ts";
import { pathsOf } from "./writing.ts";

/** So long whoever reads by an earlier manifest finds its files. */
const keptMs = 24 * 3_600_000;

/**
 * Each round that changes rows writes the files that they are in anew, and those from before stay
 * for {@link keptMs}: a table that changes all the time is there 96 times, not 4,000 times.
 */
export const minRoundMs = 15 * 60_000;

/** Removes what earlier writers of the owner have left: they commit nothing any more. */
export async function removeLeftovers(
  lake: Lake,
  { owner, fence }: Pick<WriteCommand, "owner" | "fence">,
  { now, wasOpen }: OpenManifest & { readonly wasOpen: boolean },
): Promise<void> {
  const scratch = scratchOf(lake);
  for (const name of await readdir(scratch).catch(() => [])) {
    const [hash, made] = name.split("-");
    if (hash === shortHash(owner) && Number(made) < fence)
      await rm(join(scratch, name), { recursive: true, force: true });
  }
  if (!wasOpen) return;
  const counted = new Set([
    ...now.tables.flatMap(pathsOf),
    ...now.replaced.map(({ path }) => path),
  ]);
  for (const table of now.tables) {
    const paths = await lake.store.list(tableFolder(table));
    await lake.store.remove(
      paths.filter((path) => isOlder(path, owner, fence) && !counted.has(path)),
    );
  }
}

/** Ends a writer: files that were replaced a day ago go, and nothing is left to be cleared away. */
export async function removeReplaced(
  { store, clock }: Lake,
  manifest: OpenManifest,
): Promise<void> {
  const isOver = ({ at }: { readonly at: string }) => clock.now() - Date.parse(at) > keptMs;
  const over = manifest.now.replaced.filter(isOver);
  await store.remove(over.map(({ path }) => path));
  await manifest.commit(({ replaced }) => ({
    isOpen: false,
    replaced: replaced.filter((one) => !isOver(one)),
  }));
}
