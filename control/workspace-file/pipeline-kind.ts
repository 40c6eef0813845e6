import { type Api, ApiError } from "./api.ts";
import { type Kind, only, patch, said } from "./kind.ts";
import type { Entries } from "./schema.ts";
import { type StreamEntry, streamChanges } from "./streams.ts";

export const pipelines: Kind<"pipelines"> = {
  section: "pipelines",
  noun: "pipeline",
  path: "/pipelines",
  idField: "pipeline_id",
  names: { source: "sources", destination: "destinations" },
  fixed: ["source", "destination"],
  unseen: ["select_all"],
  entryOf: (there, nameOf) =>
    said({
      source: nameOf("sources", there.source_id),
      destination: nameOf("destinations", there.destination_id),
      streams: there.streams as StreamEntry[],
      schedule: there.schedule,
      prefix: there.prefix,
      namespace_definition: there.namespace_definition,
      namespace_format: there.namespace_format ?? undefined,
      schema_change_policy: there.schema_change_policy,
      parallel_streams: there.parallel_streams,
      paused: there.status === "paused",
    }) as Entries["pipelines"],
  async create(name, entry, { api, idOf }) {
    const { source, destination, paused, renamed_from: _, ...rest } = entry;
    const ends = {
      source_id: idOf("sources", source),
      destination_id: idOf("destinations", destination),
    };
    const made = await knowingStreams(api, ends, () =>
      api.write("POST", "/pipelines", { name, ...ends, ...rest }),
    );
    if (paused) await api.write("POST", `/pipelines/${made.pipeline_id}/pause`, {});
    return made;
  },
  async change(change, hands) {
    const { there, before, entry, fields } = change;
    const { streams, paused, ...plain } = only(entry, fields);
    let now = await patch(pipelines, change, plain, hands);
    const at = `/pipelines/${there.pipeline_id}`;
    if (streams !== undefined)
      now = await knowingStreams(hands.api, there, () =>
        hands.api.write("PATCH", `${at}/streams`, streamChanges(entry, before), {
          version: now.version,
        }),
      );
    if (paused !== undefined)
      await hands.api.write(
        "POST",
        `${at}/${paused ? "pause" : "resume"}`,
        {},
        {
          version: now.version,
        },
      );
  },
  deletePath: ({ connection_id }) => `/connections/${connection_id}`,
};

interface Ends {
  readonly source_id: string;
  readonly destination_id: string;
}

/**
 * Does it once more when a stream was not known: it may be younger than what is known of the
 * source, which is asked anew before.
 */
async function knowingStreams<T>(
  api: Api,
  { source_id, destination_id }: Ends,
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason !== "stream_unknown") throw error;
    const asked = { source_id, destination_id, refresh: true, limit: 1 };
    const isKnown = await api.write("POST", "/pipelines/prepare", asked).then(
      () => true,
      () => false,
    );
    if (!isKnown) throw error;
    return await write();
  }
}
