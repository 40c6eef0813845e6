/** Requests as they are sent: a change whose answer got lost is asked for once more, and done once. */

/** Before a change is sent again, and between looks at one that is still under way. */
const pauseMs = 1_000;
/** How often it is looked at: longer than the server works on anything that somebody waits for. */
const maxLooks = 150;

/**
 * Sends a request. A change goes with a key of its own; where no answer comes it goes once more,
 * with the same key, so that the server does it once and says again what came of it.
 * @throws TypeError when there is no answer
 */
export async function send(request: Request): Promise<Response> {
  const { url, method, headers, signal } = request;
  if (method === "GET") return fetch(request);
  headers.set("idempotency-key", createKey());
  const body = await request.text();
  const init = { method, headers, signal, ...(body === "" ? {} : { body }) };
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
