/**
 * Brings events to their receivers: one attempt at a time of each delivery, by whichever process is
 * free. A process that dies in one leaves it to the next; a receiver may then see an event twice,
 * under one id.
 */
import { type Selectable, sql } from "kysely";
import type { ErrorCode } from "svc-connectors/host";
import type { Services } from "../services/services.ts";
import type { Db } from "../store/database.ts";
import type { DeliveryAttempt, Tables } from "../store/tables.ts";
import { nextDelayMs } from "./backoff.ts";
import { disableEndpoint, hasTakenSince } from "./disable.ts";
import { bodyFor } from "./endpoints.ts";
import { mailOf } from "./event-mail.ts";
import type { EventRow } from "./schemas.ts";
import type { WebhookResult, WebhookSender } from "./send-webhook.ts";
import { signingKeys } from "./signing-secrets.ts";

export type DeliveryRow = Selectable<Tables["event_deliveries"]>;

/** Deliveries under way in one process, and to one receiver. */
const maxAtOnce = 16;
const maxPerReceiver = 2;
/** An attempt that was not heard of for so long was lost with its process. */
const lostAfterMs = 120_000;
/** Attempts that the log of a delivery keeps. */
const keptAttempts = 20;
/** A receiver that is gone for good says so. */
const goneStatus = 410;

type Needs = Pick<
  Services,
  "database" | "clock" | "vault" | "mailer" | "settings" | "log" | "telemetry"
>;

export interface Deliverer {
  /** Begins what is due, as far as there is room. What is under way goes on by itself. */
  fill(): Promise<void>;
  /** Resolves when nothing is under way any more. */
  settle(): Promise<void>;
}

/** @param signal aborts: nothing begins any more, and what is under way is left to others */
export function createDeliverer(
  services: Needs,
  sender: WebhookSender,
  signal: AbortSignal,
): Deliverer {
  const underWay = new Map<string, number>();
  const running = new Set<Promise<void>>();
  let filling: Promise<void> | undefined;
  let isAskedAgain = false;

  async function claimAndBegin(): Promise<void> {
    while (!signal.aborted && running.size < maxAtOnce) {
      isAskedAgain = false;
      const claimed = await claim(services, busy());
      if (claimed) begin(claimed);
      // Who ended while the database was asked was still counted as busy.
      else if (!isAskedAgain) return;
    }
  }

  const fill = () => {
    isAskedAgain = true;
    filling ??= claimAndBegin()
      .catch(() => services.log.error("events could not be delivered"))
      .finally(() => {
        filling = undefined;
      });
    return filling;
  };

  const busy = () =>
    [...underWay].filter(([, count]) => count >= maxPerReceiver).map(([receiver]) => receiver);

  function begin(delivery: DeliveryRow): void {
    const receiver = receiverOf(delivery);
    underWay.set(receiver, (underWay.get(receiver) ?? 0) + 1);
    const run = attempt(services, sender, delivery, signal)
      // It is found again when its time is over.
      .catch(() =>
        services.log.error("a delivery could not be brought on", { delivery_id: delivery.id }),
      )
      .then(async () => {
        const left = (underWay.get(receiver) ?? 1) - 1;
        if (left > 0) underWay.set(receiver, left);
        else underWay.delete(receiver);
        running.delete(run);
        await fill();
      });
    running.add(run);
  }

  async function settle(): Promise<void> {
    for (;;) {
      await filling;
      if (running.size === 0) return;
      await Promise.all(running);
    }
  }

  return { fill, settle };
}

/** All mails go to one server. */
const receiverOf = ({ endpoint_id }: DeliveryRow): string => endpoint_id ?? "mail";

/** Takes the delivery that is due for longest, for the time of one attempt. */
async function claim(
  { database: { db }, clock }: Needs,
  busy: readonly string[],
): Promise<DeliveryRow | undefined> {
  const now = new Date(clock.now());
  const next = db
    .selectFrom("event_deliveries")
    .select("id")
    .where("status", "=", "pending")
    .where("next_attempt_at", "<=", now)
    .$if(busy.length > 0, (due) =>
      due.where(sql<string>`coalesce(endpoint_id, 'mail')`, "not in", busy),
    )
    .orderBy("next_attempt_at")
    .limit(1)
    .forUpdate()
    .skipLocked();
  return await db
    .updateTable("event_deliveries")
    .set((eb) => ({
      attempt: eb("attempt", "+", 1),
      next_attempt_at: new Date(now.getTime() + lostAfterMs),
    }))
    .where("id", "=", next)
    .returningAll()
    .executeTakeFirst();
}

async function attempt(
  services: Needs,
  sender: WebhookSender,
  delivery: DeliveryRow,
  signal: AbortSignal,
): Promise<void> {
  const { database, clock } = services;
  const event = await database.db
    .selectFrom("events")
    .selectAll()
    .where("id", "=", delivery.event_id)
    .executeTakeFirst();
  if (!event) return;
  const startedMs = clock.now();
  const result =
    delivery.endpoint_id === null
      ? await mail(services, delivery, event)
      : await post(services, sender, delivery, event, signal);
  if (result === "cancelled")
    return await end(database.db, delivery, { status: "cancelled" }, clock.now());
  // The process stops: it does not count.
  if (signal.aborted && !result.isTaken)
    return await giveBack(database.db, delivery, new Date(clock.now()));
  services.telemetry.count("svc_event_deliveries_total", {
    channel: delivery.endpoint_id === null ? "mail" : "webhook",
    result: result.isTaken ? "succeeded" : "failed",
  });
  const entry = toAttempt(result, startedMs, clock.now());
  await conclude(services, delivery, result, entry);
}

