import { type DatabaseContext, type PublicConfig, postgresSettings, Type } from "svc-connectors";

const Pattern = Type.String({ minLength: 1, maxLength: 200 });

export const spec = Type.Object({
  ...postgresSettings("A role that may only read."),
  schemas: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 63 }), {
      title: "Schemas",
      description:
        "Schemas to read, with the case that they have. An empty list stands for all of them.",
      default: ["public"],
      maxItems: 1000,
    }),
  ),
  include_tables: Type.Optional(
    Type.Array(Pattern, {
      title: "Include tables",
      description:
        "Patterns of the form schema.table with * and ?. Only tables that match one are listed; empty = all.",
      examples: [["public.order*", "sales.*"]],
      default: [],
      maxItems: 1000,
    }),
  ),
  exclude_tables: Type.Optional(
    Type.Array(Pattern, {
      title: "Exclude tables",
      description:
        "Patterns of the form schema.table with * and ?. Tables that match one are not listed.",
      examples: [["*.tmp_*"]],
      default: [],
      maxItems: 1000,
    }),
  ),
  page_size: Type.Optional(
    Type.Integer({
      title: "Page size",
      description: "Most rows per page. Pages of wide rows are smaller: about 8 MiB each.",
      default: 10_000,
      minimum: 1,
      maximum: 100_000,
    }),
  ),
});

/** The configuration as it arrives: the host has filled in every default. */
export type Config = Required<PublicConfig<typeof spec>>;
export type PostgresContext = DatabaseContext<Config>;
