import { type PublicConfig, Type } from "svc-connectors";
import type { FileContext } from "svc-connectors/destination";

export const spec = Type.Object({
  file: Type.String({
    title: "File",
    description:
      "Name of the database: small letters, digits, - and _. It is a file in the service's folder for warehouses.",
    pattern: "^[a-z0-9][a-z0-9_-]{0,62}$",
    examples: ["warehouse"],
  }),
  schema: Type.Optional(
    Type.String({
      title: "Schema",
      description: "Schema of tables whose pipeline does not name one.",
      default: "main",
      minLength: 1,
      maxLength: 63,
    }),
  ),
});

/** The configuration as it arrives: the host has filled in every default. */
export type Config = Required<PublicConfig<typeof spec>>;
export type DuckdbContext = FileContext<Config>;
