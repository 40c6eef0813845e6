/** How the store is asked to encrypt new objects. */
import type { S3Egress } from "../contract/destination.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { JsonObject } from "../contract/json.ts";
import { configValue } from "./config-field.ts";

/** An id, an ARN or an alias. */
const keyName = /^[A-Za-z0-9:/_-]{1,2048}$/;

const invalid = (path: string, problem: string) =>
  new ConnectorError("CONFIG_INVALID", { path, problem });

/**
 * The headers of PutObject and CreateMultipartUpload; parts of an upload have none of their own.
 * @throws CONFIG_INVALID
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/specifying-kms-encryption.html (read
 *   2026-11)
 */
export function encryptionOf(
  { encryption = "", kmsKeyId = "" }: S3Egress,
  config: JsonObject,
): Readonly<Record<string, string>> {
  const kind = configValue(config, encryption) ?? "bucket";
  const key = configValue(config, kmsKeyId) ?? "";
  if (key !== "" && kind !== "sse-kms")
    throw invalid(kmsKeyId, `is for the encryption sse-kms, and ${encryption} is ${String(kind)}`);
  if (kind === "bucket") return {};
  if (kind === "sse-s3") return { "x-amz-server-side-encryption": "AES256" };
  if (kind !== "sse-kms") throw invalid(encryption, "must be bucket, sse-s3 or sse-kms");
  if (key !== "" && !keyName.test(String(key)))
    throw invalid(kmsKeyId, "is not the id, ARN or alias of a key");
  return {
    "x-amz-server-side-encryption": "aws:kms",
    ...(key === "" ? {} : { "x-amz-server-side-encryption-aws-kms-key-id": String(key) }),
  };
}
