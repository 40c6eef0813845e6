/** A query's rows by COPY, batch by batch. */
import type { Submittable } from "pg";
import { type Batch, ConnectorError } from "svc-connectors";
import type { Session } from "./api.ts";
import { createRowDecoder, type DecoderOptions } from "./row-decoder.ts";

export interface CopyOptions extends Omit<DecoderOptions, "onFull" | "onFailure"> {
  /** How long the server may be silent. */
  readonly maxSilenceMs?: number | undefined;
}

export interface CopiedBatch {
  /** Its memory is used again for the next one. */
  readonly batch: Batch;
  /** A field of the last row as the server sent it; see `kept`. */
  last(index: number): Buffer | null;
}

const hourMs = 3_600_000;

/**
 * The rows of a query. While a batch is in work the server waits. Needs a snapshot; one at a time
 * per session. Who stops early loses the session.
 * @throws what `pg` throws, PROVIDER_TIMEOUT, RECORD_TOO_LARGE
 */
export async function* copyRows(
  { client, stream, tap }: Session,
  query: string,
  { maxSilenceMs = hourMs, ...options }: CopyOptions,
): AsyncGenerator<CopiedBatch> {
  let isOver = false;
  let failure: unknown;
  let wake = () => {};
  const onFailure = (error: unknown) => {
    failure ??= error;
    wake();
  };
  const decoder = createRowDecoder({ ...options, onFull: () => wake(), onFailure });
  const onEnd = (error?: unknown) => {
    failure ??= error;
    isOver = true;
    wake();
  };
  tap.open(decoder);
  client.query(createCopy(`COPY (${query}) TO STDOUT (FORMAT binary)`, onEnd));
  try {
    for (;;) {
      if (failure !== undefined) throw failure;
      if (decoder.isFull || (isOver && decoder.rowCount > 0)) {
        yield { batch: decoder.batch(), last: decoder.last };
        decoder.clear();
        tap.resume();
      } else if (isOver) return;
      else await waitFor((resolve) => (wake = resolve));
    }
  } finally {
    tap.close();
    if (!isOver) stream.destroy();
  }

  async function waitFor(begin: (resolve: () => void) => void): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    let seenBytes = tap.receivedBytes;
    const look = () => {
      if (tap.receivedBytes === seenBytes)
        onFailure(new ConnectorError("PROVIDER_TIMEOUT", { phase: "statement" }));
      seenBytes = tap.receivedBytes;
    };
    timer = setInterval(look, maxSilenceMs);
    await new Promise<void>(begin).finally(() => clearInterval(timer));
  }
}

/**
 * The methods that `pg` calls on a query; a public extension point that pg-copy-streams uses too.
 * Rows pass it by.
 */
function createCopy(text: string, onEnd: (error?: unknown) => void): Submittable {
  const query = {
    submit: (connection: { query(text: string): void }) => connection.query(text),
    handleRowDescription() {},
    handleDataRow() {},
    handleCommandComplete() {},
    handleEmptyQuery() {},
    handleReadyForQuery: () => onEnd(),
    handleError: (error: unknown) =>
      onEnd(error ?? new ConnectorError("CONNECTION_FAILED", { reason: "reset" })),
  };
  return query;
}
