/** The egress of a connector for MySQL and MariaDB. */
import { ConnectorError } from "../contract/errors.ts";
import type { Broker, BrokerOptions } from "./broker.ts";
import { configText } from "./config-field.ts";
import { createDatabaseBroker } from "./database-broker.ts";
import { logIn } from "./mysql-login.ts";
import { createRelay } from "./mysql-relay.ts";

/**
 * @throws CONFIG_INVALID for names that would end within a packet; as {@link createDatabaseBroker}
 */
export function createMysqlBroker(options: BrokerOptions): Broker {
  const { declaration, config } = options;
  // A client in the host would need a bound for what it is answered: there is none yet.
  if (declaration.kind !== "mysql" || options.mayWrite) throw new ConnectorError("INTERNAL");
  for (const path of [declaration.username, declaration.database])
    if (configText(config, path).includes("\0"))
      throw new ConnectorError("CONFIG_INVALID", { path, problem: "must not contain NUL" });
  return createDatabaseBroker(options, declaration, {
    async open(socket, mode, login) {
      const session = await logIn(socket, mode, login);
      return () => createRelay(session);
    },
  });
}
