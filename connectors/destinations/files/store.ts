import type { Clock } from "svc-connectors";
import type { ObjectStore } from "svc-connectors/destination";

export type PartitionBy = "none" | "day" | "month";

/** A store, and how rows are laid out in it. */
export interface Lake {
  readonly store: ObjectStore;
  /** A folder of this machine for rows on their way. It is made when it is missing. */
  readonly scratch: string;
  /** Schema of tables whose pipeline does not name one. */
  readonly schema: string;
  readonly partitionBy: PartitionBy;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}
