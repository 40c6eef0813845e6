import { type PublicConfig, Type, withDefault } from "svc-connectors";
import type { FileContext } from "svc-connectors/destination";

/** The settings that say how rows become files, wherever these are. */
export const layoutSettings = {
  schema: withDefault(
    Type.String({
      title: "Schema",
      description:
        "Schema of tables whose pipeline does not name one: the first part of their path.",
      minLength: 1,
      maxLength: 63,
    }),
    "main",
  ),
  partition_by: withDefault(
    Type.Enum(["none", "day", "month"], {
      title: "Partitions",
      description: "Folders by the time at which rows were written, in UTC.",
    }),
    "none",
  ),
};

export const spec = Type.Object({
  folder: Type.String({
    title: "Folder",
    description:
      "Name of the folder: small letters, digits, - and _. It is in the service's folder for warehouses.",
    pattern: "^[a-z0-9][a-z0-9_-]{0,62}$",
    examples: ["lake"],
  }),
  ...layoutSettings,
});

export type Config = PublicConfig<typeof spec>;
export type FilesContext = FileContext<Config>;
