import type { CatalogStream } from "../contract/catalog.ts";
import type { JsonObject, JsonValue } from "../contract/json.ts";
import type { RowCondition, SyncMode } from "../contract/stream.ts";

/** The request to load a connector, the first that the host sends. */
export interface LoadRequest {
  /** Address of a module, or of a declarative manifest. */
  readonly url: string;
  /** The text of a manifest that lies in no file. */
  readonly document?: string;
}

/** The host's request to the worker, after it has seen the manifest. */
export type VerbRequest = {
  readonly verb: "check" | "discover" | "read" | "entities";
  /** The configuration without secrets. */
  readonly config: JsonObject;
  /** For read. */
  readonly selection?: readonly StreamRequest[] | undefined;
  /** For read: there are other streams, which are not read this time. */
  readonly isPart?: boolean | undefined;
  /** For read: how long the first change of a log may be waited for. */
  readonly waitMs?: number | undefined;
  /** For discover: stop beyond this number of streams. */
  readonly maxStreams?: number | undefined;
  /** Each request names the connector's line that asked for it. */
  readonly namesPlaces?: boolean | undefined;
  /** @see Clock.standsStill */
  readonly clockStandsStill?: boolean | undefined;
  /** For entities: what the user has chosen so far. */
  readonly input?: JsonObject | undefined;
};

export interface StreamRequest {
  readonly stream: CatalogStream;
  readonly syncMode: SyncMode;
  readonly cursorField?: string | undefined;
  readonly selectedFields?: readonly string[] | undefined;
  /** Hashed by the host, once the rows have come. */
  readonly hashedFields?: readonly string[] | undefined;
  readonly rowFilter?: readonly RowCondition[] | undefined;
  readonly state?: JsonValue | undefined;
}
