/**
 * The entered parts of a credential, checked against what its connector asks for. Nothing of it is
 * ever repeated.
 */
import { compileSchema, copyJson, type JsonObject } from "svc-connectors/host";
import { Type } from "typebox";
import { baseUrlField, checkBaseUrlOf, refuseSecrets } from "../connectors/configuration.ts";
import type { AnyManifest } from "../connectors/registry.ts";
import type { OperationContext } from "../contract/operation.ts";
import { type FieldFault, refuseField, refuseFields } from "../contract/reasons.ts";
import {
  openSettingsOf,
  propertiesOf,
  secretFieldsOf,
  secretSettingsOf,
  withoutSecrets,
} from "../contract/secret-settings.ts";
import { safeName } from "../door/json-body.ts";

/** Longest secret in bytes: a private key has about 3 KiB. */
const maxSecretBytes = 8_192;

/** Secrets of a body by their names. What a value may be is told by {@link checkSecrets}. */
export const Secrets = Type.Unsafe<Readonly<Record<string, string>>>({
  type: "object",
  additionalProperties: { type: "string" },
  minProperties: 1,
  description:
    "The connector's secret settings, by the names in secret_fields of its spec: one within an object by its path, credentials.client_secret. They are never given back.",
});

/**
 * @param isWhole every secret that the connector needs must be there
 * @param place the part of the request in which they stand: "secrets", or "" for the body itself
 * @throws validation_failed with the places
 */
export function checkSecrets(
  manifest: AnyManifest,
  secrets: Readonly<Record<string, string>>,
  isWhole: boolean,
  place = "secrets",
): void {
  const known = secretSettingsOf(manifest.spec);
  const prefixes = headerPrefixesOf(manifest);
  const at = (name: string | undefined) => [place, name].filter((part) => part).join(".");
  const faults: FieldFault[] = Object.entries(secrets).flatMap(([name, value]) => {
    const setting = known.get(name);
    const path = at(setting ? name : safeName(name));
    if (!setting) return [{ path, reason: "unknown", message: notASecret([...known.keys()]) }];
    const isMultiline = setting.schema.multiline === true;
    const problem = problemOf(value, isMultiline) ?? headerProblemOf(value, prefixes.get(name));
    return problem === undefined ? [] : [{ path, reason: "form", message: problem }];
  });
  for (const [name, { isNeeded }] of isWhole ? known : [])
    if (isNeeded && !Object.hasOwn(secrets, name))
      faults.push({ path: at(name), reason: "missing", message: "is missing" });
  if (faults.length > 0) throw refuseFields("validation_failed", faults.slice(0, 20));
}

/** Who leaves out the object around a secret learns how it is called. */
function notASecret(known: readonly string[]): string {
  const inside = known.filter((name) => name.includes("."));
  const hint =
    inside.length === 0 ? "" : `: one within an object is named by its path, ${inside[0]}`;
  return `is not a secret of this connector${hint}`;
}

/** @param isMultiline a key file has lines */
function problemOf(value: string, isMultiline: boolean): string | undefined {
  if (value.trim() === "") return "must not be blank";
  if (Buffer.byteLength(value) > maxSecretBytes)
    return `must not be longer than ${maxSecretBytes} bytes`;
  const allowed = isMultiline ? /[\r\n\t]/g : /$^/g;
  if (!/\p{Cc}/u.test(value.replace(allowed, ""))) return undefined;
  return `must not hold ${isMultiline ? "" : "line breaks or other "}control characters`;
}

/** Secrets that requests carry in a header, each with what stands before it there: "Bearer ". */
function headerPrefixesOf({ egress }: AnyManifest): ReadonlyMap<string, string> {
  if (egress.kind !== "http") return new Map();
  const headers = egress.auth.flatMap((auth) =>
    auth.type === "headers" ? Object.values(auth.headers) : [],
  );
  return new Map(
    headers.flatMap(({ field, prefix }) => (typeof field === "string" ? [[field, prefix]] : [])),
  );
}

/** A header loses the spaces around its value, and carries little but ASCII unharmed (RFC 9110). */
function headerProblemOf(value: string, prefix: string | undefined): string | undefined {
  if (prefix === undefined) return undefined;
  if (value !== value.trim()) return "must not begin or end with white space";
  if (!/^[\x20-\x7e]*$/.test(value))
    return "must not hold other characters than those of ASCII: no HTTP header can carry them";
  const word = prefix.trim();
  return word !== "" && value.toLowerCase().startsWith(prefix.toLowerCase())
    ? `must stand without "${word}" before it: that is added`
    : undefined;
}

/** Settings that go with the secrets, as they are kept. */
export interface Metadata {
  readonly metadata: JsonObject;
  /** Canonical: the secrets are bound to it. Null: they go where the connector says. */
  readonly baseUrl: string | null;
}

/**
 * The settings that go with the secrets: ones of the connector, and no secret among them.
 * @throws secret_not_allowed, validation_failed, invalid_base_url
 */
export function checkMetadata(
  ctx: Pick<OperationContext, "services">,
  manifest: AnyManifest,
  entered: JsonObject,
): Metadata {
  const secrets = secretFieldsOf(manifest);
  refuseSecrets(entered, secrets, "metadata", openSettingsOf(manifest.spec));
  const schema = {
    type: "object",
    additionalProperties: false,
    properties: propertiesOf(withoutSecrets(manifest.spec)),
  };
  // In a copy: defaults are filled in, and what was not entered is the source's to choose.
  const fault = compileSchema(schema)(copyJson(entered)).at(0);
  if (fault) {
    const path = ["metadata", ...fault.path.split(".").filter((part) => safeName(part))].join(".");
    throw refuseField("validation_failed", path, fault.problem);
  }
  const field = baseUrlField(manifest);
  if (field === undefined || entered[field] === undefined)
    return { metadata: entered, baseUrl: null };
  const metadata = checkBaseUrlOf(ctx, manifest, entered, "metadata");
  return { metadata, baseUrl: String(metadata[field]) };
}
