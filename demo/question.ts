import { queryFile } from "./duckdb-file.ts";
import type { Printer } from "./printer.ts";
import type { Simulators } from "./simulators.ts";

/**
 * What a source knows of a day, as SQL: from where, which column is the moment, and what is summed
 * up.
 */
interface Fact {
  readonly title: string;
  readonly table: string;
  readonly moment: string;
  readonly value: string;
}

const facts: readonly Fact[] = [
  {
    title: "mails opened",
    table: "mailer_campaign_opens",
    moment: "first_opened_at",
    value: "count(*)",
  },
  {
    title: "social reach",
    table: "social_channel_metrics_daily",
    moment: "date",
    value: "sum(reach)::BIGINT",
  },
  {
    title: "hours worked",
    table: "tasks_time_entries",
    moment: '"start"',
    value: "round(sum(duration) / 3600000, 1)",
  },
  {
    title: "money spent",
    table: "bank_transactions",
    moment: "date",
    // Amounts come to the last digit, whatever their size, so they are text; the simulator has some
    // of 16 digits, to prove it.
    value: "sum(amount::DECIMAL(38, 2)) FILTER (amount::DECIMAL(38, 2) BETWEEN 0 AND 10000)",
  },
];
const revenue = {
  title: "sales",
  table: "shop_orders",
  moment: "ordered_at",
  value: "sum(total)::DECIMAL(18, 2)",
};

const week =
  "FROM unnest(generate_series(current_date - 7, current_date - 1, INTERVAL 1 DAY)) AS week(day)";

const perDay = ({ table, moment, value }: Fact, index: number) =>
  `LEFT JOIN (SELECT ${moment}::DATE AS day, ${value} AS value FROM _svc_${table} GROUP BY 1) AS f${index} ON f${index}.day = week.day`;

/**
 * A week of newsletters, posts, work, spending and sales, side by side.
 * @param file the warehouse
 */
export async function askQuestion(
  print: Printer,
  file: string,
  { postgres }: Simulators,
): Promise<void> {
  const asked = postgres ? [...facts, revenue] : facts;
  const columns = asked.map(({ title }, index) => `coalesce(f${index}.value, 0) AS "${title}"`);
  const sql = `SELECT week.day::DATE AS day, ${columns.join(", ")} ${week} ${asked.map(perDay).join(" ")} ORDER BY 1`;
  await print.table(await queryFile(file, sql));
}
