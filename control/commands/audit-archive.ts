import { UsageError } from "svc-connectors/host";
import { type ArchivedChain, type ArchiveFault, verifyArchive } from "../audit/verify-archive.ts";
import type { Operator } from "../operator/operator.ts";

export interface ArchiveVerdict {
  readonly intact: readonly ArchivedChain[];
  readonly faults: readonly (Omit<ArchiveFault, "kind" | "file"> & {
    /** `gap`: entries are neither in the archive nor in the database. */
    readonly kind: ArchiveFault["kind"] | "gap";
    readonly file: string | null;
  })[];
}

/**
 * Proves the files of an archive, and that the log in the database goes on where they end. Of a
 * workspace that was deleted only the files are left.
 * @param logs the logs in the database that are asked for
 * @throws UsageError when the folder cannot be read
 */
export async function compareArchive(
  operator: Operator,
  folder: string,
  logs: readonly { readonly workspaceId: string }[],
  isWhole: boolean,
): Promise<ArchiveVerdict> {
  const found = await verifyArchive(folder).catch((error: unknown) => {
    if (typeof (error as NodeJS.ErrnoException).code !== "string") throw error;
    throw new UsageError("the folder of --archive cannot be read");
  });
  const known = new Set(logs.map(({ workspaceId }) => workspaceId));
  const wanted = <T extends { readonly workspaceId: string }>(all: readonly T[]) =>
    all.filter(({ workspaceId }) => isWhole || known.has(workspaceId));
  const intact: ArchivedChain[] = [];
  const faults: ArchiveVerdict["faults"][number][] = wanted(found.faults);
  for (const chain of wanted(found.intact)) {
    const { workspaceId, end } = chain;
    if (known.has(workspaceId)) {
      const query = { workspace: workspaceId, noted: end };
      const [fault] = (await operator.run("audit_log.verify", { query })).faults;
      // A fault behind the place is told of the log itself.
      if (fault?.kind === "pruned")
        faults.push({ workspaceId, file: null, kind: "gap", index: end.index + 1 });
      else if (fault && fault.index <= end.index)
        faults.push({ workspaceId, file: null, kind: "changed", index: fault.index });
    }
    if (!faults.some((fault) => fault.workspaceId === workspaceId)) intact.push(chain);
  }
  return { intact, faults };
}
