import {
  type DatabaseContext,
  mysqlSettings,
  type PublicConfig,
  Type,
  withDefault,
} from "svc-connectors";

const Pattern = Type.String({ minLength: 1, maxLength: 200 });

export const spec = Type.Object({
  ...mysqlSettings("A user that may only read."),
  include_tables: withDefault(
    Type.Array(Pattern, {
      title: "Include tables",
      description:
        "Patterns of names with * and ?, with the case that they have. Only tables that match one are listed; empty = all.",
      examples: [["order*", "customers"]],
      maxItems: 1000,
    }),
    [],
  ),
  exclude_tables: withDefault(
    Type.Array(Pattern, {
      title: "Exclude tables",
      description:
        "Patterns of names with * and ?, with the case that they have. Tables that match one are not listed.",
      examples: [["tmp_*"]],
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
            description: "One SELECT. It sees the tables that the user may read.",
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
export type MysqlContext = DatabaseContext<Config>;
