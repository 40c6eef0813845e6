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
    const made = await api.write("POST", "/pipelines", {
      name,
      source_id: idOf("sources", source),
      destination_id: idOf("destinations", destination),
      ...rest,
    });
    if (paused) await api.write("POST", `/pipelines/${made.pipeline_id}/pause`, {});
    return made;
  },
  async change(change, hands) {
    const { there, before, entry, fields } = change;
    const { streams, paused, ...plain } = only(entry, fields);
    let now = await patch(pipelines, change, plain, hands);
    const at = `/pipelines/${there.pipeline_id}`;
    if (streams !== undefined)
      now = await hands.api.write("PATCH", `${at}/streams`, streamChanges(entry, before), {
        version: now.version,
      });
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
