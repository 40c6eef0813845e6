import {
  type DatabaseContext,
  type PublicConfig,
  postgresSettings,
  Type,
  withDefault,
} from "svc-connectors";

import { replication } from "./replication/settings.ts";

const Pattern = Type.String({ minLength: 1, maxLength: 200 });

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
  include_tables: withDefault(
    Type.Array(Pattern, {
      title: "Include tables",
      description:
        "Patterns of the form schema.table with * and ?. Only tables that match one are listed; empty = all.",
      examples: [["public.order*", "sales.*"]],
      maxItems: 1000,
    }),
    [],
  ),
  exclude_tables: withDefault(
    Type.Array(Pattern, {
      title: "Exclude tables",
      description:
        "Patterns of the form schema.table with * and ?. Tables that match one are not listed.",
      examples: [["*.tmp_*"]],
      maxItems: 1000,
    }),
    [],
  ),
  queries: withDefault(
    Type.Array(
      Type.Object(
        {
          name: Type.String({
            title: "Name",
            description: "Of the stream.",
            minLength: 1,
            maxLength: 200,
          }),
          sql: Type.String({
            title: "SQL",
            description: "One SELECT. It sees the tables that the role may read.",
            minLength: 1,
            maxLength: 100_000,
            multiline: true,
          }),
          primary_key: withDefault(
            Type.Array(Type.String({ minLength: 1 }), {
              title: "Primary key",
              description: "Columns that tell its rows apart; they are never null.",
              maxItems: 32,
            }),
            [],
          ),
          cursor_field: Type.Optional(
            Type.String({
              title: "Cursor field",
              description:
                "A column that grows with each change: by it the stream is read incrementally.",
              minLength: 1,
            }),
          ),
        },
        { additionalProperties: false },
      ),
      {
        title: "Queries",
        description: "Streams that a query defines, beside the tables.",
        examples: [[{ name: "paid_orders", sql: "SELECT * FROM orders WHERE status = 'paid'" }]],
        maxItems: 100,
      },
    ),
    [],
  ),
  replication: Type.Optional(replication),
  page_size: withDefault(
    Type.Integer({
      title: "Page size",
      description:
        "Rows between two checkpoints. Between wide rows there are more checkpoints: one in about 8 MiB.",
      minimum: 1,
      maximum: 100_000,
    }),
    10_000,
  ),
});

export type Config = PublicConfig<typeof spec>;
export type PostgresContext = DatabaseContext<Config>;
