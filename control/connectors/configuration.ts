/** The checks that every setting of a source goes through before anything is asked or saved. */
import {
  ConnectorError,
  checkBaseUrl,
  isSecretName,
  type JsonObject,
  type JsonValue,
} from "svc-connectors/host";
import type { OperationContext } from "../contract/operation.ts";
import { ControlError, refuseField } from "../contract/reasons.ts";
import { safeName } from "../door/json-body.ts";
import type { AnyManifest } from "./registry.ts";

/**
 * Refuses secrets where settings belong. The message names the place, never the value.
 * @param declared settings of the connector that are no secrets, whatever they are called
 * @param credentialPath where the connector's secrets are taken
 * @param around the setting in which it stands; null within a list
 * @throws secret_not_allowed
 */
export function refuseSecrets(
  configuration: JsonValue,
  secretFields: readonly string[],
  path = "configuration",
  declared: readonly string[] = [],
  credentialPath = "/credentials",
  around: string | null = "",
): void {
  if (typeof configuration !== "object" || configuration === null) return;
  for (const [name, value] of Object.entries(configuration)) {
    const isNamed = around !== null && !Array.isArray(configuration);
    const setting = isNamed ? [around, name].filter((part) => part).join(".") : null;
    const isSecretSetting = setting !== null && secretFields.includes(setting);
    const isOpen = setting !== null && declared.includes(setting);
    const shown = Array.isArray(configuration) || isSecretSetting || isOpen ? name : safeName(name);
    const here = shown === undefined ? path : `${path}.${shown}`;
    const isNamedSo =
      isSecretSetting ||
      (!isOpen && (secretFields.includes(name) || isSecretName(name, "mention")));
    if (!Array.isArray(configuration) && isNamedSo) {
      throw refuseField(
        "secret_not_allowed",
        here,
        `is a secret: store it with POST ${credentialPath} and pass the credential_handle`,
      );
    }
    refuseSecrets(value, secretFields, here, declared, credentialPath, setting);
  }
}

/**
 * Refuses a setting that holds a secret which this request has met: one of the credential that the
 * settings are for. What can be read must not tell it.
 * @throws secret_not_allowed
 */
export function refuseSecretValues(
  { secrets }: Pick<OperationContext, "secrets">,
  settings: JsonObject,
  path = "",
): void {
  for (const [name, value] of Object.entries(settings)) {
    if (!secrets.contains(Buffer.from(JSON.stringify({ value })))) continue;
    const here = [path, safeName(name)].filter((part) => part).join(".");
    throw refuseField("secret_not_allowed", here, "holds a secret of the credential");
  }
}

/**
 * The setting in which the user enters a base URL; undefined: the connector knows where it lives.
 */
export function baseUrlField({ egress }: AnyManifest): string | undefined {
  return egress.kind === "http" && typeof egress.baseUrl !== "string"
    ? egress.baseUrl.field
    : undefined;
}

/** The base URL of a checked configuration; undefined where the connector has its own. */
export function baseUrlIn(configuration: JsonObject, manifest: AnyManifest): JsonValue | undefined {
  const field = baseUrlField(manifest);
  return field === undefined ? undefined : configuration[field];
}

/** @throws credential_mismatch when the secrets belong to another base URL */
export function requireBoundTo(
  { base_url }: { readonly base_url: string | null },
  baseUrl: JsonValue,
): void {
  if (base_url === null || base_url === baseUrl) return;
  const problem = "the credential is bound to another base URL";
  throw new ControlError("credential_mismatch", { problem });
}

/**
 * The configuration with its base URL in canonical form, where the connector lets the user enter
 * one. Nothing is looked up and nobody is asked. The credential may be bound to one base URL: its
 * secrets go nowhere else.
 * @param place the part of the request in which it was entered: "configuration", "metadata", or ""
 * for the body itself
 * @throws invalid_base_url, credential_mismatch
 */
export function checkBaseUrlOf(
  ctx: Pick<OperationContext, "services">,
  manifest: AnyManifest,
  configuration: JsonObject,
  place: string,
  credential?: { readonly base_url: string | null },
): JsonObject {
  const { egress } = manifest;
  if (egress.kind !== "http" || typeof egress.baseUrl === "string") return configuration;
  const { field, pathEnd, approvedHosts = [] } = egress.baseUrl;
  const isCloud = configuration.connection_method === "cloud";
  const hosts = isCloud
    ? approvedHosts
    : [...approvedHosts, ...ctx.services.settings.network.approvedHosts];
  const path = place === "" ? field : `${place}.${field}`;
  const refuse = (rule: string, reason = rule, message = "is refused") =>
    new ControlError("invalid_base_url", { rule, errors: [{ path, reason, message }] });
  if (configuration[field] === undefined || configuration[field] === null)
    throw refuse("syntax", "missing", "is missing");
  let canonical: string;
  try {
    canonical = checkBaseUrl(configuration[field], { approvedHosts: hosts, pathEnd, field });
  } catch (error) {
    if (error instanceof ConnectorError && error.code === "BASE_URL_REFUSED")
      throw refuse(String(error.details.rule));
    throw error;
  }
  if (isCloud && new URL(canonical).pathname !== pathEnd) throw refuse("path");
  if (credential) requireBoundTo(credential, canonical);
  return { ...configuration, [field]: canonical };
}
