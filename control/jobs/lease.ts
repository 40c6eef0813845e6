import type { Services } from "../services/services.ts";

/** A worker that was not heard of for so long has died. */
export const leaseMs = 30_000;
/** A lease is made longer when so much of it is left. */
const renewBelowMs = 20_000;
/** How soon a worker notices that its job is to be cancelled. */
const lookEveryMs = 2_000;

/**
 * Why an attempt was stopped from outside: somebody cancelled the job, another worker has it or
 * will, or this process stops.
 */
export type Stop = "cancelled" | "lost" | "stopping";

export interface Lease extends Disposable {
  readonly id: string;
  /** Aborts once, for the first reason that comes up. */
  readonly signal: AbortSignal;
  /** Why it aborted. */
  readonly stop: Stop | undefined;
  end(stop: Stop): void;
  /** Looks once whether the attempt is to go on, and makes the lease longer when it is time. */
  look(): Promise<void>;
}

/** Keeps the lease of a running job for as long as the process lives and the database answers. */
export function holdLease(
  { database: { db }, clock }: Pick<Services, "database" | "clock">,
  claimed: {
    readonly job: { readonly id: string };
    readonly leaseId: string;
    readonly leaseUntil: Date;
  },
): Lease {
  const { leaseId } = claimed;
  const controller = new AbortController();
  let stop: Stop | undefined;
  let untilMs = claimed.leaseUntil.getTime();
  let isLooking = false;

  const end = (why: Stop) => {
    stop ??= why;
    controller.abort();
  };

  async function look(): Promise<void> {
    const nowMs = clock.now();
    if (nowMs >= untilMs) return end("lost");
    // A look that hangs must not keep the next one from seeing that the time is over.
    if (isLooking) return;
    isLooking = true;
    try {
      const renewedMs = nowMs + leaseMs;
      const isDue = untilMs - nowMs < renewBelowMs;
      const mine = { id: claimed.job.id, lease_id: leaseId };
      const row = isDue
        ? await db
            .updateTable("jobs")
            .set({ lease_until: new Date(renewedMs) })
            .where((eb) => eb.and(mine))
            .where("status", "=", "running")
            .returning("cancel_requested_at")
            .executeTakeFirst()
        : await db
            .selectFrom("jobs")
            .select("cancel_requested_at")
            .where((eb) => eb.and(mine))
            .where("status", "=", "running")
            .executeTakeFirst();
      if (!row) return end("lost");
      if (isDue) untilMs = renewedMs;
      if (row.cancel_requested_at) end("cancelled");
    } catch {
      // The database does not answer: it will before the lease ends, or the attempt is lost.
    } finally {
      isLooking = false;
    }
  }

  // The machine's time wakes it up; what is due is decided by the services' clock.
  const timer = setInterval(() => void look(), lookEveryMs).unref();
  return {
    id: leaseId,
    signal: controller.signal,
    get stop() {
      return stop;
    },
    end,
    look,
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
