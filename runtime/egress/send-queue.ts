/** The last step of a request: its turn, the network, and what became of it. */
import type { BrokerOptions } from "./broker.ts";
import type { Slots } from "./concurrency.ts";
import type { Outcome, OutcomeReader } from "./outcome.ts";
import type { Ticket } from "./rate-budget.ts";
import type { RateLimiter } from "./rate-limit.ts";
import type { CookieWatch } from "./response.ts";
import type { Transport, TransportRequest } from "./transport.ts";
import type { WaitReport } from "./waiting.ts";

export interface SendQueue {
  /** Requests that were sent, refused ones too. */
  readonly requestCount: number;
  /**
   * Waits for a free slot and for the rate limit, then signs, since a token may end while it waits;
   * sends, and reads the answer.
   * @param accept statuses besides 2xx that are answers
   */
  send(
    sign: () => Promise<TransportRequest>,
    accept: readonly number[],
    signal: AbortSignal,
  ): Promise<Outcome>;
}

export interface SendQueueOptions {
  readonly slots: Slots;
  readonly limiter: RateLimiter;
  readonly waiting: WaitReport;
  readonly transport: Transport;
  readonly readOutcome: OutcomeReader;
  readonly watchCookies: CookieWatch;
  readonly onRequest: NonNullable<BrokerOptions["onRequest"]>;
}

export function createSendQueue(options: SendQueueOptions): SendQueue {
  const { slots, limiter, waiting, transport, readOutcome, watchCookies, onRequest } = options;
  let requestCount = 0;

  async function takeTicket(signal: AbortSignal): Promise<Ticket> {
    let end: (() => void) | undefined;
    try {
      return await limiter.take(signal, (untilMs) => {
        const next = waiting.begin(untilMs, "rate_limit");
        end?.();
        end = next;
      });
    } finally {
      end?.();
    }
  }

  /** @param answered is called when the head of an answer is there */
  async function exchange(
    signed: TransportRequest,
    accept: readonly number[],
    signal: AbortSignal,
    answered: Ticket["answered"],
  ): Promise<Outcome> {
    requestCount++;
    const startedMs = performance.now();
    let status: number | undefined;
    try {
      return await transport.exchange(signed, signal, async (incoming) => {
        status = incoming.status;
        answered(incoming.status, incoming.headers);
        watchCookies(incoming.headers);
        return await readOutcome(incoming, { method: signed.method, url: signed.url, accept });
      });
    } finally {
      onRequest({ method: signed.method, status, durationMs: performance.now() - startedMs });
    }
  }

  return {
    get requestCount() {
      return requestCount;
    },
    async send(sign, accept, signal) {
      const giveBack = await slots.take(signal);
      try {
        const ticket = await takeTicket(signal);
        let isAnswered = false;
        try {
          return await exchange(await sign(), accept, signal, (status, headers) => {
            isAnswered = true;
            ticket.answered(status, headers);
          });
        } finally {
          if (!isAnswered) ticket.failed();
        }
      } finally {
        giveBack();
      }
    },
  };
}
