import type { Activation, ActivationEgress } from "../contract/activation.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { JsonObject } from "../contract/json.ts";
import { isSecret } from "../contract/spec.ts";
import { unreachableSecret } from "./secret-fields.ts";
import { compileSchema } from "./validation.ts";

/** The declaration of an activation connector as plain data. */
export interface ActivationManifest {
  readonly id: string;
  readonly version: string;
  readonly title: string;
  readonly documentationUrl?: string;
  readonly spec: JsonObject;
  readonly egress: ActivationEgress;
  readonly maxBatchRows: number;
}

/** Largest batch that an activation may ask for. */
const mostRows = 10_000;

/**
 * Checks the default export of an activation's module.
 * @throws CONNECTOR_INVALID naming the first fault
 */
export function describeActivation(exported: unknown): ActivationManifest {
  const require = (holds: boolean, path: string, problem: string) => {
    if (!holds) throw new ConnectorError("CONNECTOR_INVALID", { path, problem });
  };
  const isObject = (value: unknown) => typeof value === "object" && value !== null;
  const one = exported as Partial<Activation> | undefined;
  require(isObject(one), "default export", "is missing: export default defineActivation({…})");
  const { id, version, title, documentationUrl, spec, egress, maxBatchRows } = one as Activation;
  require(/^conn_[a-z0-9_]{1,60}$/.test(
    String(id),
  ), "id", "must be conn_ and small letters, digits or _");
  require(/^\d+\.\d+\.\d+/.test(String(version)), "version", "must be a semantic version");
  require(typeof title === "string" && title !== "", "title", "must be a string");
  require(isObject(spec), "spec", "must be a TypeBox object");
  require(Number.isInteger(maxBatchRows) &&
    maxBatchRows >= 1 &&
    maxBatchRows <= mostRows, "maxBatchRows", `must be 1 to ${mostRows}`);
  for (const verb of ["objects", "write"] as const)
    require(typeof one?.[verb] === "function", verb, "must be a function");
  const plainSpec = JSON.parse(JSON.stringify(spec)) as JsonObject;
  try {
    compileSchema(plainSpec);
  } catch {
    require(false, "spec", "is not a valid JSON Schema");
  }
  const lost = unreachableSecret(plainSpec);
  require(lost === undefined, `spec.${lost}`, "holds a secret where only properties may");
  require(egress?.kind === "http" ||
    egress?.kind === "postgres", "egress", "must be http(…) or postgres(…)");
  const properties = (plainSpec.properties ?? {}) as { readonly [name: string]: JsonObject };
  for (const { field, mustBeSecret } of fieldsOf(egress)) {
    const schema = properties[field];
    require(schema !==
      undefined, `spec.properties.${field}`, "is used by the egress but not declared");
    require(!mustBeSecret ||
      (schema !== undefined &&
        isSecret(schema)), `spec.properties.${field}`, "must be marked secret(…)");
  }
  return {
    id,
    version,
    title,
    ...(documentationUrl === undefined ? {} : { documentationUrl }),
    spec: plainSpec,
    egress,
    maxBatchRows,
  };
}

function fieldsOf(
  egress: ActivationEgress,
): { readonly field: string; readonly mustBeSecret: boolean }[] {
  const open = (field: string) => ({ field, mustBeSecret: false });
  const hidden = (field: string) => ({ field, mustBeSecret: true });
  if (egress.kind === "postgres") {
    const { host, port, database, username, password, sslMode } = egress;
    return [...[host, port, database, username, sslMode].map(open), hidden(password)];
  }
  const base = typeof egress.baseUrl === "string" ? [] : [open(egress.baseUrl.field)];
  return egress.signing ? [...base, hidden(egress.signing.secret)] : base;
}
