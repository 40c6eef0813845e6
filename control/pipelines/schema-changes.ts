/**
 * The policy of a job about a source that has changed since its streams were agreed. Pure: nothing
 * is asked or written.
 */
import {
  type CatalogStream,
  ConnectorError,
  type DestinationSyncMode,
  type StreamDescriptor,
  streamLabel,
} from "svc-connectors/host";
import { type ColumnChange, columnChanges, columnsOf, withColumns } from "./columns.ts";
import { isSame, modeProblem, suggest } from "./modes.ts";
import { partProblem } from "./parts-of-streams.ts";
import { type AgreedStream, descriptorOf, identityOf } from "./selection.ts";

/**
 * `ignore`: new columns and streams are left · `propagate_columns`: new columns are taken, unless
 * the user has chosen columns by name · `propagate_fully`: new streams as well, and those that have
 * gone are dropped; else they fail · `pause`: whatever changes pauses the pipeline. No policy loses
 * rows: a changed type, key or cursor is followed always, a column or stream that has gone stays at
 * the destination.
 */
export const schemaChangePolicies = [
  "ignore",
  "propagate_columns",
  "propagate_fully",
  "pause",
] as const;
export type SchemaChangePolicy = (typeof schemaChangePolicies)[number];

export type SchemaChange = { readonly stream: StreamDescriptor } & (
  | ColumnChange
  | { readonly type: "stream_added" | "stream_removed" | "key_changed" | "cursor_changed" }
);

/** The agreed streams beside those that the source has now. */
export interface SchemaChangeInput {
  readonly policy: SchemaChangePolicy;
  readonly agreed: readonly AgreedStream[];
  /** Identities of all streams that the source had when they were agreed, selected or not. */
  readonly known: ReadonlySet<string>;
  readonly discovered: readonly CatalogStream[];
  readonly destinationModes: readonly DestinationSyncMode[];
}

export interface SchemaChangeResult {
  /** The streams that this job syncs. */
  readonly streams: readonly AgreedStream[];
  /**
   * The streams that are agreed from now on, and `known` with it; the same objects as in the input:
   * nothing is to be saved.
   */
  readonly agreed: readonly AgreedStream[];
  readonly known: ReadonlySet<string>;
  readonly changes: readonly SchemaChange[];
  /**
   * The pipeline is to be paused, and nothing is synced. Who resumes it accepts what is agreed from
   * now on.
   */
  readonly isPaused: boolean;
  /**
   * Streams that cannot be synced as agreed: they fail, the others go on. STREAM_UNKNOWN,
   * SYNC_MODE_UNSUPPORTED.
   */
  readonly failures: readonly StreamFailure[];
}

export interface StreamFailure {
  readonly stream: StreamDescriptor;
  readonly error: ConnectorError;
}

export function applySchemaChanges(input: SchemaChangeInput): SchemaChangeResult {
  const { policy, agreed, known, discovered, destinationModes } = input;
  const present = new Map(discovered.map((stream) => [identityOf(stream), stream]));
  const pairs = agreed.map((one) => ({ one, found: present.get(identityOf(one.stream)) }));
  const followed = pairs.flatMap(({ one, found }) => (found ? [follow(one, found, policy)] : []));
  const gone = pairs.filter(({ found }) => !found).map(({ one }) => one);
  const added = discovered.filter((stream) => !known.has(identityOf(stream)));
  const changes: SchemaChange[] = [
    ...followed.flatMap((one) => one.changes),
    ...gone.map(({ stream }) => ({
      stream: descriptorOf(stream),
      type: "stream_removed" as const,
    })),
    ...added.map((stream) => ({ stream: descriptorOf(stream), type: "stream_added" as const })),
  ];
  const taken =
    policy === "propagate_fully" ? added.map((stream) => suggest(stream, destinationModes)) : [];
  // A source that shows nothing any more has rather taken our rights away than its tables.
  const drops = policy === "propagate_fully" && followed.length + taken.length > 0;
  const isSaved =
    policy === "ignore" ? followed.some(({ isMoved }) => isMoved) : changes.length > 0;
  const saved = {
    agreed: nextOf(agreed, followed, drops).concat(taken),
    known: new Set([...known, ...added.map(identityOf)]),
  };
  const next = isSaved ? saved : { agreed, known };
  if (policy === "pause" && changes.length > 0)
    return { ...next, streams: [], changes, isPaused: true, failures: [] };
  const problems = followed.map(({ run }) => ({
    run,
    problem: modeProblem(run, destinationModes) ?? partProblem(run),
  }));
  return {
    ...next,
    streams: [
      ...problems.filter(({ problem }) => problem === undefined).map(({ run }) => run),
      ...taken,
    ],
    changes,
    isPaused: false,
    failures: [
      ...problems.flatMap(({ run, problem }) =>
        problem === undefined ? [] : [unsupported(run, problem)],
      ),
      ...(drops ? [] : gone.map(unknown)),
    ],
  };
}

