/** How the processes of an instance learn that a connector was added or removed. */
import { ConnectorError, type ConnectorReference, requireRunnable } from "svc-connectors/host";
import type { OperationContext } from "../contract/operation.ts";

type Parts = Pick<OperationContext["services"], "connectors" | "database" | "log">;

const channel = "svc_connectors";

/** Learns it here, and tells the others. Call it after the transaction. */
export async function notifyAdded({ connectors, database }: Omit<Parts, "log">): Promise<void> {
  await connectors.reload();
  await database.notifications.notify(channel);
}

/** Learns it from others, and tells the log what cannot run on this host. */
export function followAdded({ connectors, database, log }: Parts): AsyncDisposable {
  const follow = async () => {
    await connectors.reload();
    for (const { id, reference } of connectors.list()) {
      const problem = await problemOf(reference);
      if (problem !== undefined)
        log.warn("an added connector cannot run here", { connector: id, problem });
    }
  };
  let following = follow().catch(() => undefined);
  const listening = database.notifications.listen(channel, () => {
    // The database may be away; the next attempt of a job looks again.
    following = following.then(follow).catch(() => undefined);
  });
  return {
    async [Symbol.asyncDispose]() {
      await listening[Symbol.asyncDispose]();
      await following;
    },
  };
}

/** Why a connector cannot be loaded here and now, in a sentence; undefined: it can. */
export async function problemOf(reference: ConnectorReference): Promise<string | undefined> {
  try {
    await requireRunnable(reference);
    return undefined;
  } catch (error) {
    if (error instanceof ConnectorError) return error.message;
    throw error;
  }
}