/** @returns cancelled: the endpoint is gone, or takes nothing any more */
async function post(
  services: Needs,
  sender: WebhookSender,
  { workspace_id, endpoint_id }: DeliveryRow,
  event: EventRow,
  signal: AbortSignal,
): Promise<WebhookResult | "cancelled"> {
  const { database, clock } = services;
  const endpoint = await database.db
    .selectFrom("webhook_endpoints")
    .selectAll()
    .where("workspace_id", "=", workspace_id)
    .where("id", "=", endpoint_id)
    .executeTakeFirst();
  if (endpoint?.status !== "enabled") return "cancelled";
  const keys = await signingKeys(database.db, services, endpoint, new Date(clock.now()));
  const body = await bodyFor(services, endpoint, event);
  return await sender.send({ url: endpoint.url, id: event.id, body, keys }, signal);
}

/** @returns cancelled: who was to be mailed is no member any more */
async function mail(
  { database: { db }, mailer, settings }: Needs,
  { workspace_id, member_id }: DeliveryRow,
  event: EventRow,
): Promise<WebhookResult | "cancelled"> {
  const member = await db
    .selectFrom("memberships")
    .innerJoin("users", "users.id", "memberships.user_id")
    .innerJoin("workspaces", "workspaces.id", "memberships.workspace_id")
    .select(["users.email", "memberships.role", "workspaces.name as workspace"])
    .where("memberships.workspace_id", "=", workspace_id)
    .where("memberships.id", "=", member_id)
    .where("memberships.status", "=", "active")
    .executeTakeFirst();
  if (!member || (event.for_administrators && member.role !== "admin")) return "cancelled";
  const isTaken = await mailer.send(mailOf(event, member, settings.publicUrl));
  const errorCode: ErrorCode | null = isTaken ? null : "CONNECTION_FAILED";
  return { isTaken, responseStatus: null, errorCode };
}

export const toAttempt = (
  { responseStatus, errorCode }: WebhookResult,
  startedMs: number,
  endedMs: number,
): DeliveryAttempt => ({
  at: new Date(startedMs).toISOString(),
  duration_ms: Math.max(0, Math.round(endedMs - startedMs)),
  response_status: responseStatus,
  error_code: errorCode,
});

async function conclude(
  services: Needs,
  delivery: DeliveryRow,
  { isTaken, responseStatus }: WebhookResult,
  entry: DeliveryAttempt,
): Promise<void> {
  const { database, clock } = services;
  const nowMs = clock.now();
  const attempts = [...delivery.attempts, entry].slice(-keptAttempts);
  if (isTaken) return await end(database.db, delivery, { status: "succeeded", attempts }, nowMs);
  const isGone = responseStatus === goneStatus && delivery.endpoint_id !== null;
  const delayMs = isGone ? undefined : nextDelayMs(delivery.attempt);
  if (delayMs !== undefined)
    return await end(
      database.db,
      delivery,
      { status: "pending", attempts, nextAttemptAt: new Date(nowMs + delayMs) },
      nowMs,
    );
  await database.db.transaction().execute(async (tx) => {
    await end(tx, delivery, { status: "failed", attempts }, nowMs);
    const { endpoint_id: id, workspace_id: workspaceId, created_at: since } = delivery;
    if (id === null || (!isGone && (await hasTakenSince(tx, id, since)))) return;
    const reason = isGone ? "gone" : "deliveries_failed";
    await disableEndpoint(tx, { workspaceId, id }, reason, new Date(nowMs));
  });
}

interface End {
  readonly status: DeliveryRow["status"];
  readonly attempts?: readonly DeliveryAttempt[] | undefined;
  readonly nextAttemptAt?: Date | undefined;
}

/** Writes how the attempt went, unless it took so long that another one was begun. */
async function end(
  db: Db,
  { id, attempt: number, attempts: before }: DeliveryRow,
  { status, attempts = before, nextAttemptAt }: End,
  nowMs: number,
): Promise<void> {
  await db
    .updateTable("event_deliveries")
    .set({
      status,
      attempts: JSON.stringify(attempts),
      next_attempt_at: nextAttemptAt ?? null,
      ended_at: status === "pending" ? null : new Date(nowMs),
    })
    .where("id", "=", id)
    .where("attempt", "=", number)
    .where("status", "=", "pending")
    .execute();
}

async function giveBack(db: Db, { id, attempt: number }: DeliveryRow, now: Date): Promise<void> {
  await db
    .updateTable("event_deliveries")
    .set({ attempt: number - 1, next_attempt_at: now })
    .where("id", "=", id)
    .where("attempt", "=", number)
    .where("status", "=", "pending")
    .execute();
}
