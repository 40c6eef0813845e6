/** All migrations in their order. One that was released is never changed. */
import type { Migration } from "kysely/migration";
import * as control from "./0001-control.ts";

export const migrations: Readonly<Record<string, Migration>> = {
  "0001-control": control,
};