interface Followed {
  /** The streams that are synced now. */
  readonly run: AgreedStream;
  /** The streams that are agreed from now on. */
  readonly next: AgreedStream;
  readonly changes: readonly SchemaChange[];
  /** Its key or its cursor is another one. */
  readonly isMoved: boolean;
}

function follow(one: AgreedStream, found: CatalogStream, policy: SchemaChangePolicy): Followed {
  const { stream: before } = one;
  const stream = descriptorOf(before);
  const columns = columnsOf(found.json_schema);
  // Only what came from the source follows the source; what the user has chosen is the user's.
  const ownKey = found.source_defined_primary_key;
  const hasNewKey = ownKey.length > 0 && !isSame(ownKey, one.primaryKey);
  const hasNewCursor =
    found.source_defined_cursor &&
    one.cursorField.length > 0 &&
    !isSame(found.default_cursor_field, one.cursorField);
  const isMoved = hasNewKey || hasNewCursor;
  const moved: AgreedStream = {
    ...one,
    stream: found,
    primaryKey: hasNewKey ? ownKey : one.primaryKey,
    cursorField: hasNewCursor ? found.default_cursor_field : one.cursorField,
    isRestart: one.isRestart || isMoved,
  };
  const next = {
    ...moved,
    selectedFields: one.selectedFields?.filter((column) => columns.includes(column)) ?? null,
  };
  const changes: SchemaChange[] = [
    ...columnChanges(before.json_schema, found.json_schema).map((change) => ({
      stream,
      ...change,
    })),
    ...(hasNewKey ? [{ stream, type: "key_changed" as const }] : []),
    ...(hasNewCursor ? [{ stream, type: "cursor_changed" as const }] : []),
  ];
  if (policy !== "ignore") return { run: next, next, changes, isMoved };
  // The agreed selection stays as it is: a column that comes back is not new.
  const kept = { ...moved, stream: { ...found, json_schema: before.json_schema } };
  return { run: withoutNew(next, before), next: kept, changes, isMoved };
}

/** Connectors with a fixed catalog read by `selectedFields`, the others by the schema. */
function withoutNew(one: AgreedStream, before: CatalogStream): AgreedStream {
  const now = columnsOf(one.stream.json_schema);
  const needed = [...one.primaryKey, one.cursorField].flatMap((path) => path.slice(0, 1));
  const known = now.filter(
    (column) => columnsOf(before.json_schema).includes(column) || needed.includes(column),
  );
  if (known.length === now.length) return one;
  const json_schema = withColumns(one.stream.json_schema, known);
  return {
    ...one,
    stream: { ...one.stream, json_schema },
    selectedFields: one.selectedFields ?? known,
  };
}

function nextOf(
  agreed: readonly AgreedStream[],
  followed: readonly Followed[],
  drops: boolean,
): AgreedStream[] {
  const byIdentity = new Map(followed.map(({ next }) => [identityOf(next.stream), next]));
  return agreed.flatMap((one) => byIdentity.get(identityOf(one.stream)) ?? (drops ? [] : [one]));
}

const unknown = ({ stream }: AgreedStream): StreamFailure => ({
  stream: descriptorOf(stream),
  error: new ConnectorError("STREAM_UNKNOWN", { stream: streamLabel(stream) }),
});

const unsupported = ({ stream, syncMode }: AgreedStream, problem: string): StreamFailure => ({
  stream: descriptorOf(stream),
  error: new ConnectorError("SYNC_MODE_UNSUPPORTED", {
    stream: streamLabel(stream),
    syncMode,
    problem,
  }),
});
