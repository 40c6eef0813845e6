import type {
  Destination,
  DestinationEgress,
  DestinationSyncMode,
} from "../contract/destination.ts";
import { destinationSyncModes } from "../contract/destination.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { JsonObject } from "../contract/json.ts";
import { unreachableSecret } from "./secret-fields.ts";
import { compileSchema } from "./validation.ts";

/** What a destination says of itself, as plain data. */
export interface DestinationManifest {
  readonly id: string;
  readonly version: string;
  readonly title: string;
  readonly documentationUrl?: string;
  readonly spec: JsonObject;
  readonly egress: DestinationEgress;
  readonly syncModes: readonly DestinationSyncMode[];
  /** One writer at a time can have it open. */
  readonly isExclusive: boolean;
  /** Reverse ETL can read from it. */
  readonly hasQuery: boolean;
}

/**
 * Checks the default export of a destination's module.
 * @throws CONNECTOR_INVALID naming the first fault
 */
export function describeDestination(exported: unknown): DestinationManifest {
  const require = (holds: boolean, path: string, problem: string) => {
    if (!holds) throw new ConnectorError("CONNECTOR_INVALID", { path, problem });
  };
  const one = exported as Partial<Destination> | undefined;
  require(isObject(one), "default export", "is missing: export default defineDestination({…})");
  const {
    id,
    version,
    title,
    documentationUrl,
    spec,
    egress,
    syncModes,
    isExclusive = false,
  } = one as Destination;
  require(/^conn_[a-z0-9_]{1,60}$/.test(
    String(id),
  ), "id", "must be conn_ and small letters, digits or _");
  require(/^\d+\.\d+\.\d+/.test(String(version)), "version", "must be a semantic version");
  require(typeof title === "string" && title !== "", "title", "must be a string");
  require(isObject(spec), "spec", "must be a TypeBox object");
  require(Array.isArray(syncModes) && syncModes.length > 0, "syncModes", "must list at least one");
  require(syncModes.every((mode) =>
    destinationSyncModes.includes(mode),
  ), "syncModes", `must be of ${destinationSyncModes.join(", ")}`);
  for (const verb of ["check", "write"] as const)
    require(typeof one?.[verb] === "function", verb, "must be a function");
  const plainSpec = JSON.parse(JSON.stringify(spec)) as JsonObject;
  try {
    compileSchema(plainSpec);
  } catch {
    require(false, "spec", "is not a valid JSON Schema");
  }
  const lost = unreachableSecret(plainSpec);
  require(lost === undefined, `spec.${lost}`, "holds a secret where only properties may");
  const fields =
    egress?.kind === "file"
      ? [egress.name]
      : egress?.kind === "postgres"
        ? postgresFields(egress)
        : [];
  require(fields.length > 0, "egress", "must be postgres(…) or localFile(…)");
  const properties = (plainSpec.properties ?? {}) as JsonObject;
  for (const field of fields)
    require(field in
      properties, `spec.properties.${field}`, "is used by the egress but not declared");
  return {
    id,
    version,
    title,
    ...(documentationUrl === undefined ? {} : { documentationUrl }),
    spec: plainSpec,
    egress,
    syncModes,
    isExclusive,
    hasQuery: typeof one?.query === "function",
  };
}

const postgresFields = (egress: Extract<DestinationEgress, { kind: "postgres" }>) => [
  egress.host,
  egress.port,
  egress.database,
  egress.username,
  egress.password,
  egress.sslMode,
];

const isObject = (value: unknown) => typeof value === "object" && value !== null;
