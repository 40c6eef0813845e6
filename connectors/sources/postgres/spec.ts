import {
  type DatabaseContext,
  type PublicConfig,
  postgresSettings,
  Type,
  withDefault,
} from "svc-connectors";
import { pageSettings, querySettings, tableSettings } from "svc-connectors/database";
import { replication } from "./replication/settings.ts";

export const spec = Type.Object({
  ...postgresSettings("A role that may only read."),
  schemas: withDefault(
    Type.Array(Type.String({ minLength: 1, maxLength: 63 }), {
      title: "Schemas",
      description:
        "Schemas to read, with the case that they have. An empty list stands for all of them.",
      maxItems: 1000,
    }),
    ["public"],
  ),
  ...tableSettings("Patterns of the form schema.table with * and ?.", {
    include: ["public.order*", "sales.*"],
    exclude: ["*.tmp_*"],
  }),
  ...querySettings("role"),
  replication: Type.Optional(replication),
  ...pageSettings(),
});

export type Config = PublicConfig<typeof spec>;
export type PostgresContext = DatabaseContext<Config>;
