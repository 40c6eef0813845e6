/** The database of a connector under test: filled from seed.sql, with a role that may only read. */
import { readFile } from "node:fs/promises";
import type { Manifest } from "svc-connectors/host";
import type { Database } from "../contract/database.ts";
import {
  type DatabaseAddress,
  type DatabaseEgress,
  databaseEgress,
} from "../contract/database-kind.ts";
import type { Target } from "../contract/target.ts";
import { UnusableError } from "../contract/unusable.ts";
import { startMysqlDatabase } from "./mysql-database.ts";
import { startPostgresDatabase } from "./postgres-database.ts";

/** The login of the connector. */
export interface DatabaseLogin {
  readonly database: string;
  readonly role: string;
  readonly password: string;
}

export interface DatabaseServer extends DatabaseAddress, AsyncDisposable {
  /**
   * Makes the seeded database and its role. Called once.
   * @throws UnusableError when the seed is wrong
   */
  open(login: DatabaseLogin): Promise<Database>;
}

/** Beside the recordings, when the settings name no other. */
export const seedFileName = "seed.sql";

/**
 * The kind of database that a connector declares; undefined for others. One whose manifest cannot
 * be read is reported later.
 */
export async function databaseKindOf(target: Target): Promise<DatabaseEgress["kind"] | undefined> {
  const manifest = await target.manifest().catch(() => undefined);
  return databaseEgress((manifest as Manifest | undefined)?.egress)?.kind;
}

/** Starts a server of each kind. */
const starters: Readonly<
  Record<
    DatabaseEgress["kind"],
    (seed: string) => Promise<DatabaseServer | { readonly missing: string }>
  >
> = { postgres: startPostgresDatabase, mysql: startMysqlDatabase };

/**
 * `missing`: neither an installed server nor a container is to be had, with what to install.
 * @throws UnusableError
 */
export async function startDatabase(
  kind: DatabaseEgress["kind"],
  seedFile: string,
): Promise<DatabaseServer | { readonly missing: string }> {
  const seed = await readFile(seedFile, "utf8").catch(() => {
    throw new UnusableError(
      "there is no database seed where conformance.yaml says (database: seed.sql, beside the recordings)",
    );
  });
  return await starters[kind](seed);
}
