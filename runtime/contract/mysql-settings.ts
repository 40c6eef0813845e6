import { Type } from "typebox";
import { type MysqlEgress, mysql } from "./egress.ts";
import { postgresServer, postgresSettings } from "./postgres-settings.ts";
import { withDefault } from "./spec.ts";

/**
 * The settings of a connector that speaks to MySQL or MariaDB; those for TLS and tunnels are the
 * ones of PostgreSQL. A connector adds its own beside them: `Type.Object({
 * ...mysqlSettings("A user that may only read."), … })`, with `egress: mysqlServer()`.
 * @param role what the user of `username` has to be allowed, in a sentence for whoever fills in the
 * form
 */
export const mysqlSettings = (role: string) => ({
  ...postgresSettings(role),
  port: withDefault(
    Type.Integer({
      title: "Port",
      description: "Port of the server.",
      minimum: 1,
      maximum: 65535,
    }),
    3306,
  ),
  database: Type.String({
    title: "Database",
    description: "Name of the database.",
    minLength: 1,
    maxLength: 64,
    pattern: "^(?=.*\\S)[^\\u0000]*$",
  }),
  username: Type.String({
    title: "Username",
    description: role,
    minLength: 1,
    maxLength: 128,
    pattern: "^(?=.*\\S)[^\\u0000]*$",
  }),
});

/** Declares the server that {@link mysqlSettings} name. */
export function mysqlServer(): MysqlEgress<keyof ReturnType<typeof mysqlSettings>> {
  const { kind: _, ...settings } = postgresServer();
  return mysql(settings);
}
