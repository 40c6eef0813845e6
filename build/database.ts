/** Makes the files of an empty embedded database, which a first start only has to unpack. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { emptyClusterFile, initParams, packCluster } from "../control/store/empty-cluster.ts";

export async function makeEmptyCluster(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "svc-cluster-"));
  try {
    const pglite = await PGlite.create({ dataDir: folder, initDbStartParams: initParams });
    await pglite.close();
    await writeFile(emptyClusterFile, await packCluster(folder));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
