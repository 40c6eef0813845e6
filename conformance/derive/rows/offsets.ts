/** The same times written with other offsets from UTC. */
import type { ProviderChanges } from "../../contract/learned.ts";
import { type CursorColumn, changeRows, cursorOf, withCursor } from "./cursors.ts";
import { momentOf, textOf, writeLike } from "./moments.ts";

const zoneForm = /(Z|[+-]\d\d:\d\d)$/i;
const offsetMinutes = [0, 420, -330, 840] as const;

/**
 * Every row's time keeps its moment and changes its text: as text they no longer stand in the order
 * of time. Undefined unless the provider was seen to write different offsets: connectors may trust
 * one form.
 */
export function withOtherOffsets(
  column: CursorColumn,
  newest: unknown,
): ProviderChanges | undefined {
  const zones = new Set(column.listing.rows.flatMap((row) => zoneOf(cursorOf(row, column)) ?? []));
  if (zones.size < 2) return undefined;
  return changeRows(column, (rows) =>
    rows.map((row, at) => {
      const value = cursorOf(row, column);
      // The newest one stays behind all others as text: west of them.
      const minutes = value === newest ? -330 : (offsetMinutes[at % offsetMinutes.length] ?? 0);
      return typeof value === "string" ? withCursor(row, column, atOffset(value, minutes)) : row;
    }),
  );
}

/** "Z" or "+02:00"; undefined where it is not written. */
export const zoneOf = (value: unknown): string | undefined =>
  zoneForm.exec(textOf(value) ?? "")?.[1]?.toUpperCase();

/** The same moment at that offset from UTC; as it is where it says none. */
export function atOffset(text: string, minutes: number): string {
  const moment = momentOf(text);
  if (moment === undefined || !zoneForm.test(text)) return text;
  const sample = text.replace(zoneForm, "Z");
  const local = String(writeLike(sample, moment.value + minutes * 60_000)).replace(/Z$/, "");
  const hours = `${String(Math.floor(Math.abs(minutes) / 60)).padStart(2, "0")}:${String(Math.abs(minutes) % 60).padStart(2, "0")}`;
  return `${local}${minutes < 0 ? "-" : "+"}${hours}`;
}
