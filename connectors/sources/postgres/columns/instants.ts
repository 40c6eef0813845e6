/**
 * Days and microseconds as the server writes them with `datestyle` ISO. Their count begins in 2000.
 */

/** Days from 2000-01-01 back to 1970-01-01. */
export const daysBefore1970 = -10_957;
export const microsecondsBefore1970 = -946_684_800_000_000n;

const dayMicroseconds = 86_400_000_000n;
const endlessDays = 2 ** 31 - 1;
const endlessMicroseconds = 2n ** 63n - 1n;

/** `2026-01-02`, `0044-03-15 BC` or `infinity`. */
export function dateText(days: number): string {
  if (days === endlessDays) return "infinity";
  if (days === -endlessDays - 1) return "-infinity";
  const { day, era } = toDay(days);
  return day + era;
}

/** `2026-01-02 03:04:05.123456`, the zone and `BC` behind it, or `infinity`. */
export function instantText(microseconds: bigint, zone: "" | "+00"): string {
  if (microseconds === endlessMicroseconds) return "infinity";
  if (microseconds === -endlessMicroseconds - 1n) return "-infinity";
  const time = ((microseconds % dayMicroseconds) + dayMicroseconds) % dayMicroseconds;
  const { day, era } = toDay(Number((microseconds - time) / dayMicroseconds));
  return `${day} ${timeText(time)}${zone}${era}`;
}

/** `03:04:05.123456`, without zeros at its end. */
export function timeText(microseconds: bigint): string {
  const seconds = Number(microseconds / 1_000_000n);
  const fraction = Number(microseconds % 1_000_000n);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const text = parts.map((part) => String(part).padStart(2, "0")).join(":");
  return fraction === 0 ? text : `${text}.${String(fraction).padStart(6, "0").replace(/0+$/, "")}`;
}

/**
 * The day in the Gregorian calendar, also before it began.
 * @see https://howardhinnant.github.io/date_algorithms.html (civil_from_days, read 2026-11)
 */
function toDay(daysSince2000: number): { day: string; era: "" | " BC" } {
  const days = daysSince2000 + 730_425; // since 0000-03-01
  const cycle = Math.floor(days / 146_097); // 400 years
  const inCycle = days - cycle * 146_097;
  const yearOfCycle = Math.floor(
    (inCycle -
      Math.floor(inCycle / 1460) +
      Math.floor(inCycle / 36_524) -
      Math.floor(inCycle / 146_096)) /
      365,
  );
  const dayOfYear =
    inCycle - (365 * yearOfCycle + Math.floor(yearOfCycle / 4) - Math.floor(yearOfCycle / 100));
  const shifted = Math.floor((5 * dayOfYear + 2) / 153); // 0 = March
  const day = dayOfYear - Math.floor((153 * shifted + 2) / 5) + 1;
  const month = shifted < 10 ? shifted + 3 : shifted - 9;
  const year = yearOfCycle + cycle * 400 + (month <= 2 ? 1 : 0);
  const pad = (value: number, length: number) => String(value).padStart(length, "0");
  return {
    day: `${pad(year > 0 ? year : 1 - year, 4)}-${pad(month, 2)}-${pad(day, 2)}`,
    era: year > 0 ? "" : " BC",
  };
}
