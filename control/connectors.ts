import {
  builtInConnectors,
  type ConnectorReference,
  findConnector,
  type Host,
  type Manifest,
} from "svc-connectors/host";
import { ControlError } from "./contract/reasons.ts";
import type { Db } from "./store/database.ts";

/** What the control API says of a connector before it is loaded. */
export interface ConnectorDefinition {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly type: "source";
  readonly category: "email_marketing" | "social_media" | "finance" | "productivity" | "database";
  readonly releaseStage: "alpha" | "beta" | "ga";
  /** Ids of old saved configurations: `source:<name>` and `source:<uuid>`. They are accepted and never given out. */
  readonly aliases: readonly string[];
  readonly reference: ConnectorReference;
}

type Facts = Pick<ConnectorDefinition, "category" | "releaseStage"> & { readonly uuid: string };

const facts: Readonly<Record<string, Facts>> = {
  mailer: { category: "email_marketing", releaseStage: "ga", uuid: "6a1f0d52-93f4-4c1b-8f5e-2b7c1f0e4a01" },
  social: { category: "social_media", releaseStage: "beta", uuid: "6a1f0d52-93f4-4c1b-8f5e-2b7c1f0e4a02" },
  bankdata: { category: "finance", releaseStage: "ga", uuid: "6a1f0d52-93f4-4c1b-8f5e-2b7c1f0e4a03" },
  taskapp: { category: "productivity", releaseStage: "beta", uuid: "6a1f0d52-93f4-4c1b-8f5e-2b7c1f0e4a04" },
  postgres: { category: "database", releaseStage: "ga", uuid: "6a1f0d52-93f4-4c1b-8f5e-2b7c1f0e4a05" },
};

export interface Connectors {
  /** In the order in which people read them. */
  list(): readonly ConnectorDefinition[];
  /** @throws not_found */
  get(idOrAlias: string): ConnectorDefinition;
  /** What the connector says of itself. Loaded once, in a worker. */
  manifest(definition: ConnectorDefinition): Promise<Manifest>;
}

export function createConnectors(host: Host): Connectors {
  const definitions = builtInConnectors.map(({ name, id, title }): ConnectorDefinition => {
    const known = facts[name];
    if (!known) throw new Error(`the connector ${name} has no facts`);
    const { uuid, ...rest } = known;
    return {
      id,
      name,
      title,
      type: "source",
      ...rest,
      aliases: [`source:${name}`, `source:${uuid}`],
      reference: findConnector(name, "."),
    };
  });
  const manifests = new Map<string, Promise<Manifest>>();
  return {
    list: () => definitions,
    get(idOrAlias) {
      const found = definitions.find(({ id, aliases }) => id === idOrAlias || aliases.includes(idOrAlias));
      if (!found) throw new ControlError("not_found");
      return found;
    },
    manifest({ id, reference }) {
      const loaded = manifests.get(id) ?? host.spec(reference);
      manifests.set(id, loaded);
      loaded.catch(() => manifests.delete(id));
      return loaded;
    },
  };
}

/** The operator can disable a definition. What exists of it stays; nothing new starts. */
export async function isEnabled(db: Db, connectorId: string): Promise<boolean> {
  const row = await db
    .selectFrom("connector_settings")
    .select("enabled")
    .where("connector_id", "=", connectorId)
    .executeTakeFirst();
  return row?.enabled ?? true;
}

/** @throws connector_disabled */
export async function requireEnabled(db: Db, { id }: ConnectorDefinition): Promise<void> {
  if (!(await isEnabled(db, id))) throw new ControlError("connector_disabled", { connector_id: id });
}
