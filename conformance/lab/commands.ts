/** The commands of a lab: as a recording was made, and reads of chosen streams. */
import { type CatalogStream, streamLabel } from "svc-connectors/host";
import type { Lab, StreamFacts } from "../contract/lab.ts";
import type { Command } from "../contract/observation.ts";
import type { RecordedSelection, Recording } from "../contract/recording.ts";

type ReadCommand = ReturnType<Lab["readCommand"]>;

/** @see Lab.readCommand */
export function readCommand(
  lab: Pick<Lab, "config" | "streams">,
  chosen: readonly StreamFacts[],
  options: Parameters<Lab["readCommand"]>[1] = {},
): ReadCommand {
  const { syncMode = "full_refresh", state = {}, config = lab.config, selectedFields } = options;
  const streams = chosen.length === 0 ? lab.streams : chosen;
  const states = streams.flatMap(({ label, stream }) =>
    Object.hasOwn(state, label)
      ? [{ stream: descriptorOf(stream), state: state[label] ?? null }]
      : [],
  );
  return {
    verb: "read",
    config,
    catalog: {
      streams: streams.map(({ stream, isIncremental, cursorField }) => ({
        stream,
        sync_mode: syncMode === "incremental" && isIncremental ? "incremental" : "full_refresh",
        destination_sync_mode: "append",
        ...(cursorField === undefined ? {} : { cursor_field: [cursorField] }),
        primary_key: stream.source_defined_primary_key ?? [],
        ...(selectedFields ? { selected_fields: selectedFields } : {}),
      })),
    },
    state: states.length > 0 ? states : undefined,
  };
}

/** @see Lab.commandOf */
export function commandOf({ run }: Recording, lab: Pick<Lab, "config" | "streams">): Command {
  const config = { ...lab.config, ...run.config };
  if (run.verb !== "read") return { verb: run.verb, config };
  const configured = (run.streams ?? []).map((selection) => {
    const facts = lab.streams.find(({ label }) => label === streamLabel(selection));
    const { sync_mode, cursor_field } = selection;
    const cursor = cursor_field ?? facts?.cursorField;
    // A stream that discover does not list is asked for all the same: what the connector says of it
    // is telling.
    return {
      stream: facts?.stream ?? toUnlisted(selection),
      sync_mode,
      destination_sync_mode: "append",
      ...(cursor === undefined ? {} : { cursor_field: [cursor] }),
    };
  });
  return {
    verb: "read",
    config,
    catalog: { streams: configured },
    state: run.state,
  };
}

const toUnlisted = ({ name, namespace, sync_mode }: RecordedSelection): CatalogStream => ({
  name,
  ...(namespace === undefined ? {} : { namespace }),
  json_schema: { type: "object" },
  supported_sync_modes: [sync_mode],
  source_defined_cursor: false,
  default_cursor_field: [],
  source_defined_primary_key: [],
  is_resumable: false,
});

const descriptorOf = ({ name, namespace }: CatalogStream) =>
  namespace === undefined ? { name } : { name, namespace };
