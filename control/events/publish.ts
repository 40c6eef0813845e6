/**
 * Makes events of facts, and a delivery for each receiver. One transaction for each fact: its
 * events, their deliveries and its end happen together or not at all.
 */
import { sql } from "kysely";
import { createId } from "../contract/ids.ts";
import type { Services } from "../services/services.ts";
import type { Db } from "../store/database.ts";
import { type DescribedEvent, describeFact } from "./describe.ts";
import { endpointsFor } from "./endpoints.ts";
import type { FactRow } from "./facts.ts";
import { membersFor } from "./recipients.ts";
import { dataText } from "./schemas.ts";

/**
 * Events are published one after another, on whatever host: who has seen one has seen all before
 * it, and a reader that asks for what comes after it misses none.
 */
const publishLock = 7_236_401_183;

/** Facts that one look publishes; the rest comes with the next one. */
const atOnce = 500;

/**
 * Publishes what waits. Any number of processes may do it at once. Gives how many facts it were.
 */
export async function publishFacts(
  services: Pick<Services, "database" | "clock" | "operations" | "settings" | "log">,
): Promise<number> {
  const { database, clock, log } = services;
  const failed: string[] = [];
  for (let count = 0; count < atOnce; count += 1) {
    let fact: FactRow | undefined;
    try {
      await database.db.transaction().execute(async (tx) => {
        fact = await takeFact(tx, failed);
        if (fact) await publish(tx, services, fact, new Date(clock.now()));
      });
    } catch (error) {
      if (!fact) throw error;
      // One that cannot be told does not keep the others back.
      failed.push(fact.id);
      log.error("an event could not be published", { fact_id: fact.id });
    }
    if (!fact) return count - failed.length;
  }
  return atOnce - failed.length;
}

/** The fact that waits for longest, for as long as the transaction lasts. */
async function takeFact(tx: Db, failed: readonly string[]): Promise<FactRow | undefined> {
  const waiting = tx
    .selectFrom("event_facts")
    .selectAll()
    .$if(failed.length > 0, (facts) => facts.where("id", "not in", failed))
    .orderBy("id")
    .limit(1);
  // Most looks find nothing, and need no lock to see it.
  if (!(await waiting.executeTakeFirst())) return undefined;
  await sql`SELECT pg_advisory_xact_lock(${sql.lit(publishLock)})`.execute(tx);
  return await waiting.executeTakeFirst();
}

async function publish(
  tx: Db,
  services: Pick<Services, "operations" | "settings">,
  fact: FactRow,
  now: Date,
): Promise<void> {
  for (const event of await describeFact(tx, services, fact)) {
    const id = createId("event");
    await addEvent(tx, fact, event, { id, now });
    await addDeliveries(tx, services, fact.workspace_id, event, { id, now });
  }
  await tx.deleteFrom("event_facts").where("id", "=", fact.id).execute();
}

export interface NewEvent {
  readonly id: string;
  readonly now: Date;
}

export const addEvent = (
  tx: Db,
  { workspace_id, occurred_at }: Pick<FactRow, "workspace_id" | "occurred_at">,
  { type, data, isForAdministrators = false }: DescribedEvent,
  { id, now }: NewEvent,
) =>
  tx
    .insertInto("events")
    .values({
      id,
      workspace_id,
      type,
      data: dataText(data),
      for_administrators: isForAdministrators,
      occurred_at,
      created_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();

async function addDeliveries(
  tx: Db,
  { settings }: Pick<Services, "settings">,
  workspaceId: string,
  event: DescribedEvent,
  { id: eventId, now }: NewEvent,
): Promise<void> {
  const endpoints = await endpointsFor(tx, workspaceId, event.type);
  const members = settings.mail ? await membersFor(tx, workspaceId, event) : [];
  const receivers = [
    ...endpoints.map((endpoint_id) => ({ endpoint_id, member_id: null })),
    ...members.map((member_id) => ({ endpoint_id: null, member_id })),
  ];
  if (receivers.length === 0) return;
  await tx
    .insertInto("event_deliveries")
    .values(
      receivers.map((receiver) => ({
        ...receiver,
        id: createId("delivery"),
        workspace_id: workspaceId,
        event_id: eventId,
        status: "pending" as const,
        attempts: "[]",
        next_attempt_at: now,
        created_at: now,
        ended_at: null,
      })),
    )
    .execute();
}
