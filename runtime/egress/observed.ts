import { Readable } from "node:stream";
import type { NetworkSeams } from "../contract/network.ts";
import { decompress, defaultMaxResponseBytes, readRaw } from "./response.ts";
import type { Incoming, TransportRequest } from "./transport.ts";

/**
 * The same answer, once `observe` has seen it whole. For recordings: the body is read to its end
 * before anybody else gets it.
 * @throws RESPONSE_TOO_LARGE beyond 64 MiB, RESPONSE_INVALID, CONNECTION_FAILED when it is cut
 * short
 */
export async function observed(
  observe: NonNullable<NetworkSeams["observe"]>,
  index: number,
  { method, url, headers, body }: TransportRequest,
  incoming: Incoming,
): Promise<Incoming> {
  const raw = await readRaw(incoming.body, incoming.headers, defaultMaxResponseBytes);
  observe({
    index,
    method,
    url: url.href,
    requestHeaders: { ...headers },
    requestBody: body,
    status: incoming.status,
    responseHeaders: Object.fromEntries(
      Object.entries(incoming.headers).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, value] as const],
      ),
    ),
    responseBody: await decompress(raw, incoming.headers, defaultMaxResponseBytes),
  });
  return { ...incoming, body: Readable.from([raw], { objectMode: false }) };
}
