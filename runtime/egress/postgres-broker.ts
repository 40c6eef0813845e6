/** The egress of a connector for PostgreSQL. */
import { ConnectorError } from "../contract/errors.ts";
import type { Broker, BrokerOptions } from "./broker.ts";
import { createDatabaseBroker } from "./database-broker.ts";
import { logIn } from "./postgres-login.ts";
import { createRelay } from "./postgres-relay.ts";
import { createReplicationGate } from "./postgres-replication.ts";
import { secureByMode } from "./postgres-tls.ts";

/** @throws as {@link createDatabaseBroker} */
export function createPostgresBroker(options: BrokerOptions): Broker {
  const { declaration } = options;
  if (declaration.kind !== "postgres") throw new ConnectorError("INTERNAL");
  return createDatabaseBroker(options, declaration, {
    async open(socket, mode, { tls, mayWrite, replicationSlot, ...credentials }) {
      const secured = await secureByMode(socket, mode, tls);
      const isReplication = replicationSlot !== undefined;
      const session = await logIn(secured, credentials, { mayWrite, isReplication });
      return () =>
        createRelay(session, {
          isInHost: mayWrite,
          mayForward: isReplication ? createReplicationGate(replicationSlot) : undefined,
        });
    },
  });
}
