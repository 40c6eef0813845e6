/** What every setting of a source goes through before anything is asked or saved. */
import { ConnectorError, checkBaseUrl, type JsonObject, type JsonValue, type Manifest } from "svc-connectors/host";
import type { OperationContext } from "../contract/operation.ts";
import { ControlError, refuseField } from "../contract/reasons.ts";
import type { CredentialRow } from "../credentials/rows.ts";

/** Names under which people put secrets. */
const secretName = /(api[_-]?key|secret|token|password|passwd|authorization|private[_-]?key|credential(?!_handle))/i;

/**
 * Refuses secrets where settings belong. The message names the place, never the value.
 * @throws secret_not_allowed
 */
export function refuseSecrets(configuration: JsonValue, secretFields: readonly string[], path = "configuration"): void {
  if (typeof configuration !== "object" || configuration === null) return;
  for (const [name, value] of Object.entries(configuration)) {
    const here = `${path}.${name}`;
    if (!Array.isArray(configuration) && (secretFields.includes(name) || secretName.test(name))) {
      const shown = secretFields.includes(name) || /^[A-Za-z][A-Za-z_-]{0,39}$/.test(name) ? here : path;
      throw refuseField(
        "secret_not_allowed",
        shown,
        "is a secret: store it with POST /credentials and pass the credential_handle",
      );
    }
    refuseSecrets(value, secretFields, here);
  }
}

/**
 * The configuration with its base URL in canonical form, where the connector lets the user enter one. Nothing is looked up and
 * nobody is asked. The credential may be bound to one base URL: its secrets go nowhere else.
 * @throws invalid_base_url, credential_mismatch
 */
export function checkBaseUrlOf(
  ctx: OperationContext,
  manifest: Manifest,
  configuration: JsonObject,
  credential?: Pick<CredentialRow, "base_url">,
): JsonObject {
  const { egress } = manifest;
  if (egress.kind !== "http" || typeof egress.baseUrl === "string") return configuration;
  const { field, pathEnd, approvedHosts = [] } = egress.baseUrl;
  const isCloud = configuration.connection_method === "cloud";
  const hosts = isCloud ? approvedHosts : [...approvedHosts, ...ctx.services.settings.network.approvedHosts];
  const refuse = (rule: string) =>
    new ControlError("invalid_base_url", { rule, errors: [{ path: field, reason: rule, message: "is refused" }] });
  let canonical: string;
  try {
    canonical = checkBaseUrl(configuration[field], { approvedHosts: hosts, pathEnd, field });
  } catch (error) {
    if (error instanceof ConnectorError && error.code === "BASE_URL_REFUSED") throw refuse(String(error.details.rule));
    throw error;
  }
  if (isCloud && new URL(canonical).pathname !== pathEnd) throw refuse("path");
  if (credential && credential.base_url !== null && credential.base_url !== canonical) {
    throw new ControlError("credential_mismatch", { problem: "the credential is bound to another base URL" });
  }
  return { ...configuration, [field]: canonical };
}
