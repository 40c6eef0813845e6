/**
 * The settings that sources of databases have in common: which tables, which queries, how large a
 * page.
 */
import { Type } from "typebox";
import { type PublicConfig, withDefault } from "../contract/spec.ts";

const patterns = (title: string, description: string, example: readonly string[]) =>
  withDefault(
    Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
      title,
      description,
      examples: [[...example]],
      maxItems: 1000,
    }),
    [],
  );

/**
 * `include_tables` and `exclude_tables`.
 * @param form what a pattern looks like: "Patterns of the form schema.table with * and ?."
 */
export const tableSettings = (
  form: string,
  examples: { readonly include: readonly string[]; readonly exclude: readonly string[] },
) => ({
  include_tables: patterns(
    "Include tables",
    `${form} Only tables that match one are listed; empty = all.`,
    examples.include,
  ),
  exclude_tables: patterns(
    "Exclude tables",
    `${form} Tables that match one are not listed.`,
    examples.exclude,
  ),
});

/**
 * `queries`: streams that a query defines, beside the tables.
 * @param login what the database calls whoever logs in: "role", "user"
 */
export const querySettings = (login: string) => ({
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
            description: `One SELECT. It sees the tables that the ${login} may read.`,
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
});

/** `page_size`: how often there is a checkpoint. */
export const pageSettings = () => ({
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

const querySpec = Type.Object(querySettings(""));
/** A query of the settings. */
export type DatabaseQuery = PublicConfig<typeof querySpec>["queries"][number];
