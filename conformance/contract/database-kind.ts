/** The databases that connectors declare in place of HTTP: one row each. */
import type { Egress, MysqlEgress, PostgresEgress } from "svc-connectors";

export type DatabaseEgress = PostgresEgress | MysqlEgress;

interface DatabaseKind {
  /** Where its servers listen, unless somebody says otherwise. */
  readonly port: number;
  /** Why the kit has no server of it; undefined: it has. */
  readonly missing?: string | undefined;
}

export const databaseKinds: Readonly<Record<DatabaseEgress["kind"], DatabaseKind>> = {
  postgres: { port: 5432 },
  mysql: {
    port: 3306,
    missing: "a database is needed, and the kit has none that speaks MySQL's protocol yet",
  },
};

/** What a connector of a database declares; undefined for every other one. */
export const databaseEgress = (egress: Egress | undefined): DatabaseEgress | undefined =>
  egress && Object.hasOwn(databaseKinds, egress.kind) ? (egress as DatabaseEgress) : undefined;
