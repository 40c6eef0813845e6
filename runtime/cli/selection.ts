import {
  type CatalogStream,
  type ConfiguredStream,
  type StreamState,
  streamKey,
  streamLabel,
} from "../contract/catalog.ts";
import { ConnectorError } from "../contract/errors.ts";
import { type ChosenCursors, cursorOf, proposalOf, requireStreams } from "./cursors.ts";
import type { ExpectedRows } from "./forecast.ts";
import { allOfThem, type ChosenParts, requireChosen, withParts } from "./parts.ts";
import { printable, suggestion, UsageError } from "./usage.ts";

/**
 * The mode that the person asked for; undefined = incremental where the source has a cursor of its
 * own, else full refresh.
 */
export type ChosenMode = "incremental" | "full_refresh" | undefined;

/**
 * The selection of `svc read`. `names` are stream names or `namespace.name`, separated by commas;
 * undefined = all. A stream with a chosen cursor is read incrementally unless everything is to be
 * read again.
 * @throws UsageError for an unknown or ambiguous name, a cursor that cannot be, and where
 * incremental is asked for and no stream, or not the named one, can be read so;
 * SYNC_MODE_UNSUPPORTED for a named stream that only has full refresh
 */
export function selectStreams(
  catalog: readonly CatalogStream[],
  names: string | undefined,
  mode: ChosenMode,
  cursors: ChosenCursors = new Map(),
  parts: ChosenParts = allOfThem,
): ConfiguredStream[] {
  const streams = names === undefined ? catalog : namedStreams(catalog, names);
  if (streams.length === 0) throw new UsageError("there are no streams to read");
  requireStreams(catalog, cursors.keys());
  requireChosen(catalog, parts);
  const selected = streams.map((stream) =>
    withParts(select(stream, mode, cursors, names !== undefined), parts),
  );
  if (mode === "incremental" && !selected.some(isIncremental)) {
    const proposed = streams.find(({ proposed_cursors: some }) => some && some.length > 0);
    throw new UsageError(
      proposed
        ? `no stream has a cursor of its own; choose columns, for instance ${proposalOf(proposed, "")}; discover proposes some`
        : "no stream can be read incrementally as it is; choose a column with --cursor STREAM=COLUMN, or leave out --incremental",
    );
  }
  return selected;
}

const isIncremental = ({ sync_mode }: ConfiguredStream) => sync_mode === "incremental";

function select(
  stream: CatalogStream,
  mode: ChosenMode,
  cursors: ChosenCursors,
  isNamed: boolean,
): ConfiguredStream {
  const chosen = cursorOf(stream, cursors);
  const cursor = chosen === undefined ? stream.default_cursor_field : [chosen];
  const hasMode = stream.supported_sync_modes.includes("incremental");
  const canResume = hasMode && cursor.length > 0;
  if (mode === "incremental" && isNamed && !canResume) {
    const label = streamLabel(stream);
    if (!hasMode)
      throw new ConnectorError("SYNC_MODE_UNSUPPORTED", { stream: label, syncMode: "incremental" });
    const how =
      proposalOf(stream, "choose a column: ") ||
      `choose a column that grows with each change: --cursor ${printable(label)}=COLUMN`;
    throw new UsageError(`${printable(label)} has no cursor of its own; ${how}`);
  }
  const isChosen = chosen !== undefined || mode === "incremental";
  return canResume && mode !== "full_refresh" && (isChosen || stream.source_defined_cursor)
    ? { stream, sync_mode: "incremental", cursor_field: cursor }
    : { stream, sync_mode: "full_refresh" };
}

/** Most streams that are named in one line. */
const maxNamed = 8;

const labelOf = ({ stream }: ConfiguredStream) => printable(streamLabel(stream), 60);

function listStreams(title: string, some: readonly ConfiguredStream[], text = labelOf): string[] {
  if (some.length === 0) return [];
  const more = some.length - maxNamed;
  const named = some.slice(0, maxNamed).map(text).join(", ");
  return [`${title}: ${named}${more > 0 ? ` and ${more} more` : ""}`];
}

