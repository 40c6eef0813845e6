/** Counts runs of the connector for who caused them, though several rules are tried at a time. */
import { AsyncLocalStorage } from "node:async_hooks";

const counted = new AsyncLocalStorage<{ count: number }>();

/** Notes one run for the work that it is done for. */
export function countRun(): void {
  const own = counted.getStore();
  if (own) own.count++;
}

/** Does the work, and counts the runs that it causes. */
export const countRunsOf = <T>(own: { count: number }, work: () => Promise<T>): Promise<T> =>
  counted.run(own, work);
