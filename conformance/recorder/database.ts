/**
 * Records the baseline of a connector that speaks to a database. Its data is in the seed.
 */
import type { CatalogStream } from "svc-connectors/host";
import { formatYaml } from "../fixtures/format.ts";
import { openSourceKit } from "../lab/source-kit.ts";
import { toBaseline } from "./baseline.ts";
import { RecordingError } from "./recording-error.ts";
import { writeAll } from "./write.ts";

export interface DatabaseRecordOptions {
  /** A built-in's name, or the path of a module or folder. */
  readonly connector: string;
  readonly cwd: string;
  /** The folder with the seed, where the baseline goes. Default: as conformance.yaml says. */
  readonly folder?: string | undefined;
}

/**
 * Fills a database from the seed, discovers it, and writes `baseline.yaml`.
 * @throws RecordingError when there is no database to be had, or discover fails; UnusableError when
 * the seed is wrong
 */
export async function recordDatabase({
  connector,
  cwd,
  folder,
}: DatabaseRecordOptions): Promise<{ readonly folder: string }> {
  await using kit = await openSourceKit({
    connector,
    cwd,
    kind: "worker",
    profiles: [],
    rules: [],
    seed: 1,
    isExhaustive: false,
    command: `svc record ${connector}`,
    fixtures: folder,
  });
  const { manifest, missingProvider, first, settings } = kit.lab;
  if (missingProvider !== undefined) throw new RecordingError(missingProvider);
  const { outcome, messages } = first.discover;
  if (outcome.status !== "succeeded" || !manifest)
    throw new RecordingError(
      `discover ${outcome.status}: ${outcome.failures[0]?.message ?? "it says nothing"}`,
    );
  const catalog = messages.flatMap(({ message }): readonly CatalogStream[] =>
    message.type === "CATALOG" ? message.catalog.streams : [],
  );
  const target = folder ?? settings.fixtures;
  await writeAll(target, [
    { name: "baseline.yaml", text: formatYaml(toBaseline(manifest, catalog)) },
  ]);
  return { folder: target };
}
