/** Events for tests: what happened is told when the test says so. */

import { setTimeout } from "node:timers/promises";
import { ConnectorError } from "svc-connectors/host";
import { createId } from "../control/contract/ids.ts";
import { createDeliverer } from "../control/events/deliver.ts";
import { publishFacts } from "../control/events/publish.ts";
import { createWebhookSender } from "../control/events/send-webhook.ts";
import { endAttempt } from "../control/jobs/attempts.ts";
import { toFailure } from "../control/jobs/failure.ts";
import type { TestControl } from "./control.ts";
import { addJob, claim, createStandingClock, type StandingClock } from "./control-jobs.ts";
import { addDestination, addPipeline } from "./control-pipelines.ts";
import { addCredential, addSource, tableStream } from "./control-rows.ts";

/** A clock that stands until it is moved. What waits on it comes up again at once, and again. */
export function createEventClock(): StandingClock {
  const clock = createStandingClock();
  return { ...clock, sleep: (_ms, signal) => setTimeout(1, undefined, { signal }) };
}

/** Publishes and delivers what waits, in as many rounds as that takes. */
export async function deliverEvents({ control: { services } }: TestControl): Promise<void> {
  await using sender = createWebhookSender(services);
  const deliverer = createDeliverer(services, sender, new AbortController().signal);
  do {
    await deliverer.fill();
    await deliverer.settle();
  } while ((await publishFacts(services)) > 0);
}

/** A pipeline of the first workspace; gives its id. */
export async function addTestPipeline(api: TestControl): Promise<string> {
  const sourceId = await addSource(api, await addCredential(api));
  const destinationId = await addDestination(api);
  const stream = tableStream("orders");
  return (await addPipeline(api, { sourceId, destinationId }, [stream], ["orders"])).id;
}

/** A job of the pipeline that ends like this in its first attempt, a second later; gives its id. */
export async function runJob(
  api: TestControl,
  clock: StandingClock,
  pipelineId: string = createId("pipeline"),
  status: "succeeded" | "failed" = "succeeded",
  during: (jobId: string) => Promise<void> = async () => undefined,
): Promise<string> {
  const { db, control } = api;
  const id = await addJob(api, { subjectId: pipelineId, pipelineId });
  clock.move(1_000);
  const claimed = await claim(api);
  if (claimed?.job.id !== id) throw new Error("another job waits");
  await during(id);
  const now = new Date(control.services.clock.now());
  const failure = toFailure(new ConnectorError("CREDENTIALS_REJECTED").toRecord(), "source", now);
  const end = status === "failed" ? { status, failure } : { status };
  await db
    .transaction()
    .execute((tx) => endAttempt(tx, { id, leaseId: claimed.leaseId }, end, now));
  return id;
}
