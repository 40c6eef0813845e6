import { type PublicConfig, secret, Type, withDefault } from "svc-connectors";
import type { StoreContext } from "svc-connectors/destination";
import { layoutSettings } from "../files/spec.ts";

export const spec = Type.Object({
  bucket: Type.String({
    title: "Bucket",
    description: "Its name; it has to be there.",
    minLength: 3,
    maxLength: 63,
    examples: ["acme-lake"],
  }),
  prefix: withDefault(
    Type.String({
      title: "Prefix",
      description: "Path below which everything is; letters, digits, - and _, with / between.",
      maxLength: 200,
      examples: ["svc/production"],
    }),
    "",
  ),
  region: withDefault(
    Type.String({ title: "Region", description: "Of the bucket.", minLength: 1, maxLength: 40 }),
    "us-east-1",
  ),
  endpoint: withDefault(
    Type.String({
      title: "Endpoint",
      description:
        "Of a store that is not Amazon's: https:// and a host name, with a port if it is not 443. Empty: Amazon S3.",
      maxLength: 300,
      examples: ["https://minio.example.com:9000"],
    }),
    "",
  ),
  access_key_id: Type.String({
    title: "Access key ID",
    description: "Of a user that may list the bucket, and read, write and delete its objects.",
    minLength: 1,
    maxLength: 128,
  }),
  secret_access_key: secret(
    Type.String({
      title: "Secret access key",
      description: "Stays in the host.",
      minLength: 1,
      maxLength: 256,
    }),
  ),
  session_token: Type.Optional(
    secret(
      Type.String({
        title: "Session token",
        description: "Of a key that ends by itself. Stays in the host.",
        maxLength: 4096,
      }),
    ),
  ),
  encryption: withDefault(
    Type.Enum(["bucket", "sse-s3", "sse-kms"], {
      title: "Encryption",
      description:
        "How the store encrypts new objects: as the bucket says, with keys of its own, or with a key of AWS KMS.",
    }),
    "bucket",
  ),
  kms_key_id: withDefault(
    Type.String({
      title: "KMS key",
      description:
        "Id, ARN or alias of the key of sse-kms. Empty: the one that AWS has made for the account.",
      pattern: "^[A-Za-z0-9:/_-]*$",
      maxLength: 2048,
      examples: ["arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"],
    }),
    "",
  ),
  ...layoutSettings,
});

export type Config = PublicConfig<typeof spec>;
export type S3Context = StoreContext<Config>;
