/** A case of the comparison: two YAML documents, the settings of the reading and the manifest. */
import { parse } from "yaml";

export interface Case {
  readonly file: string;
  readonly manifest: string;
  readonly config: Record<string, unknown>;
  /** Further states to go on from, by stream. */
  readonly states: Record<string, unknown[]>;
  /** Streams that are meant to fail, on both sides. */
  readonly fails: readonly string[];
  /**
   * How the two differ, by a name in docs/manifests-differences.md: every case that is not compared
   * as a whole has one.
   */
  readonly differs?: string | undefined;
  /** Airbyte's interpreter cannot read it, by a fault of its own. */
  readonly theirFault?: boolean | undefined;
  /** Streams without an error handler: the host tries again as it does for every connector. */
  readonly ownWaits: readonly string[];
  /** Paths whose requests are not compared. */
  readonly ownRequests: readonly string[];
  /** Schemas beside the manifest, by their paths in its folder. */
  readonly files: Record<string, unknown>;
}

/** A stream of a case, as it is discovered. */
export interface CaseStream {
  readonly name: string;
  readonly isIncremental: boolean;
  readonly properties: Record<string, unknown>;
}

/** The time at which everything is read. */
export const now = "2026-01-15T12:00:00Z";

export function readCase(file: string, text: string): Case {
  const [head = "", manifest = ""] = text.split(/^---\n/m);
  const {
    config,
    states = {},
    fails = [],
    ownWaits = [],
    ownRequests = [],
    files = {},
    differs,
  } = parse(head);
  return { file, manifest, config, states, fails, ownWaits, ownRequests, files, differs };
}
