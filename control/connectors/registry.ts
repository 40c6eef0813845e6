import {
  type ActivationManifest,
  type BuiltInConnector,
  builtInActivations,
  builtInDestinations,
  builtInSources,
  type CatalogStream,
  type ConnectorCard,
  type ConnectorReference,
  type ContainedImage,
  createActivationHost,
  createDestinationHost,
  createHost,
  type DestinationManifest,
  type HostOptions,
  type JsonObject,
  type Manifest,
  systemClock,
} from "svc-connectors/host";
import type { OperationContext } from "../contract/operation.ts";
import { ControlError, notFound } from "../contract/reasons.ts";
import { basePath } from "../door/base-path.ts";
import type { Db } from "../store/database.ts";
import { createDocuments, listAdded, toAddedDefinition } from "./added.ts";
import type { GivenImage } from "./images.ts";
import { type InspectedConnector, type InspectOptions, inspectConnector } from "./inspect.ts";
import type { Place } from "./places.ts";
import { standardCatalog } from "./standard-catalog.ts";

/**
 * `row_destination`: an activation of reverse ETL. Those that take the credentials of a source are
 * no connectors of their own.
 */
export const connectorTypes = ["source", "destination", "row_destination"] as const;

/** The metadata of a connector, from its card: known before it is loaded. */
export interface ConnectorDefinition {
  readonly id: string;
  readonly name: string;
  /** Its name and what it reads or takes, for people. */
  readonly title: string;
  readonly type: (typeof connectorTypes)[number];
  readonly category: ConnectorCard["category"];
  readonly releaseStage: ConnectorCard["stage"];
  /** Null: there is no page. */
  readonly documentationUrl: string | null;
  /**
   * Ids of old saved configurations: `source:<name>` and `source:<uuid>`. They are accepted and
   * never given out.
   */
  readonly aliases: readonly string[];
  readonly reference: ConnectorReference;
  /** Settings that a request for a source may name beside its configuration. */
  readonly namedSettings: readonly string[];
  /** Where its secrets are given; default `/credentials`. */
  readonly credentialPath: string;
  /** Where connecting an account in the browser starts. */
  readonly oauthPath: string;
  /** JSON Schema of what a saved source must have beyond the connector's own spec. */
  readonly sourceRules?: JsonObject;
  /** Of one that does not come with svc: what it said of itself when its operator added it. */
  readonly added?: {
    readonly manifest: Manifest;
    readonly streams: readonly CatalogStream[];
    /** Taken away since; what was made with it is kept. */
    readonly isRemoved: boolean;
    readonly version: number;
    readonly updatedAt: Date;
    /** The text of a declarative manifest. */
    readonly manifestText?: { readonly digest: string; readonly text: string };
    /** The image that it is. */
    readonly image?: ContainedImage;
  };
}

/** The manifest of a connector of either type. */
export type AnyManifest = Manifest | DestinationManifest;

export interface Connectors {
  /** In the order in which people read them; without those that were removed. */
  list(): readonly ConnectorDefinition[];
  /** @throws not_found */
  get(idOrAlias: string): ConnectorDefinition;
  /** Whether a connector of this id does not come with svc. One that was removed counts too. */
  isAdded(id: string): boolean;
  /** Learns which connectors the operator has added or removed since. */
  reload(): Promise<void>;
  /** Looks at a connector that the operator wants to add. @throws connector_refused */
  inspect(
    place: Place | GivenImage,
    options: Omit<InspectOptions, "folder">,
  ): Promise<InspectedConnector>;
  /** The id of the connector whose module is at this URL; "none" of those is there. */
  idOf(url: string): string;
  /**
   * The manifest of a source. Loaded once, in a worker.
   * @throws not_found when it is a destination
   */
  manifest(definition: ConnectorDefinition): Promise<Manifest>;
  /** The manifest of a destination. @throws not_found when it is a source */
  destination(definition: ConnectorDefinition): Promise<DestinationManifest>;
  /** The manifest, of whichever type it is. */
  describe(definition: ConnectorDefinition): Promise<AnyManifest>;
  /**
   * A source's streams under its standard settings; none where only the account can tell. Listed
   * once, in a worker.
   */
  catalog(definition: ConnectorDefinition): Promise<readonly CatalogStream[]>;
}

export interface ConnectorsOptions extends Pick<HostOptions, "clock" | "sandbox"> {
  readonly db: Db;
  /** Installed packages of the operator are looked up from here. */
  readonly folder: string;
}

