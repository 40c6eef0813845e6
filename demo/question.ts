import { queryFile } from "./duckdb-file.ts";
import type { Printer } from "./printer.ts";
import type { Simulators } from "./simulators.ts";

/**
 * A measure of a source by day, as SQL: its table, the column that has the time, and the aggregate.
 */
interface Measure {
  readonly title: string;
  readonly table: string;
  readonly time: string;
  readonly value: string;
}

const measures: readonly Measure[] = [
  {
    title: "mails opened",
    table: "mailer_campaign_opens",
    time: "first_opened_at",
    value: "count(*)",
  },
  {
    title: "social reach",
    table: "social_channel_metrics_daily",
    time: "date",
    value: "sum(reach)::BIGINT",
  },
  {
    title: "hours worked",
    table: "tasks_time_entries",
    time: '"start"',
    value: "round(sum(duration) / 3600000, 1)",
  },
  {
    title: "money spent",
    table: "bank_transactions",
    time: "date",
    // Amounts come to the last digit, whatever their size, so they are text; the simulator has some
    // of 16 digits, to prove it.
    value: "sum(amount::DECIMAL(38, 2)) FILTER (amount::DECIMAL(38, 2) BETWEEN 0 AND 10000)",
  },
];
const sales: Measure = {
  title: "sales",
  table: "shop_orders",
  time: "ordered_at",
  value: "sum(total)::DECIMAL(18, 2)",
};

const week =
  "FROM unnest(generate_series(current_date - 7, current_date - 1, INTERVAL 1 DAY)) AS week(day)";

const perDay = ({ table, time, value }: Measure, index: number) =>
  `LEFT JOIN (SELECT ${time}::DATE AS day, ${value} AS value FROM _svc_${table} GROUP BY 1) AS f${index} ON f${index}.day = week.day`;

/**
 * A week of newsletters, posts, work, spending and sales, side by side.
 * @param file the warehouse
 */
export async function askQuestion(
  print: Printer,
  file: string,
  { postgres }: Simulators,
): Promise<void> {
  const asked = postgres ? [...measures, sales] : measures;
  const columns = asked.map(({ title }, index) => `coalesce(f${index}.value, 0) AS "${title}"`);
  const sql = `SELECT week.day::DATE AS day, ${columns.join(", ")} ${week} ${asked.map(perDay).join(" ")} ORDER BY 1`;
  await print.table(await queryFile(file, sql));
}
