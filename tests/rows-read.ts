/** How many rows a request reads, wherever they are: what must not grow with what is kept. */
import { CompiledQuery, type KyselyPlugin, type RootOperationNode } from "kysely";
import type { TestAnswer, TestControl } from "./control.ts";

/** A node of a plan, as EXPLAIN (ANALYZE, FORMAT JSON) tells it. */
interface PlanNode {
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Rows Removed by Index Recheck"?: number;
  readonly "Rows Removed by Join Filter"?: number;
  readonly Plans?: readonly PlanNode[];
}

/**
 * Does what `ask` does, and then asks each of its queries again for its plan: gives the answer, and
 * how many rows the tables have given and the filters have passed over.
 */
export async function countRowsRead(
  { control: { services } }: TestControl,
  ask: () => Promise<TestAnswer>,
): Promise<{ readonly answer: TestAnswer; readonly rowsRead: number }> {
  const { database } = services;
  const { db } = database;
  const asked: { readonly node: RootOperationNode; readonly queryId: never }[] = [];
  const noting: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      asked.push({ node, queryId: queryId as never });
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  Object.assign(database, { db: db.withPlugin(noting) });
  const answer = await ask().finally(() => Object.assign(database, { db }));
  let rowsRead = 0;
  for (const { node, queryId } of asked) {
    const { sql, parameters } = db.getExecutor().compileQuery(node, queryId);
    if (!/^\s*(select|with)\b/i.test(sql)) continue;
    const explain = CompiledQuery.raw(`EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`, [...parameters]);
    const { rows } = await db.executeQuery<{ "QUERY PLAN": readonly { Plan: PlanNode }[] }>(
      explain,
    );
    for (const { Plan } of rows.flatMap((row) => row["QUERY PLAN"])) rowsRead += rowsOf(Plan);
  }
  return { answer, rowsRead };
}

function rowsOf(plan: PlanNode): number {
  const given = plan["Relation Name"] === undefined ? 0 : plan["Actual Rows"];
  const passedOver =
    (plan["Rows Removed by Filter"] ?? 0) +
    (plan["Rows Removed by Index Recheck"] ?? 0) +
    (plan["Rows Removed by Join Filter"] ?? 0);
  const below = (plan.Plans ?? []).reduce((sum, one) => sum + rowsOf(one), 0);
  return (given + passedOver) * plan["Actual Loops"] + below;
}
