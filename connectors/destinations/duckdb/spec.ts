import { type PublicConfig, Type, withDefault } from "svc-connectors";
import type { FileContext } from "svc-connectors/destination";

export const spec = Type.Object({
  file: Type.String({
    title: "File",
    description:
      "Name of the database: small letters, digits, - and _. It is a file in the service's folder for warehouses.",
    pattern: "^[a-z0-9][a-z0-9_-]{0,62}$",
    examples: ["warehouse"],
  }),
  schema: withDefault(
    Type.String({
      title: "Schema",
      description: "Schema of tables whose pipeline does not name one.",
      minLength: 1,
      maxLength: 63,
    }),
    "main",
  ),
});

export type Config = PublicConfig<typeof spec>;
export type DuckdbContext = FileContext<Config>;
