import { type CatalogStream, streamLabel } from "svc-connectors/host";
import { loadRecordings } from "../fixtures/load.ts";

/**
 * Files of a folder that hold recordings of streams which a connector does not have: those of the
 * template, or of a stream that was renamed. None where the folder cannot be read.
 */
export async function orphanedRecordings(
  folder: string,
  catalog: readonly CatalogStream[],
): Promise<readonly string[]> {
  const known = new Set(catalog.map(streamLabel));
  const { recordings } = await loadRecordings(folder).catch(() => ({ recordings: [] }));
  return recordings
    .filter(({ run }) => run.streams?.every((stream) => !known.has(streamLabel(stream))))
    .filter(({ run }) => (run.streams ?? []).length > 0)
    .map(({ name }) => `${name}.yaml`);
}
