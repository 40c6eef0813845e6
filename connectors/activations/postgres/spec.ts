import { type PostgresEgress, type PublicConfig, postgresSettings, Type } from "svc-connectors";
import type { ActivationContext } from "svc-connectors/destination";

export const spec = Type.Object({
  ...postgresSettings(
    "A role that may change the tables. For insert and append it may also create a table in their schema.",
  ),
});

export type Config = PublicConfig<typeof spec>;
export type PostgresContext = ActivationContext<Config, PostgresEgress>;