/** How each stream will be read, in lines for people. */
export function describeSelection(streams: readonly ConfiguredStream[]): string[] {
  const whole = streams.filter((one) => !isIncremental(one));
  const proposed = whole.find(({ stream }) => stream.proposed_cursors?.[0]?.finds === "changes");
  return [
    ...listStreams("Incremental", streams.filter(isIncremental), (one) => {
      const by = one.stream.source_defined_cursor
        ? ""
        : ` by ${printable(String(one.cursor_field))}`;
      return `${labelOf(one)}${by}`;
    }),
    ...listStreams("Full refresh", whole),
    ...listStreams(
      "Hashed",
      streams.filter(({ hashed_fields }) => hashed_fields),
      (one) => `${labelOf(one)} (${printable(String(one.hashed_fields), 100)})`,
    ),
    ...listStreams(
      "Only some rows",
      streams.filter(({ row_filter }) => row_filter),
    ),
    ...(proposed
      ? [
          `Only what changed can be read with ${proposalOf(proposed.stream, "")}; discover proposes columns.`,
        ]
      : []),
  ];
}

/** The streams that go on from an earlier run, in lines for people; nothing for a first run. */
export function describeResumption(
  streams: readonly ConfiguredStream[],
  states: readonly StreamState[],
): string[] {
  const saved = new Set(states.map(({ stream }) => streamKey(stream)));
  const resumed = streams.filter((one) => saved.has(streamKey(one.stream)));
  return [
    ...listStreams(
      "A run before this one was cut off; going on behind its last checkpoint",
      resumed.filter((one) => !isIncremental(one)),
    ),
    ...listStreams("Going on from the saved cursor", resumed.filter(isIncremental)),
  ];
}

/** About how many rows come: of an estimate all, behind a cursor only what is new. */
export function expectRows(
  streams: readonly ConfiguredStream[],
  states: readonly StreamState[],
): ExpectedRows {
  const saved = new Set(states.map(({ stream }) => streamKey(stream)));
  return streams.map((one) => {
    const { stream } = one;
    if (one.row_filter) return { stream, rows: undefined };
    if (!saved.has(streamKey(stream))) return { stream, rows: stream.estimated_rows };
    return { stream, rows: isIncremental(one) ? 0 : undefined };
  });
}

/** Tells whether a stream is among those that the person named, if any were named. */
export function wantedBy(names: string | undefined): (label: string) => boolean {
  const wanted = names?.split(",").map((name) => name.trim()) ?? [];
  return (label) =>
    names === undefined ||
    label === names ||
    wanted.some((name) => label === name || (name !== "" && label.endsWith(`.${name}`)));
}

function namedStreams(catalog: readonly CatalogStream[], names: string): CatalogStream[] {
  // A stream may have a comma in its name: then it is named alone.
  const isOne = catalog.some((stream) => streamLabel(stream) === names);
  const wanted = isOne
    ? [names]
    : names
        .split(",")
        .map((name) => name.trim())
        .filter((name) => name !== "");
  return [...new Set(wanted)].map((name) => findStream(catalog, name));
}

function findStream(catalog: readonly CatalogStream[], name: string): CatalogStream {
  const exact = catalog.find((stream) => streamLabel(stream) === name);
  if (exact) return exact;
  const [found, ...others] = catalog.filter((stream) => stream.name === name);
  if (found && others.length === 0) return found;
  if (found) {
    const labels = [found, ...others].slice(0, 3).map((stream) => printable(streamLabel(stream)));
    throw new UsageError(
      `several streams are named "${printable(name)}": use ${labels.join(" or ")}`,
    );
  }
  const known = catalog.flatMap((stream) =>
    stream.namespace ? [streamLabel(stream), stream.name] : [stream.name],
  );
  throw new UsageError(
    `there is no stream "${printable(name)}"${suggestion(name, known) || "; discover lists them"}`,
  );
}
