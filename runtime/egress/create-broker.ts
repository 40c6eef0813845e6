import type { Broker, BrokerOptions } from "./broker.ts";
import { createHttpBroker } from "./http-broker.ts";
import { createMysqlBroker } from "./mysql-broker.ts";
import { createPostgresBroker } from "./postgres-broker.ts";

/**
 * The broker that fits the declared egress.
 * @throws as {@link createHttpBroker}, {@link createPostgresBroker} and {@link createMysqlBroker}
 */
export function createBroker(options: BrokerOptions): Broker {
  const { kind } = options.declaration;
  if (kind === "http") return createHttpBroker(options);
  return kind === "mysql" ? createMysqlBroker(options) : createPostgresBroker(options);
}
