import type { Broker, BrokerOptions } from "./broker.ts";
import { createHttpBroker } from "./http-broker.ts";
import { createPostgresBroker } from "./postgres-broker.ts";

/**
 * The broker that fits the declared egress.
 * @throws as {@link createHttpBroker} and {@link createPostgresBroker}
 */
export function createBroker(options: BrokerOptions): Broker {
  return options.declaration.kind === "http"
    ? createHttpBroker(options)
    : createPostgresBroker(options);
}