/** Connectors are asked about themselves in workers that reach no network. */
export function createConnectors({ db, folder, ...options }: ConnectorsOptions): Connectors {
  const host = createHost({ ...options, seams: { resolve: async () => [] } });
  const activations = createActivationHost();
  const destinations = createDestinationHost({ clock: options.clock ?? systemClock });
  const documentsOf = createDocuments(db);
  const builtIn = listDefinitions();
  let definitions = builtIn;
  const mustBe = (definition: ConnectorDefinition, type: ConnectorDefinition["type"]) => {
    if (definition.type !== type) throw new ControlError("not_found", { resource: "connector" });
  };
  const sourceManifest = once(({ reference }) => host.spec(reference));
  const destinationManifest = once(({ reference }) => destinations.manifest(reference));
  const rowManifest = once(async ({ reference }) =>
    toManifest(await activations.manifest(reference)),
  );
  const manifest = async (definition: ConnectorDefinition) => {
    mustBe(definition, "source");
    return definition.added?.manifest ?? (await sourceManifest(definition));
  };
  const destination = async (definition: ConnectorDefinition) => {
    mustBe(definition, "destination");
    return await destinationManifest(definition);
  };
  const catalog = once(async (definition) =>
    definition.type === "source"
      ? standardCatalog(host, definition.reference, await manifest(definition))
      : [],
  );
  return {
    list: () => definitions.filter(({ added }) => !added?.isRemoved),
    get(idOrAlias) {
      const alias = idOrAlias.toLowerCase();
      const found = definitions.find(
        ({ id, aliases }) => id === idOrAlias || aliases.includes(alias),
      );
      if (!found) throw notFound("connector", idOrAlias);
      return found;
    },
    isAdded: (id) => definitions.some((one) => one.id === id && one.added !== undefined),
    async reload() {
      const rows = await listAdded(db);
      // A later version of svc may bring one of the same id.
      const own = rows.filter(({ id }) => !builtIn.some((one) => one.id === id));
      const documents = await documentsOf(own);
      const added = await Promise.all(
        own.map((row) => toAddedDefinition(row, folder, documents.get(row.code_digest))),
      );
      definitions = [...builtIn, ...added];
    },
    inspect: (place, options) => inspectConnector(host, place, { ...options, folder }),
    idOf: (url) => definitions.find(({ reference }) => reference.url === url)?.id ?? "none",
    manifest,
    destination,
    async describe(definition) {
      if (definition.type === "row_destination") return await rowManifest(definition);
      return definition.type === "source" ? manifest(definition) : destination(definition);
    },
    catalog: async (definition) => definition.added?.streams ?? (await catalog(definition)),
  };
}

/** Every connector that has credentials of its own. */
function listDefinitions(): readonly ConnectorDefinition[] {
  const connectors = [...builtInSources, ...builtInDestinations];
  const ids = new Set(connectors.map(({ id }) => id));
  const activations = builtInActivations.filter(({ id }) => !ids.has(id));
  return [...connectors, ...activations].map(toDefinition);
}

const typeOf = {
  source: "source",
  destination: "destination",
  activation: "row_destination",
} as const;

const toDefinition = (connector: BuiltInConnector): ConnectorDefinition => ({
  id: connector.id,
  name: connector.name,
  title: `${connector.title}: ${connector.summary}`,
  type: typeOf[connector.kind],
  category: connector.category,
  releaseStage: connector.stage,
  documentationUrl: connector.documentationUrl ?? null,
  aliases: connector.aliases,
  reference: connector.reference,
  namedSettings: [],
  credentialPath: "/credentials",
  oauthPath: "/credentials/source/oauth/start",
  ...connector.control,
});

/**
 * In the form of a source's, for what looks at spec and authentication. Where it sends to is a
 * setting, and no part of a credential.
 */
const toManifest = ({ id, version, title, spec, egress }: ActivationManifest): Manifest => ({
  id,
  version,
  title,
  spec,
  egress:
    egress.kind === "postgres"
      ? egress
      : {
          ...egress,
          baseUrl: "",
          auth: egress.signing ? signedWith(egress.signing.secret) : egress.auth,
        },
});

const signedWith = (field: string) => [
  { type: "headers", headers: { "webhook-signature": { prefix: "v1,", field } } } as const,
];

/** Loads for each definition once; what failed is tried again. */
function once<T>(load: (definition: ConnectorDefinition) => Promise<T>) {
  const loading = new Map<string, Promise<T>>();
  return (definition: ConnectorDefinition): Promise<T> => {
    const known = loading.get(definition.id);
    if (known) return known;
    const loaded = load(definition);
    loading.set(definition.id, loaded);
    loaded.catch(() => loading.delete(definition.id));
    return loaded;
  };
}

/**
 * Since when ids of old configurations are old: this API has never given one out (RFC 9745). They
 * stay accepted, so there is no Sunset.
 */
const oldSince = `@${Date.UTC(2026, 10, 21) / 1_000}`;

/**
 * The connector that a request names. An id of old saved configurations is accepted; a header of
 * the answer tells.
 * @throws not_found
 */
export function namedConnector(
  { services, setHeader }: Pick<OperationContext, "services" | "setHeader">,
  idOrAlias: string,
): ConnectorDefinition {
  const definition = services.connectors.get(idOrAlias);
  if (idOrAlias !== definition.id) {
    setHeader("deprecation", oldSince);
    setHeader("link", `<${basePath}/docs>; rel="deprecation"; type="text/html"`);
  }
  return definition;
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
  if (!(await isEnabled(db, id)))
    throw new ControlError("connector_disabled", { connector_id: id });
}
