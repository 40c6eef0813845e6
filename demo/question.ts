import { queryFile } from "./duckdb-file.ts";
import type { Printer } from "./printer.ts";
import type { Simulators } from "./simulators.ts";

/** What each source knows of a day. */
const facts = {
  opens: "SELECT first_opened_at::DATE AS day, count(*) AS opens FROM _svc_mailer_campaign_opens GROUP BY 1",
  reach: "SELECT date AS day, sum(reach)::BIGINT AS reach FROM _svc_social_channel_metrics_daily GROUP BY 1",
  hours: 'SELECT "start"::DATE AS day, round(sum(duration) / 3600000, 1) AS hours FROM _svc_tasks_time_entries GROUP BY 1',
  spent: "SELECT date AS day, sum(amount)::DECIMAL(18, 2) AS spent FROM _svc_bank_transactions WHERE amount > 0 GROUP BY 1",
} as const;
const revenue =
  "SELECT ordered_at::DATE AS day, count(*) AS orders, sum(total)::DECIMAL(18, 2) AS revenue FROM _svc_shop_orders GROUP BY 1";

const week = "SELECT day::DATE AS day FROM unnest(generate_series(current_date - 7, current_date - 1, INTERVAL 1 DAY)) AS w(day)";

/** A week of newsletters, posts, work, spending and sales, side by side. @param file the warehouse */
export async function askQuestion(print: Printer, file: string, { postgres }: Simulators): Promise<void> {
  const parts = Object.values({ ...facts, ...(postgres ? { revenue } : {}) });
  const sql = `FROM (${week}) ${parts.map((part) => `LEFT JOIN (${part}) USING (day)`).join(" ")} SELECT * ORDER BY day`;
  await print.table(await queryFile(file, sql));
}
