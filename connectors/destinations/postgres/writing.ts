import type { createCommitPace, NulledCounts, WriteCommand } from "svc-connectors/destination";
import type { OpenStream } from "./open-stream.ts";
import type { Session } from "./session.ts";
import type { PostgresContext } from "./spec.ts";
import type { Transaction } from "./transaction.ts";

/** An open writer, as its parts share it. */
export interface Writing {
  readonly ctx: PostgresContext;
  readonly command: WriteCommand;
  readonly session: Session;
  readonly pace: ReturnType<typeof createCommitPace>;
  /** Values of rows that came. */
  readonly nulled: NulledCounts;
  /** The open transaction and the stream whose rows it holds. */
  transaction: { readonly of: OpenStream; readonly it: Transaction } | undefined;
}
