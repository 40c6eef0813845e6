import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "svc-connectors/host";
import files from "../connectors/destinations/files/index.ts";
import { tableFolder } from "../connectors/destinations/files/paths.ts";
import type { FilesContext } from "../connectors/destinations/files/spec.ts";
import { configuredOf, takingLines } from "../fixtures/taking-lines.ts";
import type { DestinationPlace } from "./destination-behaviour.ts";

const nothing = () => undefined;

/** An empty folder for Parquet files. */
export async function openFilesPlace(
  clock: Clock,
  config: Partial<FilesContext["config"]> = {},
): Promise<DestinationPlace & { readonly path: string }> {
  const folder = await mkdtemp(join(tmpdir(), "svc-files-"));
  const path = join(folder, "lake.files");
  const ctx: FilesContext = {
    config: { folder: "lake", schema: "main", partition_by: "none", ...config },
    path,
    clock,
    log: { debug: nothing, info: nothing, warn: nothing },
    signal: new AbortController().signal,
  };
  const query: DestinationPlace["query"] = async (order) => {
    if (!files.query) throw new Error("files have queries");
    return files.query(ctx, order);
  };
  return {
    path,
    write: async (order) => takingLines(await files.write(ctx, order), configuredOf(order)),
    compareKeys: () => Promise.reject(new Error("files do not compare keys")),
    check: () => files.check(ctx),
    query,
    async sql(text) {
      const [, dropped] = /^DROP TABLE "(\w+)"$/.exec(text) ?? [];
      if (dropped !== undefined) {
        const table = { schema: "main", name: dropped };
        await rm(join(path, tableFolder(table)), { recursive: true });
        return [];
      }
      const { pages } = await query({ sql: text, maxRows: 1_000_000, timeoutMs: 60_000 });
      const rows: (string | null)[][] = [];
      for await (const page of pages)
        for (const row of page)
          rows.push(row.map((value) => (value === null ? null : String(value))));
      return rows;
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
}
