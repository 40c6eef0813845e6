/**
 * Reads the cards of the connectors that come with svc, from a checkout and from a package alike.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type ConnectorCard, type ConnectorKind, connectorFolders } from "../contract/card.ts";
import type { ConnectorReference } from "../contract/host.ts";
import { moduleEnding, packageRoot, runtimeFolder } from "../wire/location.ts";

/** A connector that comes with svc. */
export interface BuiltInConnector extends ConnectorCard {
  readonly aliases: string[];
  readonly credentialsOf: string[];
  /** Absolute path of the folder in which its card stands, and with it README and recordings. */
  readonly folder: string;
  /** Name of that folder: reverse ETL calls an activation by it. */
  readonly type: string;
  /** Its module, as source or as built. */
  readonly reference: ConnectorReference;
}

/** All of one kind, in the order of their names. */
export function readCards(kind: ConnectorKind): readonly BuiltInConnector[] {
  const path = join("connectors", connectorFolders[kind]);
  return readdirSync(join(packageRoot, path), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => readCard(kind, path, name))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

function readCard(kind: ConnectorKind, path: string, type: string): BuiltInConnector {
  const folder = join(packageRoot, path, type);
  const card = JSON.parse(readFileSync(join(folder, "card.json"), "utf8")) as ConnectorCard;
  if (card.kind !== kind) throw new Error(`the card of ${path}/${type} is not of a ${kind}`);
  const module = join(runtimeFolder, "..", path, type, `index${moduleEnding}`);
  return {
    ...card,
    aliases: [...(kind === "source" ? [`source:${card.name}`] : []), ...(card.aliases ?? [])],
    credentialsOf: card.credentialsOf ?? [card.id],
    folder,
    type,
    reference: { name: card.name, url: pathToFileURL(module).href },
  };
}
