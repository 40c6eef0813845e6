/**
 * The subject of a recording. connector-subject.ts: a connector of svc, through its host;
 * image-subject.ts: an image of the Airbyte Protocol.
 */
import type { Egress, JsonObject } from "svc-connectors";
import type { SeenExchange, TokenStore } from "svc-connectors/host";
import type { Exchange, Provider } from "../contract/network.ts";
import type { RunAllowance } from "./allowance.ts";
import type { VerbRequest, VerbResult } from "./verbs.ts";

export interface RecordedSubject extends AsyncDisposable {
  /** @throws ConnectorError, RecordingError */
  published(): Promise<Published>;
  /**
   * Runs a verb against the live provider. A failure of a check or a read is a result.
   * @param allowance is told of every exchange, and stops the run
   * @param tokens where OAuth tokens are kept, for connectors that leave them to the host
   * @throws ConnectorError, RecordingError; both also when the allowance stopped it
   */
  run(request: VerbRequest, allowance: RunAllowance, tokens?: TokenStore): Promise<LiveRun>;
  /**
   * Runs a verb once more, against recorded answers; the clock begins where that of the live run
   * did.
   */
  replay(request: VerbRequest, provider: Provider, clockOriginMs: number): Promise<ReplayedRun>;
}

/** Version, spec and egress that the subject publishes. */
export interface Published {
  readonly version: string;
  readonly spec: JsonObject;
  /** Undefined when the subject does not declare to which hosts it speaks, nor how. */
  readonly egress: Egress | undefined;
}

export interface LiveRun {
  readonly result: VerbResult;
  readonly clockOriginMs: number;
  /** In the order of the requests. */
  readonly exchanges: readonly SeenExchange[];
}

export interface ReplayedRun {
  readonly result: VerbResult;
  readonly exchanges: readonly Exchange[];
}
