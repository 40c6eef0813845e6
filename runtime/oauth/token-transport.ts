import type { Clock } from "../contract/clock.ts";
import type { HttpLimits, NetworkSeams, NetworkSettings } from "../contract/network.ts";
import { defaultHttpLimits } from "../egress/http-broker.ts";
import { createTransport, type Transport } from "../egress/transport.ts";
import type { SecretRegistry } from "../filter/secrets.ts";

/** How requests to an authorization server leave: through the same guard as those of a run. */
export interface AuthorizationNetwork {
  readonly settings: NetworkSettings;
  readonly seams?: NetworkSeams | undefined;
  /** Codes, verifiers, client secrets and tokens are added before they are sent or given back. */
  readonly secrets: SecretRegistry;
  readonly clock: Clock;
  readonly limits?: Partial<HttpLimits> | undefined;
}

/** Token endpoints answer in a second or not at all; somebody is waiting in a browser. */
const totalTimeoutMs = 30_000;

/** Runs `work` with a transport to the host of `url` and ends its connections. */
export async function withTokenTransport<T>(
  url: URL,
  { settings, seams, limits }: AuthorizationNetwork,
  work: (transport: Transport) => Promise<T>,
): Promise<T> {
  const transport = createTransport({
    settings,
    seams,
    port: Number(url.port || 443),
    connections: 1,
    limits: { ...defaultHttpLimits, totalTimeoutMs, ...limits },
  });
  try {
    return await work(transport);
  } finally {
    await transport.close();
  }
}
