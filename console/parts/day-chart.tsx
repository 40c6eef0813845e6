import type { schemas } from "../api/schema.ts";
import { count, plural, short } from "../model/words.ts";

const day = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", timeZone: "UTC" });
const nameOf = (text: string) => day.format(new Date(`${text}T00:00:00Z`));

/** Rows per day as bars. The numbers are in each bar's title, and said as a whole. */
export function DayChart({ days }: { readonly days: readonly schemas["DayRows"][] }) {
  const most = Math.max(1, ...days.map(({ records }) => records));
  const sum = days.reduce((before, { records }) => before + records, 0);
  const width = 100 / Math.max(1, days.length);
  return (
    <figure style={{ margin: 0 }}>
      <div style={{ display: "flex", alignItems: "baseline", gap: "0.6rem" }}>
        <span className="big">{short(sum)}</span>
        <span className="dim">rows in {plural(days.length, "day")}</span>
      </div>
      <svg
        className="chart"
        viewBox="0 0 100 40"
        preserveAspectRatio="none"
        role="img"
        aria-label={`Rows written per day. ${count(sum)} in ${plural(days.length, "day")}, at most ${count(most)} a day.`}
      >
        {days.map(({ day: date, records }, index) => {
          const height = records === 0 ? 0.6 : Math.max(1.5, (records / most) * 38);
          return (
            <rect
              key={date}
              className={records === 0 ? "none" : undefined}
              x={index * width + width * 0.12}
              width={width * 0.76}
              y={40 - height}
              height={height}
            >
              <title>{`${nameOf(date)}: ${plural(records, "row")}`}</title>
            </rect>
          );
        })}
      </svg>
      <div className="dim" style={{ display: "flex", justifyContent: "space-between" }}>
        <span>{nameOf(days[0]?.day ?? "")}</span>
        <span>{nameOf(days.at(-1)?.day ?? "")}</span>
      </div>
    </figure>
  );
}
