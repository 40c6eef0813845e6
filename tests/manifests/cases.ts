/** A case of the comparison: two YAML documents, the settings of the reading and the manifest. */
import { parse } from "yaml";
import { toSource } from "../../runtime/manifest/source.ts";

export interface Case {
  readonly file: string;
  readonly manifest: string;
  readonly config: Record<string, unknown>;
  /** Further states to go on from, by stream. */
  readonly states: Record<string, unknown[]>;
  /** Streams that are meant to fail, on both sides. */
  readonly fails: readonly string[];
  /** Streams without an error handler: the host tries again as it does for every connector. */
  readonly ownWaits: readonly string[];
  readonly streams: readonly {
    readonly name: string;
    readonly isIncremental: boolean;
    readonly fields: readonly string[];
  }[];
}

/** The time at which everything is read. */
export const now = "2026-01-15T12:00:00Z";

export function readCase(file: string, text: string): Case {
  const [head = "", manifest = ""] = text.split(/^---\n/m);
  const { config, states = {}, fails = [], ownWaits = [] } = parse(head);
  const streams = toSource(manifest, file).streams ?? [];
  return {
    ...{ file, manifest, config, states, fails, ownWaits },
    streams: streams.map(({ name, syncModes, schema }) => ({
      name,
      isIncremental: syncModes?.includes("incremental") === true,
      fields: Object.keys((schema as { properties: object }).properties),
    })),
  };
}
