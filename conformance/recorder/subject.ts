/**
 * What is recorded. connector-subject.ts: a connector of svc, through its host; image-subject.ts:
 * an image of the Airbyte Protocol.
 */
import type { Egress, JsonObject } from "svc-connectors";
import type { SeenExchange, TokenStore } from "svc-connectors/host";
import type { Exchange, Provider } from "../contract/network.ts";
import type { VerbOrder, VerbResult } from "./verbs.ts";

export interface RecordedSubject extends AsyncDisposable {
  /** @throws ConnectorError, RecordingError */
  published(): Promise<Published>;
  /**
   * Runs a verb against the live provider. A failure of a check or a read is a result.
   * @param tokens where OAuth tokens are kept, for connectors that leave them to the host
   * @throws ConnectorError, RecordingError
   */
  run(order: VerbOrder, tokens?: TokenStore): Promise<LiveRun>;
  /**
   * Runs it once more, against what stands in for the provider; the clock begins where that of the
   * live run did.
   */
  replay(order: VerbOrder, provider: Provider, clockOriginMs: number): Promise<ReplayedRun>;
}

/** What it says of itself. */
export interface Published {
  readonly version: string;
  readonly spec: JsonObject;
  /** Undefined: it does not say which hosts it speaks to, nor how. */
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
