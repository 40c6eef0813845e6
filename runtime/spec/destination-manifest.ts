/** The declarations of the connectors that run in the host's process, checked, as plain data. */
import type { Activation, ActivationEgress } from "../contract/activation.ts";
import {
  type Destination,
  type DestinationEgress,
  type DestinationSyncMode,
  destinationSyncModes,
} from "../contract/destination.ts";
import { ConnectorError } from "../contract/errors.ts";
import { isJsonObject, type JsonObject } from "../contract/json.ts";
import { isSecret } from "../contract/spec.ts";
import {
  type EgressField,
  egressFields,
  identifierFaults,
  mustBeSecret,
  schemaOf,
} from "./egress-fields.ts";
import { unreachableSecret } from "./secret-fields.ts";
import { compileSchema } from "./validation.ts";

interface SharedManifest<Egress> {
  readonly id: string;
  readonly version: string;
  readonly title: string;
  readonly documentationUrl?: string;
  readonly spec: JsonObject;
  readonly egress: Egress;
}

export interface DestinationManifest extends SharedManifest<DestinationEgress> {
  readonly syncModes: readonly DestinationSyncMode[];
  /** One writer at a time can have it open. */
  readonly isExclusive: boolean;
  /** Between the beginnings of two rounds of a pipeline that follows a log. */
  readonly minRoundMs: number;
  /** It can find rows that the source has no more. */
  readonly comparesKeys: boolean;
  /** Reverse ETL can read from it. */
  readonly hasQuery: boolean;
}

export interface ActivationManifest extends SharedManifest<ActivationEgress> {
  readonly maxBatchRows: number;
  /** Its check asks the provider: when it succeeds, the credential works. */
  readonly hasCheck: boolean;
}

/** Largest batch that an activation may ask for. */
const maxRows = 10_000;

/** A day. */
const maxRoundGapMs = 86_400_000;

/** The differences between the kinds of module. */
const kinds = {
  destination: {
    definer: "defineDestination",
    verbs: ["check", "write"],
    egress: ["postgres", "file", "s3"],
    egressProblem: "must be postgres(…), localFile(…) or s3Bucket(…)",
  },
  activation: {
    definer: "defineActivation",
    verbs: ["objects", "write"],
    egress: ["postgres", "http"],
    egressProblem: "must be activationHttp(…) or postgres(…)",
  },
} as const;

/**
 * Checks the default export of a destination's module.
 * @throws CONNECTOR_INVALID naming the first fault
 */
export function describeDestination(exported: unknown): DestinationManifest {
  const shared = describeModule<DestinationEgress>(exported, "destination");
  const destination = exported as Destination;
  const { syncModes, isExclusive = false, minRoundMs = 0, compareKeys, query } = destination;
  require(Array.isArray(syncModes) && syncModes.length > 0, "syncModes", "must list at least one");
  require(syncModes.every((mode) =>
    destinationSyncModes.includes(mode),
  ), "syncModes", `must be of ${destinationSyncModes.join(", ")}`);
  const isGap = Number.isInteger(minRoundMs) && minRoundMs >= 0 && minRoundMs <= maxRoundGapMs;
  require(isGap, "minRoundMs", `must be 0 to ${maxRoundGapMs}`);
  return {
    ...shared,
    syncModes,
    isExclusive,
    minRoundMs,
    comparesKeys: typeof compareKeys === "function",
    hasQuery: typeof query === "function",
  };
}

/**
 * Checks the default export of an activation's module.
 * @throws CONNECTOR_INVALID naming the first fault
 */
export function describeActivation(exported: unknown): ActivationManifest {
  const shared = describeModule<ActivationEgress>(exported, "activation");
  const { maxBatchRows, check } = exported as Activation;
  const isFitting = Number.isInteger(maxBatchRows) && maxBatchRows >= 1 && maxBatchRows <= maxRows;
  require(isFitting, "maxBatchRows", `must be 1 to ${maxRows}`);
  return { ...shared, maxBatchRows, hasCheck: typeof check === "function" };
}

function describeModule<Egress extends DestinationEgress | ActivationEgress>(
  exported: unknown,
  kind: keyof typeof kinds,
): SharedManifest<Egress> {
  const { definer, verbs, egress: egressKinds, egressProblem } = kinds[kind];
  require(isJsonObject(exported), "default export", `is missing: export default ${definer}({…})`);
  const module = exported as SharedManifest<Egress> & Readonly<Record<string, unknown>>;
  const { id, version, title, documentationUrl, spec, egress } = module;
  require(/^conn_[a-z0-9_]{1,60}$/.test(
    String(id),
  ), "id", "must be conn_ and small letters, digits or _");
  require(/^\d+\.\d+\.\d+/.test(String(version)), "version", "must be a semantic version");
  require(typeof title === "string" && title !== "", "title", "must be a string");
  require(isJsonObject(spec), "spec", "must be a TypeBox object");
  for (const verb of verbs) require(typeof module[verb] === "function", verb, "must be a function");
  const plainSpec = toPlainSpec(spec);
  require((egressKinds as readonly string[]).includes(egress?.kind), "egress", egressProblem);
  requireFields(plainSpec, egress);
  return {
    id,
    version,
    title,
    ...(documentationUrl === undefined ? {} : { documentationUrl }),
    spec: plainSpec,
    egress,
  };
}

function require(holds: boolean, path: string, problem: string): void {
  if (!holds) throw new ConnectorError("CONNECTOR_INVALID", { path, problem });
}

function toPlainSpec(spec: object): JsonObject {
  const plain = JSON.parse(JSON.stringify(spec)) as JsonObject;
  try {
    compileSchema(plain);
  } catch {
    require(false, "spec", "is not a valid JSON Schema");
  }
  const lost = unreachableSecret(plain);
  require(lost === undefined, `spec.${lost}`, "holds a secret where only properties may");
  return plain;
}

/** Settings that the egress names must be declared, and those that authenticate must be secret. */
function requireFields(spec: JsonObject, egress: DestinationEgress | ActivationEgress): void {
  for (const { field, isSecret: isHidden } of fieldsOf(egress)) {
    const schema = schemaOf(spec, field);
    const path = `spec.properties.${field}`;
    require(schema !== undefined, path, "is used by the egress but not declared");
    require(!isHidden || isSecret(schema ?? {}), path, mustBeSecret);
  }
  const [fault] = egress.kind === "http" ? identifierFaults(spec, egress.auth) : [];
  if (fault) require(false, fault.path, fault.problem);
}

function fieldsOf(egress: DestinationEgress | ActivationEgress): EgressField[] {
  if (egress.kind === "file") return [{ field: egress.name, isSecret: false }];
  if (egress.kind === "s3") {
    const { kind: _, secretAccessKey, sessionToken, ...open } = egress;
    return [
      ...Object.values(open).map((field) => ({ field, isSecret: false })),
      { field: secretAccessKey, isSecret: true },
      ...(sessionToken === undefined ? [] : [{ field: sessionToken, isSecret: true }]),
    ];
  }
  if (egress.kind === "postgres" || !egress.signing) return egressFields(egress);
  return [...egressFields(egress), { field: egress.signing.secret, isSecret: true }];
}
