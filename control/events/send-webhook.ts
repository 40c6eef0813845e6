/** One signed request to an endpoint, through the guard of the host. */
import {
  ConnectorError,
  checkPublicUrl,
  createTransport,
  type ErrorCode,
  packageVersion,
  signWebhook,
  type Transport,
} from "svc-connectors/host";
import type { Services } from "../services/services.ts";

/** A receiver keeps what it gets and works on it later: it has no reason to be slow. */
const limits = {
  connectTimeoutMs: 10_000,
  headersTimeoutMs: 15_000,
  idleTimeoutMs: 15_000,
  totalTimeoutMs: 20_000,
  maxAttempts: 1,
  retryBudgetMs: 0,
  maxRateLimitWaitMs: 0,
};

export interface WebhookRequest {
  readonly url: string;
  /** The same for the same event, however often it is sent. */
  readonly id: string;
  readonly body: Buffer;
  /** The keys that count: one signature each. */
  readonly keys: readonly Buffer[];
}

/** The result of a delivery. Nothing of the answer but its status is kept. */
export interface WebhookResult {
  readonly isTaken: boolean;
  readonly responseStatus: number | null;
  readonly errorCode: ErrorCode | null;
}

export interface WebhookSender extends AsyncDisposable {
  /** Never rejects: whatever goes wrong is a result. */
  send(request: WebhookRequest, signal: AbortSignal): Promise<WebhookResult>;
}

export function createWebhookSender({
  settings,
  seams,
  clock,
}: Pick<Services, "settings" | "seams" | "clock">): WebhookSender {
  const transport: Transport = createTransport({
    settings: settings.network,
    seams,
    port: 443,
    connections: 4,
    limits,
  });
  return {
    async send({ url, id, body, keys }, signal) {
      try {
        const target = checkPublicUrl(url, "url");
        const headers = {
          "content-type": "application/json",
          "user-agent": `svc/${packageVersion}`,
          "webhook-id": id,
          ...signWebhook(keys, id, body, clock.now()),
        };
        const request = { method: "POST", url: target, headers, body } as const;
        const status = await transport.exchange(request, signal, async (incoming) => {
          // The body of a receiver's answer is nobody's business, and may be without end.
          incoming.body.on("error", () => undefined).destroy();
          return incoming.status;
        });
        return toResult(status);
      } catch (error) {
        const errorCode = error instanceof ConnectorError ? error.code : "INTERNAL";
        return { isTaken: false, responseStatus: null, errorCode };
      }
    },
    [Symbol.asyncDispose]: () => transport.close(),
  };
}

function toResult(responseStatus: number): WebhookResult {
  if (responseStatus >= 200 && responseStatus < 300)
    return { isTaken: true, responseStatus, errorCode: null };
  const errorCode =
    responseStatus < 400
      ? "REDIRECT_REFUSED"
      : responseStatus < 500
        ? "REQUEST_REJECTED"
        : "PROVIDER_UNAVAILABLE";
  return { isTaken: false, responseStatus, errorCode };
}
