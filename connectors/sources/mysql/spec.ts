import { type DatabaseContext, mysqlSettings, type PublicConfig, Type } from "svc-connectors";
import { pageSettings, querySettings, tableSettings } from "svc-connectors/database";

export const spec = Type.Object({
  ...mysqlSettings("A user that may only read."),
  ...tableSettings("Patterns of names with * and ?, with the case that they have.", {
    include: ["order*", "customers"],
    exclude: ["tmp_*"],
  }),
  ...querySettings("user"),
  ...pageSettings(),
});

export type Config = PublicConfig<typeof spec>;
export type MysqlContext = DatabaseContext<Config>;
