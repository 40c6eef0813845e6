/**
 * A recording: what one run of a connector and its provider said to each other, as a person reviews
 * it in YAML. `svc record` writes them; the kit replays them and derives everything else from them.
 */
import type { JsonObject, JsonValue } from "svc-connectors";
import type { StreamState } from "svc-connectors/host";

export interface Recording {
  /** File name without ".yaml". */
  readonly name: string;
  readonly metadata: RecordingMetadata;
  /** The recorded run. */
  readonly run: RecordedRun;
  /** In the order of the requests. */
  readonly interactions: readonly Interaction[];
  /** The outcome of the run: the oracle of READ-04. */
  readonly outcome: RecordedOutcome;
}

export interface RecordingMetadata {
  /** Version of this format. */
  readonly kit: 1;
  /** Version of the rules by which requests are matched. */
  readonly matcher: 1;
  readonly provider: string;
  readonly provider_api_version: string;
  /** RFC 3339, UTC. */
  readonly recorded_at: string;
  /** The connector's clock when the run began: replays begin there. RFC 3339, UTC. */
  readonly clock_origin: string;
  /** Seed of the pseudonyms. */
  readonly seed: number;
  /** Ids of the redaction rules that were applied. */
  readonly redactions: readonly string[];
}

export interface RecordedRun {
  readonly verb: "check" | "discover" | "read";
  /** Settings besides those of conformance.yaml. */
  readonly config?: JsonObject;
  /** For read: the selection. Schemas come from discover. */
  readonly streams?: readonly RecordedSelection[];
  /** For read. */
  readonly state?: readonly StreamState[];
}

export interface RecordedSelection {
  readonly name: string;
  readonly namespace?: string;
  readonly sync_mode: "full_refresh" | "incremental";
  readonly cursor_field?: string;
}

export interface Interaction {
  readonly request: RecordedRequest;
  readonly response: RecordedResponse;
}

export interface RecordedRequest {
  readonly method: string;
  /** Origin, path and query. Secrets stand as `{{secret:<config path>}}` or `{{issued:<name>}}`. */
  readonly url: string;
  /** Only the headers that are matched: none unless the connector sets its own. Lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The exact text. */
  readonly body?: string;
}

export interface RecordedResponse {
  readonly status: number;
  /** Lower case; those of the allow-list. Lengths and encodings are made anew at replay. */
  readonly headers: Readonly<Record<string, string>>;
  /** The exact text of the decoded body; placeholders as in requests. */
  readonly body?: string;
  /** In place of `body` where it is no UTF-8 text. */
  readonly body_base64?: string;
}

export interface RecordedOutcome {
  readonly status: "succeeded" | "failed";
  /** Code of the failure, for svc connectors; `failure_type` for other programs. */
  readonly error?: string;
  /** For read: per stream (label), what came out. */
  readonly streams?: Readonly<Record<string, StreamOracle>>;
}

/**
 * Number and hashes of a stream's records. Hashes are `sha256:` and hex over the canonical JSON of
 * the sorted set.
 */
export interface StreamOracle {
  readonly record_count: number;
  /** Over the primary keys; missing where the stream has none. */
  readonly keys?: string;
  /** Over the whole records. */
  readonly content: string;
}

/**
 * The provider's own error answers, for rules that make requests fail. File `answers.yaml` in the
 * fixtures folder.
 */
export interface ErrorAnswers {
  readonly metadata: RecordingMetadata;
  /** By status: "401", "403", "404", "429", "500". */
  readonly answers: Readonly<Record<string, ErrorAnswer>>;
}

export interface ErrorAnswer extends RecordedResponse {
  /** Made up after the form of the provider's other answers: nobody can ask for a 429 or a 500. */
  readonly synthetic?: boolean;
}

/**
 * One state per baseline: what was published, so that breaking changes are seen. File
 * `baseline.yaml` in the fixtures folder.
 */
export interface Baseline {
  readonly version: string;
  readonly spec: JsonObject;
  readonly streams: readonly {
    readonly name: string;
    readonly namespace?: string;
    readonly primary_key: readonly (readonly string[])[];
    readonly cursor_field: readonly string[];
    /** Type by property, as JSON Schema has it. */
    readonly fields: Readonly<Record<string, JsonValue>>;
  }[];
}
