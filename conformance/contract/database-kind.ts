/** The databases that connectors declare in place of HTTP: one row each. */
import type { Egress, MysqlEgress, PostgresEgress } from "svc-connectors";

export type DatabaseEgress = PostgresEgress | MysqlEgress;

interface DatabaseKind {
  /** Where its servers listen, unless somebody says otherwise. */
  readonly port: number;
}

export const databaseKinds: Readonly<Record<DatabaseEgress["kind"], DatabaseKind>> = {
  postgres: { port: 5432 },
  mysql: { port: 3306 },
};

/** Where a server listens, and what it speaks. */
export interface DatabaseAddress {
  readonly kind: DatabaseEgress["kind"];
  readonly host: string;
  readonly port: number;
}

/** The egress of a connector of a database; undefined for every other one. */
export const databaseEgress = (egress: Egress | undefined): DatabaseEgress | undefined =>
  egress && Object.hasOwn(databaseKinds, egress.kind) ? (egress as DatabaseEgress) : undefined;
