import { randomUUID } from "node:crypto";
import { createSecretRegistry } from "svc-connectors/host";
import type { Services } from "../services/services.ts";
import type { Db } from "../store/database.ts";
import { sweepApprovals } from "./resolve.ts";

const sweepEveryMs = 60_000;

/**
 * Looks after approvals now and every minute: closes what has expired, brings on what a dead
 * process has left.
 */
export function startSweep(services: Services): AsyncDisposable {
  const occasion = () => ({ services, requestId: randomUUID(), secrets: createSecretRegistry() });
  const sweep = async () => {
    try {
      await sweepApprovals(services, occasion);
    } catch {
      services.log.error("approvals could not be looked after");
    }
  };
  let running = sweep();
  // The machine's time wakes it up; what is due is decided by the services' clock.
  const timer = setInterval(() => {
    running = running.then(sweep);
  }, sweepEveryMs).unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await running;
    },
  };
}

/**
 * On an embedded database nobody else carries anything out: what seems to be under way has died
 * with its process.
 */
export async function endLeases(db: Db, now: Date): Promise<void> {
  await db
    .updateTable("approvals")
    .set({ lease_until: now })
    .where("status", "=", "executing")
    .execute();
}
