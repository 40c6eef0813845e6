/** Where the bucket of the settings is. */
import type { S3Egress } from "../contract/destination.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { JsonObject } from "../contract/json.ts";
import { configText, configValue } from "./config-field.ts";

const bucketName = /^(?!.*\.\.)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const regionName = /^[a-z0-9-]{1,40}$/;
const endpointUrl =
  /^https:\/\/((?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?)(?::(\d{1,5}))?\/?$/i;

const invalid = (path: string, problem: string) =>
  new ConnectorError("CONFIG_INVALID", { path, problem });

/**
 * Where the bucket is: its own name below the vendor's, or a path of the endpoint. The name is
 * looked up, and the address judged, when it is dialled.
 * @throws CONFIG_INVALID
 */
export function baseOf(declaration: S3Egress, config: JsonObject, region: string): URL {
  const bucket = configText(config, declaration.bucket);
  if (!bucketName.test(bucket)) throw invalid(declaration.bucket, "is not the name of a bucket");
  if (!regionName.test(region)) throw invalid(declaration.region, "is not the name of a region");
  const endpoint = configValue(config, declaration.endpoint);
  if (endpoint === undefined || endpoint === "")
    return bucket.includes(".")
      ? new URL(`https://s3.${region}.amazonaws.com/${bucket}/`)
      : new URL(`https://${bucket}.s3.${region}.amazonaws.com/`);
  const [, host, port = "443"] = endpointUrl.exec(String(endpoint)) ?? [];
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535)
    throw invalid(
      declaration.endpoint,
      "must be https:// and a host name, with a port if it is not 443",
    );
  return new URL(`https://${host.toLowerCase()}:${port}/${bucket}/`);
}

/** Below which all objects are. @throws CONFIG_INVALID */
export function prefixOf(declaration: S3Egress, config: JsonObject): string {
  const given = configValue(config, declaration.prefix);
  if (given === undefined || given === "") return "";
  const isPath = /^[A-Za-z0-9_-]+(?:\/[A-Za-z0-9_-]+)*$/.test(String(given));
  if (!isPath || String(given).length > 200)
    throw invalid(declaration.prefix, "must be letters, digits, - and _, with / between its parts");
  return `${given}/`;
}
