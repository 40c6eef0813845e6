/**
 * One active pipeline for what a source names for one reader alone (a replication slot): of two,
 * each would take the other's changes. The second one is refused when it is made or resumed, or
 * when its source names another one.
 */
import { sql } from "kysely";
import { isJsonObject, type JsonObject, type JsonValue, type Manifest } from "svc-connectors/host";
import type { OperationContext } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import { exclusiveSettingsOf } from "../contract/secret-settings.ts";

type Ctx = Pick<OperationContext, "db" | "services" | "workspaceId">;

/** A source as it is, or as it will be. */
export interface SourceReading {
  readonly connector_id: string;
  readonly credential_id: string;
  readonly configuration: unknown;
  /** The pipeline that will read it; undefined: it is not made yet. */
  readonly pipelineId?: string | undefined;
  /** The source that is changed: its own pipelines read it already. */
  readonly sourceId?: string | undefined;
}

/** A thing that is named: where, by which setting, and how it is called. */
interface Named {
  readonly setting: readonly string[];
  readonly name: string;
  /** Equal texts are one thing. */
  readonly thing: string;
  /** The statement that removes it at the source. */
  readonly release: string | undefined;
}

/** A source that is changed, where an active pipeline reads it. */
export async function readingOfChange(
  { db }: Pick<Ctx, "db">,
  sourceId: string,
  changed: SourceReading,
): Promise<SourceReading | undefined> {
  const pipeline = await db
    .selectFrom("pipelines")
    .select("id")
    .where("source_id", "=", sourceId)
    .where("status", "=", "active")
    .executeTakeFirst();
  return pipeline && { ...changed, sourceId };
}

/** @throws source_in_use naming the setting, and the pipeline when it is of the own workspace */
export async function requireOnlyReader(ctx: Ctx, reading: SourceReading): Promise<void> {
  for (const { setting, thing } of await namedBy(ctx, reading))
    await requireFree(ctx, reading, setting, thing);
}

/** As {@link requireOnlyReader}, and nobody else begins to read it until the transaction ends. */
export async function holdOnlyReader(ctx: Ctx, reading: SourceReading): Promise<void> {
  for (const { setting, thing } of await namedBy(ctx, reading)) {
    await sql`SELECT pg_advisory_xact_lock(hashtextextended(${thing}, 0))`.execute(ctx.db);
    await requireFree(ctx, reading, setting, thing);
  }
}

async function requireFree(
  ctx: Ctx,
  reading: SourceReading,
  setting: readonly string[],
  thing: string,
): Promise<void> {
  const other = await otherReader(ctx, reading, setting, thing);
  if (!other) return;
  throw new ControlError("source_in_use", {
    setting: setting.join("."),
    pipeline_id: other.workspace_id === ctx.workspaceId ? other.id : null,
  });
}

/** Names in the reading that no active pipeline reads. */
export async function unreadBy(ctx: Ctx, reading: SourceReading): Promise<readonly Named[]> {
  const unread: Named[] = [];
  for (const named of await namedBy(ctx, reading))
    if (!(await otherReader(ctx, reading, named.setting, named.thing))) unread.push(named);
  return unread;
}

/** Another active pipeline that names it. */
async function otherReader(
  { db, services }: Ctx,
  { connector_id, pipelineId, sourceId }: SourceReading,
  setting: readonly string[],
  thing: string,
): Promise<{ readonly id: string; readonly workspace_id: string } | undefined> {
  const manifest = await manifestOf(services, connector_id);
  const others = await db
    .selectFrom("pipelines")
    .innerJoin("sources", "sources.id", "pipelines.source_id")
    .innerJoin("credentials", "credentials.id", "sources.credential_id")
    .select([
      "pipelines.id",
      "pipelines.workspace_id",
      "sources.configuration",
      "credentials.metadata",
    ])
    .where("sources.connector_id", "=", connector_id)
    .where("pipelines.status", "=", "active")
    .$if(pipelineId !== undefined, (rows) => rows.where("pipelines.id", "!=", pipelineId ?? ""))
    .$if(sourceId !== undefined, (rows) => rows.where("sources.id", "!=", sourceId ?? ""))
    .where(
      sql<boolean>`(sources.configuration || credentials.metadata) #>> ${setting}::text[] IS NOT NULL`,
    )
    .orderBy("pipelines.created_at")
    .execute();
  return others.find(
    ({ configuration, metadata }) =>
      thingNamed(manifest, setting, settingsOf(configuration, metadata)) === thing,
  );
}

async function namedBy(
  { db, services }: Ctx,
  { connector_id, credential_id, configuration }: SourceReading,
): Promise<readonly Named[]> {
  const manifest = await manifestOf(services, connector_id);
  const paths = exclusiveSettingsOf(manifest.spec);
  if (paths.length === 0) return [];
  const credential = await db
    .selectFrom("credentials")
    .select("metadata")
    .where("id", "=", credential_id)
    .executeTakeFirst();
  const settings = settingsOf(configuration, credential?.metadata);
  return paths.flatMap(({ path: setting, release }) => {
    const thing = thingNamed(manifest, setting, settings);
    if (thing === undefined) return [];
    const name = String(nameAt(setting, settings));
    return [{ setting, name, thing, release: release?.replaceAll("{}", () => name) }];
  });
}

const manifestOf = ({ connectors }: Ctx["services"], connectorId: string): Promise<Manifest> =>
  connectors.manifest(connectors.get(connectorId));

/** Settings that go with the secrets count over the source's. */
const settingsOf = (configuration: unknown, metadata: unknown): JsonObject => ({
  ...(configuration as JsonObject),
  ...(metadata as JsonObject | null | undefined),
});

const nameAt = (setting: readonly string[], settings: JsonObject) =>
  setting.reduce<JsonValue | undefined>(
    (around, part) => (isJsonObject(around) ? around[part] : undefined),
    settings,
  );

function thingNamed(
  { id, egress, spec }: Manifest,
  setting: readonly string[],
  settings: JsonObject,
): string | undefined {
  const name = nameAt(setting, settings);
  if (name === undefined || name === null) return undefined;
  const properties = (spec.properties ?? {}) as Readonly<Record<string, { default?: JsonValue }>>;
  const textOf = (field: string) =>
    String(settings[field] ?? properties[field]?.default ?? "").toLowerCase();
  const place =
    egress.kind === "http"
      ? [typeof egress.baseUrl === "string" ? egress.baseUrl : textOf(egress.baseUrl.field)]
      : [textOf(egress.host), textOf(egress.port)];
  return JSON.stringify([id, ...place, setting, name]);
}
