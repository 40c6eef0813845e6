import { type DatabaseContext, type PublicConfig, secret, Type } from "svc-connectors";

const Pattern = Type.String({ minLength: 1, maxLength: 200 });

export const spec = Type.Object({
  host: Type.String({ title: "Host", description: "Name or address of the server.", minLength: 1, maxLength: 253 }),
  port: Type.Optional(
    Type.Integer({ title: "Port", description: "Port of the server.", default: 5432, minimum: 1, maximum: 65535 }),
  ),
  database: Type.String({ title: "Database", description: "Name of the database.", minLength: 1, maxLength: 63 }),
  schemas: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 63 }), {
      title: "Schemas",
      description: "Schemas to read, with the case that they have. An empty list stands for all of them.",
      default: ["public"],
      maxItems: 1000,
    }),
  ),
  username: Type.String({
    title: "Username",
    description: "A role that may only read.",
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
  include_tables: Type.Optional(
    Type.Array(Pattern, {
      title: "Include tables",
      description:
        "Patterns of the form schema.table with * and ?. Only tables that match one are listed; empty = all.",
      examples: [["public.order*", "sales.*"]],
      default: [],
      maxItems: 1000,
    }),
  ),
  exclude_tables: Type.Optional(
    Type.Array(Pattern, {
      title: "Exclude tables",
      description: "Patterns of the form schema.table with * and ?. Tables that match one are not listed.",
      examples: [["*.tmp_*"]],
      default: [],
      maxItems: 1000,
    }),
  ),
  page_size: Type.Optional(
    Type.Integer({
      title: "Page size",
      description: "Most rows per page. Pages of wide rows are smaller: about 8 MiB each.",
      default: 10_000,
      minimum: 1,
      maximum: 100_000,
    }),
  ),
});

/** The configuration as it arrives: the host has filled in every default. */
export type Config = Required<PublicConfig<typeof spec>>;
export type PostgresContext = DatabaseContext<Config>;
