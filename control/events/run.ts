/** Tells events, in any number of processes, for as long as this one lives. */
import type { Services } from "../services/services.ts";
import { createDeliverer } from "./deliver.ts";
import { noteExpiring } from "./expiring.ts";
import { publishFacts } from "./publish.ts";
import { createWebhookSender } from "./send-webhook.ts";

/** How soon is told what has happened. */
const lookEveryMs = 2_000;
/** Ends are a week away when they are told. */
const lookAtEndsEveryMs = 3_600_000;

export function startEvents(services: Services): AsyncDisposable {
  const { clock, log } = services;
  const sender = createWebhookSender(services);
  const stopping = new AbortController();
  const deliverer = createDeliverer(services, sender, stopping.signal);
  let lookedAtEndsMs = Number.NEGATIVE_INFINITY;

  async function lookAtEnds(): Promise<void> {
    if (clock.now() - lookedAtEndsMs < lookAtEndsEveryMs) return;
    lookedAtEndsMs = clock.now();
    await noteExpiring(services);
  }

  /** One part that fails does not keep the others from their turn. */
  async function look(): Promise<void> {
    for (const part of [lookAtEnds, publishFacts])
      await part(services).catch(() =>
        log.error("events could not be looked after", { part: part.name }),
      );
    await deliverer.fill();
    looking = undefined;
  }

  let looking: Promise<void> | undefined;
  // The machine's time wakes it up; what is due is decided by the services' clock.
  const timer = setInterval(() => {
    looking ??= look();
  }, lookEveryMs).unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      stopping.abort();
      await looking;
      await deliverer.settle();
      await sender[Symbol.asyncDispose]();
    },
  };
}
