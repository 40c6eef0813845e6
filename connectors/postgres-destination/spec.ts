import type { PostgresEgress } from "svc-connectors";
import { type PublicConfig, secret, Type } from "svc-connectors";
import type { DestinationContext } from "svc-connectors/destination";

export const spec = Type.Object({
  host: Type.String({ title: "Host", description: "Name or address of the server.", minLength: 1, maxLength: 253 }),
  port: Type.Optional(
    Type.Integer({ title: "Port", description: "Port of the server.", default: 5432, minimum: 1, maximum: 65535 }),
  ),
  database: Type.String({ title: "Database", description: "Name of the database.", minLength: 1, maxLength: 63 }),
  schema: Type.Optional(
    Type.String({
      title: "Schema",
      description: "Where the tables are made, with the case that it has. Made when it is missing.",
      default: "public",
      minLength: 1,
      maxLength: 63,
    }),
  ),
  username: Type.String({
    title: "Username",
    description: "A role that may create schemas in the database, or owns the schema and `_svc`.",
    minLength: 1,
    maxLength: 63,
  }),
  password: secret(Type.String({ title: "Password", description: "Password of the role.", minLength: 1 })),
  ssl_mode: Type.Optional(
    Type.Enum(["disable", "allow", "prefer", "require", "verify-ca", "verify-full"], {
      type: "string",
      title: "SSL mode",
      description:
        "As in libpq. prefer encrypts where the server can; require always; verify-ca also checks who issued the certificate, verify-full also its host name.",
      default: "prefer",
    }),
  ),
  ssl_root_certificate: Type.Optional(
    Type.String({
      title: "SSL root certificate",
      description: "PEM of the authority to trust for verify-ca and verify-full, instead of the well-known ones.",
      multiline: true,
    }),
  ),
});

/** The configuration as it arrives: the host has filled in every default. */
export type Config = Required<PublicConfig<typeof spec>>;
export type PostgresContext = DestinationContext<Config, PostgresEgress>;
