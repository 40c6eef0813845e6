import { Type } from "typebox";
import { type PostgresEgress, postgres } from "./egress.ts";
import { secret, withDefault } from "./spec.ts";

/** One character at least that can be seen. */
const notBlank = "\\S";

/**
 * The settings of a connector that speaks to PostgreSQL, in libpq's words; a connector adds its own
 * beside them: `Type.Object({ ...postgresSettings("A role that may only read."), schemas: … })`,
 * with `egress: postgresServer()`.
 * @param role what the role of `username` has to be allowed, in a sentence for whoever fills in the
 * form
 */
export const postgresSettings = (role: string) => ({
  host: Type.String({
    title: "Host",
    description: "Name or address of the server.",
    pattern: notBlank,
    maxLength: 253,
  }),
  port: withDefault(
    Type.Integer({
      title: "Port",
      description: "Port of the server.",
      minimum: 1,
      maximum: 65535,
    }),
    5432,
  ),
  database: Type.String({
    title: "Database",
    description: "Name of the database.",
    pattern: notBlank,
    maxLength: 63,
  }),
  username: Type.String({ title: "Username", description: role, pattern: notBlank, maxLength: 63 }),
  password: secret(
    Type.String({ title: "Password", description: "Password of the role.", minLength: 1 }),
  ),
  ssl_mode: withDefault(
    Type.Enum(["disable", "allow", "prefer", "require", "verify-ca", "verify-full"], {
      type: "string",
      title: "SSL mode",
      description:
        "As in libpq. prefer encrypts where the server can; require always; verify-ca also checks who issued the certificate, verify-full also its host name.",
    }),
    "prefer",
  ),
  ssl_root_certificate: Type.Optional(
    Type.String({
      title: "SSL root certificate",
      description:
        "PEM of the authority to trust for verify-ca and verify-full, instead of the well-known ones.",
      multiline: true,
    }),
  ),
  tunnel_host: Type.Optional(
    Type.String({
      title: "SSH tunnel: host",
      description:
        "Name or address of an SSH server (bastion) through which the database is reached. Host and port of the database are then as that server sees them.",
      pattern: notBlank,
      maxLength: 253,
    }),
  ),
  tunnel_port: withDefault(
    Type.Integer({
      title: "SSH tunnel: port",
      description: "Port of the SSH server.",
      minimum: 1,
      maximum: 65535,
    }),
    22,
  ),
  tunnel_user: Type.Optional(
    Type.String({
      title: "SSH tunnel: user",
      description: "Whom to log in as. Forwarding to the database is all that it needs.",
      pattern: notBlank,
      maxLength: 63,
    }),
  ),
  tunnel_private_key: Type.Optional(
    secret(
      Type.String({
        title: "SSH tunnel: private key",
        description: "In the form of OpenSSH or PEM, without a passphrase.",
        minLength: 1,
        multiline: true,
      }),
    ),
  ),
  tunnel_password: Type.Optional(
    secret(
      Type.String({
        title: "SSH tunnel: password",
        description: "Where the server takes no key.",
        minLength: 1,
      }),
    ),
  ),
  tunnel_host_key: Type.Optional(
    Type.String({
      title: "SSH tunnel: host key",
      description:
        "Fingerprint of the SSH server's key (SHA256:…), or the public key. A server with another key gets nothing; without it the check shows the key that the server has.",
      pattern: notBlank,
      maxLength: 4096,
    }),
  ),
});

type Setting = keyof ReturnType<typeof postgresSettings>;

/**
 * Declares the PostgreSQL server that {@link postgresSettings} name.
 * @param more settings that the connector adds: see {@link PostgresEgress.replicationSlot}
 */
export const postgresServer = <const Slot extends string = never>(
  more: { readonly replicationSlot?: Slot } = {},
): PostgresEgress<Setting | Slot> =>
  postgres<Setting | Slot>({
    ...more,
    host: "host",
    port: "port",
    database: "database",
    username: "username",
    password: "password",
    sslMode: "ssl_mode",
    sslRootCertificate: "ssl_root_certificate",
    tunnel: {
      host: "tunnel_host",
      port: "tunnel_port",
      user: "tunnel_user",
      privateKey: "tunnel_private_key",
      password: "tunnel_password",
      hostKey: "tunnel_host_key",
    },
  });
