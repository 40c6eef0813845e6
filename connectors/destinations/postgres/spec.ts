import type { PostgresEgress } from "svc-connectors";
import { type PublicConfig, postgresSettings, Type } from "svc-connectors";
import type { DestinationContext } from "svc-connectors/destination";

export const spec = Type.Object({
  ...postgresSettings(
    "A role that may create schemas in the database, or owns the schema and `_svc`.",
  ),
  schema: Type.Optional(
    Type.String({
      title: "Schema",
      description: "Where the tables are made, with the case that it has. Made when it is missing.",
      default: "public",
      minLength: 1,
      maxLength: 63,
    }),
  ),
});

/** The configuration as it arrives: the host has filled in every default. */
export type Config = Required<PublicConfig<typeof spec>>;
export type PostgresContext = DestinationContext<Config, PostgresEgress>;
