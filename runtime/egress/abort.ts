import { ConnectorError } from "../contract/errors.ts";

/**
 * Runs `work` with one signal that aborts with either; cheaper than AbortSignal.any, and nothing
 * stays behind on them.
 */
export async function withEither<T>(
  first: AbortSignal,
  second: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (first.aborted || second.aborted) throw new ConnectorError("CANCELLED");
  const controller = new AbortController();
  const abort = () => controller.abort();
  first.addEventListener("abort", abort, { once: true });
  second.addEventListener("abort", abort, { once: true });
  try {
    return await work(controller.signal);
  } finally {
    first.removeEventListener("abort", abort);
    second.removeEventListener("abort", abort);
  }
}

/**
 * Stops waiting for `promise` when the signal aborts; whatever makes it goes on.
 * @throws CANCELLED
 */
export async function orCancelled<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const cancelled = Promise.withResolvers<never>();
  const cancel = () => cancelled.reject(new ConnectorError("CANCELLED"));
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  try {
    return await Promise.race([promise, cancelled.promise]);
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}
