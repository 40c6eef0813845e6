/** Promises that only a real PostgreSQL can show: processes that publish and deliver at once. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  findPostgres,
  type PostgresServer,
  startPostgres,
} from "../../simulators/postgres-server.ts";
import { type EventReceiver, startEventReceiver } from "../../simulators/webhook/event-receiver.ts";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { createEventClock, deliverEvents } from "../../tests/control-events.ts";
import { addJob, type StandingClock } from "../../tests/control-jobs.ts";
import { requestCancel } from "../jobs/cancel.ts";
import { createMemoryKeyring } from "../vault/keyring.ts";
import { createDeliverer } from "./deliver.ts";
import { publishFacts } from "./publish.ts";
import type { WebhookSender } from "./send-webhook.ts";

test("a process that announces jobs tells events by itself", async () => {
  await using api = await startTestControl({ jobs: "announce" });
  const id = await addJob(api);
  await api.call("POST", `/jobs/${id}/cancel`, { body: {} });
  const cancelledEvents = async () =>
    (await api.call("GET", "/events?type=job.cancelled")).body.data.items;
  await expect.poll(async () => (await cancelledEvents()).length).toBe(1);
});

describe.skipIf(findPostgres() === undefined)("on PostgreSQL", () => {
  let postgres: PostgresServer;
  let receiver: EventReceiver;
  let clock: StandingClock;
  let servers: readonly TestControl[];
  let first: TestControl;
  let endpointId: string;
  beforeAll(async () => {
    clock = createEventClock();
    receiver = await startEventReceiver();
    postgres = await startPostgres();
    const { url } = await postgres.createDatabase();
    const options = {
      clock,
      keyring: createMemoryKeyring(),
      seams: receiver.seams,
      database: { url, maxConnections: 8 },
    };
    servers = [
      await startTestControl(options),
      await startTestControl(options),
      await startTestControl(options),
    ];
    [first] = servers as [TestControl];
    const body = { name: "Ours", url: receiver.url, event_types: ["job.cancelled"] };
    const { data } = (await first.call("POST", "/webhook-endpoints", { body })).body;
    endpointId = data.webhook_endpoint_id;
    receiver.secrets.push(data.signing_secret);
  });
  afterAll(async () => {
    await Promise.all((servers ?? []).map((server) => server[Symbol.asyncDispose]()));
    await receiver?.close();
    await postgres?.stop();
  });

  /** Jobs that end, each in a transaction of its own, all at once. */
  async function endJobs(count: number): Promise<string[]> {
    const ids = await Promise.all(Array.from({ length: count }, () => addJob(first)));
    await Promise.all(
      ids.map((id, index) =>
        (servers[index % servers.length] as TestControl).db
          .transaction()
          .execute((tx) => requestCancel(tx, { id }, new Date(clock.now()))),
      ),
    );
    return ids;
  }

  test("each end of a job is told once, and delivered once while nobody dies", async () => {
    const before = receiver.events.length;
    const ids = await endJobs(60);
    await Promise.all(servers.map(deliverEvents));
    const sent = await first.db
      .selectFrom("events")
      .select("data")
      .where("type", "=", "job.cancelled")
      .execute();
    const jobs = sent.map(({ data }) => (data as { job: { job_id: string } }).job.job_id);
    expect(jobs.toSorted()).toEqual(ids.toSorted());
    const received = receiver.events.slice(before).map(({ payload }) => payload.data.job.job_id);
    expect(received.toSorted()).toEqual(ids.toSorted());
  });

  test("who asks again while others publish misses none", async () => {
    const seen: string[] = [];
    const [start] = (await first.call("GET", "/events?limit=1")).body.data.items;
    const { position } = await first.db
      .selectFrom("events")
      .select((eb) => eb.fn.max("position").as("position"))
      .executeTakeFirstOrThrow();
    const newest = await first.db
      .selectFrom("events")
      .select("id")
      .where("position", "=", position)
      .executeTakeFirstOrThrow();
    expect(start).toBeDefined();
    let last = newest.id;
    const look = async () => {
      const { items } = (await first.call("GET", `/events?after=${last}&limit=7`)).body.data;
      for (const { event_id, data } of items) {
        seen.push(data.job.job_id);
        last = event_id;
      }
      return items.length as number;
    };
    const ids = await endJobs(40);
    let isPublishing = true;
    const publishing = Promise.all(
      servers.map(({ control }) => publishFacts(control.services)),
    ).finally(() => {
      isPublishing = false;
    });
    while (isPublishing) await look();
    await publishing;
    while ((await look()) > 0);
    expect(seen.toSorted()).toEqual(ids.toSorted());
    expect(new Set(seen).size).toBe(seen.length);
  });

  test("a delivery whose process dies is taken over, under the same id", async () => {
    await Promise.all(servers.map(deliverEvents));
    const [id] = await endJobs(1);
    await publishFacts(first.control.services);
    // It takes the delivery, and is never heard of again.
    const silent: WebhookSender = {
      send: () => new Promise(() => undefined),
      [Symbol.asyncDispose]: async () => undefined,
    };
    const signal = new AbortController().signal;
    await createDeliverer(first.control.services, silent, signal).fill();
    const before = receiver.events.length;
    await deliverEvents(servers[1] as TestControl);
    expect(receiver.events).toHaveLength(before);
    clock.move(121_000);
    await deliverEvents(servers[1] as TestControl);
    expect(receiver.events.slice(before)).toMatchObject([
      { signedBy: 1, payload: { data: { job: { job_id: id } } } },
    ]);
    const path = `/webhook-endpoints/${endpointId}/deliveries?limit=1&status=succeeded`;
    expect((await first.call("GET", path)).body.data.items).toHaveLength(1);
  });

  test("a receiver that hangs holds up no other one", async () => {
    const body = { name: "Another", url: receiver.url, event_types: ["job.cancelled"] };
    const { data } = (await first.call("POST", "/webhook-endpoints", { body })).body;
    receiver.secrets.push(data.signing_secret);
    await endJobs(10);
    await publishFacts(first.control.services);
    const other: WebhookSender = {
      send: async ({ keys }) => {
        const isHanging = keys[0]?.toString("base64") === receiver.secrets[0]?.slice(6);
        if (isHanging) await new Promise(() => undefined);
        return { isTaken: true, responseStatus: 204, errorCode: null };
      },
      [Symbol.asyncDispose]: async () => undefined,
    };
    const deliverer = createDeliverer(first.control.services, other, new AbortController().signal);
    await deliverer.fill();
    const waiting = () =>
      first.db
        .selectFrom("event_deliveries")
        .select("id")
        .where("endpoint_id", "=", data.webhook_endpoint_id)
        .where("status", "=", "pending")
        .execute();
    await expect.poll(async () => (await waiting()).length).toBe(0);
  });
});
