/**
 * Which files count. One object for each connection says it for all of its tables, with how far
 * each stream is and who may write: a change of it is one conditional write, so rows and state of
 * any number of tables appear together or not at all.
 */
import { ConnectorError } from "svc-connectors";
import type {
  ColumnNames,
  Generation,
  ObjectStore,
  StreamDescriptor,
} from "svc-connectors/destination";
import { pathOf } from "./paths.ts";

/** A column of a table, with DuckDB's name of its type. */
export interface FileColumn {
  readonly name: string;
  readonly type: string;
}

export interface DataFile {
  /** Path from the root of the store. */
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
  /** The job whose rows are in it, where all are of one. */
  readonly job: string;
  /** The least and the greatest value of the first key column, as text; null: not known. */
  readonly min?: string | null;
  readonly max?: string | null;
}

/** One copy of a stream's rows. */
export interface SavedFiles extends Generation {
  readonly columns: readonly FileColumn[];
  readonly files: readonly DataFile[];
  /** Keys that were deleted, with their cursors: a Parquet file of its own. */
  readonly tombstones?: string | undefined;
  readonly deduplicatedBy?: string | undefined;
}

export interface SavedTable {
  readonly stream: StreamDescriptor;
  readonly requested: { readonly schema: string; readonly name: string };
  readonly schema: string;
  readonly name: string;
  /** Names of columns by property: they never change sides. */
  readonly columnNames: ColumnNames;
  /** The files that people read. */
  readonly current?: SavedFiles | undefined;
  /** The files of a copy that is built beside it. */
  readonly next?: SavedFiles | undefined;
}

export interface Manifest {
  readonly format: typeof format;
  readonly owner: string;
  readonly fence: number;
  /** A writer has it open, or has died with it open. */
  readonly isOpen: boolean;
  readonly committedAt: string;
  readonly tables: readonly SavedTable[];
  /** Files that counted before: who reads by an earlier manifest still finds them for a while. */
  readonly replaced: readonly { readonly path: string; readonly at: string }[];
}

const format = "svc-files/1";

export const manifestPath = (owner: string) => `_svc/${pathOf(owner)}/manifest.json`;
/** Whether it is a manifest, of any connection. */
export const isManifest = (path: string) => /^_svc\/[^/]+\/manifest\.json$/.test(path);

/** @throws OUTPUT_FAILED when it is none of ours */
export function parseManifest(bytes: Buffer): Manifest {
  try {
    const manifest = JSON.parse(bytes.toString()) as Manifest;
    if (manifest.format === format && Array.isArray(manifest.tables)) return manifest;
  } catch {
    // The parser's message would quote it.
  }
  throw new ConnectorError("OUTPUT_FAILED", { reason: "its manifest is damaged" });
}

/** The manifest of one connection while a writer has it. */
export interface OpenManifest {
  readonly now: Manifest;
  /** @throws OUTPUT_FENCED when a writer with a higher fence has it now */
  commit(change: (before: Manifest) => Partial<Manifest>): Promise<void>;
  /** @throws OUTPUT_FENCED */
  checkFence(): Promise<void>;
}

/** Notes the fence. @throws OUTPUT_FENCED */
export async function openManifest(
  store: ObjectStore,
  {
    owner,
    fence,
    at,
  }: { readonly owner: string; readonly fence: number; readonly at: () => string },
): Promise<OpenManifest & { readonly wasOpen: boolean }> {
  const path = manifestPath(owner);
  const empty = { format, owner, fence, isOpen: false, tables: [], replaced: [] } as const;
  let tag: string | undefined;
  let now: Manifest = { ...empty, committedAt: at() };
  const look = async () => {
    const found = await store.read(path);
    tag = found?.tag;
    if (found) now = parseManifest(found.bytes);
    if (now.fence > fence) throw new ConnectorError("OUTPUT_FENCED");
  };
  const write = async (change: Partial<Manifest>): Promise<boolean> => {
    const next: Manifest = { ...now, ...change, fence, committedAt: at() };
    const written = await store.replace(path, Buffer.from(JSON.stringify(next, undefined, 1)), tag);
    if (written === undefined) return false;
    tag = written;
    now = next;
    return true;
  };
  let wasOpen = false;
  // Others of this connection are fenced off one after the other.
  do {
    await look();
    wasOpen = now.isOpen;
  } while (!(await write({ isOpen: true })));
  return {
    wasOpen,
    get now() {
      return now;
    },
    async commit(change) {
      // Nobody else writes it with this fence: the change is another one's, or the answer to ours
      // was lost. Whoever opens it next goes on from what is there.
      if (!(await write(change(now)))) throw new ConnectorError("OUTPUT_FENCED");
    },
    async checkFence() {
      const found = await store.read(path);
      if (found && parseManifest(found.bytes).fence > fence)
        throw new ConnectorError("OUTPUT_FENCED");
    },
  };
}
