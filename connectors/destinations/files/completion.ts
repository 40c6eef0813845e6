/** How rows get to the table that people see, or are abandoned. */
import type { JsonValue } from "svc-connectors";
import { destinationModeOf } from "svc-connectors/destination";
import { addFiles, type FileSet, toFiles } from "./load.ts";
import type { SavedFiles } from "./manifest.ts";
import { type Coverage, commitTable, describe, type OpenStream, type Writing } from "./writing.ts";

/** The copy that the stream goes on with. */
const baseOf = ({ saved, plan }: OpenStream): SavedFiles | undefined => saved[plan.place];

const withFiles = (stream: OpenStream, covered: Coverage, files: FileSet): SavedFiles => ({
  ...describe(stream, covered),
  ...files,
});

/** Makes the staged rows durable with what is known of them. */
export async function commit(
  writing: Writing,
  stream: OpenStream,
  covered: Coverage,
): Promise<void> {
  const { saved, plan } = stream;
  const base = baseOf(stream);
  const files = await toFiles(writing, stream, base);
  await save(writing, stream, { ...saved, [plan.place]: withFiles(stream, covered, files) });
  await report(writing, stream, covered.state);
}

async function save(
  writing: Writing,
  stream: OpenStream,
  after: OpenStream["saved"],
): Promise<void> {
  // Nothing came, and nothing is known that was not known before: not even the fence is looked at.
  if (stream.stage.rowCount > 0 || !isSame(stream.saved, after, writing))
    await commitTable(writing, stream.saved, after);
  stream.saved = after;
}

/** How many rows came is told only whether there were any. */
function isSame(before: OpenStream["saved"], after: OpenStream["saved"], { manifest }: Writing) {
  const known = (copy: SavedFiles | undefined) => copy && { ...copy, rowCount: copy.rowCount > 0 };
  const text = ({ current, next, columnNames }: OpenStream["saved"]) =>
    JSON.stringify([known(current) ?? null, known(next) ?? null, columnNames]);
  const isThere = manifest.now.tables.some(
    ({ schema, name }) => schema === after.schema && name === after.name,
  );
  return isThere && text(before) === text(after);
}

/** Empties the stage, whose rows are in files now, and tells the caller. */
async function report(
  { pace, command }: Writing,
  { saved, stage }: OpenStream,
  state: JsonValue | undefined,
): Promise<void> {
  const rowCount = stage.rowCount;
  await stage.clear();
  pace.committed();
  command.onCommitted?.({
    stream: saved.stream,
    rowCount,
    ...(state === undefined ? {} : { state }),
  });
}

/** Ends a stream that was read to its end. */
export async function complete(writing: Writing, stream: OpenStream): Promise<void> {
  const { ordered, plan } = stream;
  const base = baseOf(stream);
  const reached = stream.covered?.state ?? base?.state;
  const state = ordered.configured.sync_mode === "incremental" ? reached : undefined;
  const covered = { rowCount: stream.rowCount, state };
  if (plan.completion === "none") return await commit(writing, stream, covered);
  const { next: _, ...saved } = stream.saved;
  const files = ofJob(writing, stream, await toFiles(writing, stream, base));
  const { current } = saved;
  if (plan.completion === "swap" || !current) {
    await save(writing, stream, { ...saved, current: withFiles(stream, covered, files) });
  } else {
    const all = await addFiles(writing, stream, current, files);
    const rowCount = current.rowCount + stream.rowCount;
    const added = withFiles(stream, { ...covered, rowCount }, all);
    await save(writing, stream, { ...saved, current: added });
  }
  await report(writing, stream, state);
}

/**
 * Gives files that an earlier job has begun with to this one: a later attempt of it must find all
 * of its rows.
 */
function ofJob(
  { command: { jobId } }: Writing,
  { plan, ordered }: OpenStream,
  { files, ...rest }: FileSet,
): FileSet {
  const isAdded = plan.isResumed && destinationModeOf(ordered.configured) === "append";
  return { ...rest, files: isAdded ? files.map((file) => ({ ...file, job: jobId })) : files };
}

/** Keeps what the last checkpoint covers; a copy that nothing can resume is removed. */
export async function abandon(writing: Writing, stream: OpenStream): Promise<void> {
  await stream.stage.cutToCovered();
  if (stream.covered) await commit(writing, stream, stream.covered);
  else if (stream.plan.place === "next" && !stream.plan.isResumed) await dropNext(writing, stream);
}

/** Forgets the copy aside; its rows and its state go together. */
export async function dropNext(writing: Writing, stream: Pick<OpenStream, "saved">): Promise<void> {
  const { next, ...saved } = stream.saved;
  if (!next) return;
  await commitTable(writing, stream.saved, saved);
  stream.saved = saved;
}
