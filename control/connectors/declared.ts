/** Connectors that the settings of a server or worker name, as if its operator had added them. */
import type { OperationContext } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import type { Db } from "../store/database.ts";
import {
  imageOf,
  keepConnector,
  type ListedConnector,
  listAdded,
  removeConnector,
} from "./added.ts";
import { type GivenImage, isDeclared, nameOfImage } from "./images.ts";
import { type ConnectorDeclaration, type DeclaredImage, type Place, toPlace } from "./places.ts";

export interface Declared {
  readonly declarations: readonly ConnectorDeclaration[];
  readonly folder: string;
}

type Parts = Pick<OperationContext["services"], "connectors" | "clock" | "log"> & { db: Db };

/**
 * Adds what is new, and removes what was declared and no longer is. A connector whose code is not
 * the declared one stays as it was: the log tells, the others are not kept from their work, and
 * none of its jobs run here.
 */
export async function keepDeclared(
  { db, connectors, clock, log }: Parts,
  { declarations, folder }: Declared,
): Promise<void> {
  const rows = await listAdded(db);
  const places = declarations.map((one) => toPlace(one, folder));
  const isAt = (row: ListedConnector, { kind, place }: Place) =>
    row.kind === kind && row.place === place;
  const now = new Date(clock.now());
  for (const row of rows) {
    if (row.origin !== "settings" || row.removed_at !== null) continue;
    if (places.some((place) => isAt(row, place))) continue;
    await removeConnector(db, row.id, now);
    log.warn("a connector is no longer in the settings, and was removed", { connector: row.id });
  }
  for (const [index, declared] of declarations.entries()) {
    const place = places[index] as Place;
    const { digest, sandbox = defaultWall(declared) } = declared;
    const isSame = (row: ListedConnector) => {
      const image = imageOf(row);
      if (image === null || declared.image === undefined) return row.code_digest === digest;
      return isDeclared(image, declared);
    };
    const isKept = ({ sandbox: wall, origin, removed_at }: ListedConnector) =>
      wall === sandbox && origin === "settings" && removed_at === null;
    if (rows.some((row) => isAt(row, place) && isKept(row) && isSame(row))) continue;
    try {
      const given = declared.image === undefined ? place : toGiven(declared);
      const inspected = await connectors.inspect(given, { digest, sandbox });
      await db.transaction().execute((tx) => keepConnector(tx, inspected, "settings", now));
    } catch (error) {
      if (!(error instanceof ControlError)) throw error;
      log.error("a connector of the settings was not added", {
        [place.kind]: place.place,
        problem: String(error.details.problem),
      });
    }
  }
}

/** An image has walls of its own: its worker reads what it says with svc's own code. */
const defaultWall = ({ image }: ConnectorDeclaration) =>
  image === undefined ? "bubblewrap" : "process";

const toGiven = ({ image, hosts, exposed }: DeclaredImage): GivenImage => ({
  ...{ name: nameOfImage(image), reference: image, hosts, exposed },
});
