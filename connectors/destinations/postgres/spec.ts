import type { PostgresEgress } from "svc-connectors";
import { type PublicConfig, postgresSettings, Type, withDefault } from "svc-connectors";
import type { DestinationContext } from "svc-connectors/destination";

export const spec = Type.Object({
  ...postgresSettings(
    "A role that may create schemas in the database, or owns the schema and `_svc`.",
  ),
  schema: withDefault(
    Type.String({
      title: "Schema",
      description: "Where the tables are made, with the case that it has. Made when it is missing.",
      minLength: 1,
      maxLength: 63,
    }),
    "public",
  ),
});

export type Config = PublicConfig<typeof spec>;
export type PostgresContext = DestinationContext<Config, PostgresEgress>;
