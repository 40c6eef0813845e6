/**
 * Requests as they are sent: a change whose answer got lost is asked for once more, and done once;
 * what comes too often waits as long as the server asks.
 */

/** Before a change is sent again, and between looks at one that is still under way. */
const pauseMs = 1_000;
/** How often it is looked at: longer than the server works on anything that somebody waits for. */
const maxLooks = 150;
/** The server's budgets are of a minute. Where it asks for more, or again and again, it is said. */
const maxWaitSeconds = 60;
const maxWaits = 3;

/**
 * Sends a request. A change goes with a key of its own; where no answer comes it goes once more,
 * with the same key, so that the server does it once and says again what came of it. What the
 * server refuses as one too many (429) has not been done: it goes again when it may.
 * @throws TypeError when there is no answer
 */
export async function send(request: Request): Promise<Response> {
  const sent = request.method === "GET" ? () => fetch(request.clone()) : await toChange(request);
  for (let waits = 0; ; waits++) {
    const response = await sent();
    const seconds = response.status === 429 ? Number(response.headers.get("retry-after")) : 0;
    if (!(seconds > 0 && seconds <= maxWaitSeconds) || waits === maxWaits) return response;
    await waitFor(seconds, request.signal);
  }
}

async function toChange(request: Request): Promise<() => Promise<Response>> {
  const { url, method, headers, signal } = request;
  headers.set("idempotency-key", createKey());
  const body = await request.text();
  const init = { method, headers, signal, ...(body === "" ? {} : { body }) };
  return async () => {
    try {
      return await whole(fetch(url, init));
    } catch (error) {
      if (signal.aborted) throw error;
    }
    for (let looks = 1; ; looks++) {
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      const response = await whole(fetch(url, init));
      if (looks === maxLooks || !(await isUnderWay(response))) return response;
    }
  };
}

type WaitListener = (seconds: number | undefined) => void;
const listeners = new Set<WaitListener>();
/**
 * Calls when a request begins to wait, with how long the server asks for, and with nothing when
 * none waits any more. @returns how to stop listening
 */
export function onWait(listener: WaitListener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Requests that wait now. */
let waiting = 0;

async function waitFor(seconds: number, signal: AbortSignal): Promise<void> {
  waiting += 1;
  for (const listener of listeners) listener(seconds);
  try {
    await new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, seconds * 1_000);
      signal.addEventListener("abort", () => {
        clearTimeout(timer);
        reject(signal.reason);
      });
    });
  } finally {
    waiting -= 1;
    if (waiting === 0) for (const listener of listeners) listener(undefined);
  }
}

/** An answer with all of its body. @throws TypeError when it breaks off */
async function whole(asked: Promise<Response>): Promise<Response> {
  const response = await asked;
  await response.clone().arrayBuffer();
  return response;
}

/** The server has got the request, and has not ended it. */
async function isUnderWay(response: Response): Promise<boolean> {
  if (response.status !== 409) return false;
  const answer = await response
    .clone()
    .json()
    .catch(() => undefined);
  return answer?.details?.reason === "idempotency_in_flight";
}

/** `crypto.randomUUID` is for pages over TLS alone. */
const createKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
