import { sql } from "kysely";
import type { Clock, RateLedger } from "svc-connectors/host";
import type { Database } from "../store/database.ts";

/** The ledger of a credential; undefined: one process sends all of its requests. */
export type ProviderRates = (credentialId: string) => RateLedger | undefined;

/** No request takes longer; that of a process that has died counts for so long. */
const heldMs = 10 * 60_000;
/** While requests are on their way, nobody knows when one of them is answered. */
const againMs = 1_000;

interface Answer {
  /** Null: there is no room. */
  readonly booking: string | null;
  readonly again_at: Date | null;
  /** The provider has refused. */
  readonly is_blocked: boolean;
}

/**
 * Counts the requests with a credential where all servers and workers see them. They know it by its
 * id: nothing of the credential itself is kept.
 * @see docs/decisions/0023
 */
export function createProviderRates(
  { kind, db }: Pick<Database, "kind" | "db">,
  clock: Clock,
): ProviderRates {
  if (kind === "embedded") return () => undefined;
  return (credentialId) => ({
    async book(requests, perMs) {
      const nowMs = clock.now();
      const { rows } = await sql<Answer>`
        SELECT * FROM book_provider_request(${credentialId}::text, ${new Date(nowMs)}::timestamptz,
          ${Math.floor(requests)}::int, ${new Date(nowMs + heldMs)}::timestamptz)`.execute(db);
      const [answer] = rows;
      if (!answer) throw new Error("no answer to a booking");
      const { booking, again_at: againAt, is_blocked: isBlocked } = answer;
      if (booking === null) {
        const waitMs = Math.max(1, (againAt?.getTime() ?? nowMs) - nowMs);
        const isOnItsWay = !isBlocked && waitMs > perMs;
        return { againAtMs: nowMs + (isOnItsWay ? againMs : waitMs) };
      }
      return {
        async settle(windowMs) {
          await db
            .updateTable("provider_requests")
            .set({ until: new Date(clock.now() + windowMs) })
            .where("credential_id", "=", credentialId)
            .where("id", "=", booking)
            .execute();
        },
      };
    },
    async block(untilMs) {
      const until = new Date(untilMs);
      await db
        .insertInto("provider_blocks")
        .values({ credential_id: credentialId, until })
        .onConflict((conflict) =>
          conflict
            .column("credential_id")
            .doUpdateSet({ until: sql<Date>`greatest(provider_blocks.until, excluded.until)` }),
        )
        .execute();
    },
  });
}
