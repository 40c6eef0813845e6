import { randomUUID } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ConnectorError } from "svc-connectors";
import { outputFailed } from "svc-connectors/destination";
import type { Lake } from "./store.ts";
import { scratchOf } from "./writer.ts";

/**
 * Writes, reads and removes an object, and sees that a second writer is refused where it counts: a
 * store that takes no conditions would lose rows without a word.
 * @throws OUTPUT_FAILED and as the store fails
 */
export async function check(lake: Lake): Promise<void> {
  const { store } = lake;
  const folder = join(scratchOf(lake), `check-${randomUUID()}`);
  const path = `_svc/check-${randomUUID()}`;
  const text = Buffer.from("svc was here");
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const tag = await store.replace(path, text, undefined);
    const again = await store.replace(path, text, undefined);
    const after = await store.replace(path, Buffer.from("svc is here"), tag);
    const late = await store.replace(path, text, tag);
    if (tag === undefined || again !== undefined || after === undefined || late !== undefined)
      throw new ConnectorError("OUTPUT_FAILED", { reason: "it takes no conditional writes" });
    await writeFile(join(folder, "put"), text);
    await store.put(join(folder, "put"), `${path}.parquet`);
    await store.fetch(`${path}.parquet`, join(folder, "fetched"));
    if (!(await readFile(join(folder, "fetched"))).equals(text))
      throw new ConnectorError("OUTPUT_FAILED", { reason: "it gave back another value" });
  } catch (error) {
    throw outputFailed(error);
  } finally {
    await store.remove([path, `${path}.parquet`]).catch(() => undefined);
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}
