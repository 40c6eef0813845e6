/** The forms in which a provider writes times, and the same moments in each of them. */
import { type CursorColumn, cursorOf } from "../derive/rows/cursors.ts";
import { momentOf, textOf, writeLike } from "../derive/rows/moments.ts";
import { atOffset, zoneOf } from "../derive/rows/offsets.ts";

export interface TimeForm {
  /** "like 2026-05-01T09:00:00Z". */
  readonly name: string;
  /** Time of one unit of its last digit; ms. */
  readonly stepMs: number;
  /** `isLater`: of a row that changed after the first read. */
  write(ms: number, isLater: boolean): unknown;
}

const minuteMs = 60_000;
/** East: what is cut off moves a time on, past rows. West: the other way. */
const east = 120;
const west = -300;

/**
 * Every form that the recorded rows have, mixed where they mix, and at other offsets where they
 * show any. A provider that was seen to write UTC alone is left at that.
 */
export function timeForms(column: CursorColumn): readonly TimeForm[] {
  const samples = [
    ...new Map(
      column.listing.rows
        .map((row) => cursorOf(row, column))
        .filter((value) => momentOf(value)?.kind === "time")
        .map((value) => [shapeOf(value), value] as const),
    ).values(),
  ];
  const forms = samples.map(
    (sample): TimeForm => ({
      name: `like ${textOf(sample)}`,
      stepMs: stepOf(sample),
      write: (ms) => writeAt(sample, ms, offsetOf(sample)),
    }),
  );
  const finest = samples.toSorted((one, other) => stepOf(one) - stepOf(other))[0];
  const coarsest = samples.toSorted((one, other) => stepOf(other) - stepOf(one))[0];
  const offsets = new Set(samples.map(zoneOf));
  const hasOffsets = [...offsets].some((zone) => zone !== undefined && zone !== "Z");
  return [
    ...forms,
    ...(stepOf(finest) < stepOf(coarsest)
      ? [
          {
            name: `like ${textOf(coarsest)}, and later ones like ${textOf(finest)}`,
            stepMs: stepOf(coarsest),
            write: (ms: number, isLater: boolean) =>
              writeAt(isLater ? finest : coarsest, ms, offsetOf(isLater ? finest : coarsest)),
          },
        ]
      : []),
    ...(hasOffsets && finest !== undefined
      ? [
          { name: "with the offset +02:00", minutes: [east, east] as const },
          { name: "with the offset -05:00", minutes: [west, west] as const },
          {
            name: "with the offset +02:00, and later ones with -05:00",
            minutes: [east, west] as const,
          },
        ].map(
          ({ name, minutes: [before, after] }): TimeForm => ({
            name,
            stepMs: stepOf(finest),
            write: (ms, isLater) => writeAt(finest, ms, isLater ? after : before),
          }),
        )
      : []),
  ];
}

/** Digits and the numbers of an offset do not count. */
const shapeOf = (value: unknown) =>
  `${typeof value} ${(textOf(value) ?? "").replaceAll(/\d/g, "0").replace(/[+-]00:?00$/, "+00:00")}`;

const stepOf = (sample: unknown) => momentOf(sample)?.span ?? 1;

/** Minutes; undefined without one. */
function offsetOf(sample: unknown): number | undefined {
  const [, sign, hours, minutes] = /^([+-])(\d\d):(\d\d)$/.exec(zoneOf(sample) ?? "") ?? [];
  if (sign === undefined) return undefined;
  return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}

function writeAt(sample: unknown, ms: number, minutes: number | undefined): unknown {
  const written = writeLike(sample, ms);
  return typeof written === "string" && minutes !== undefined && zoneOf(written) !== undefined
    ? atOffset(written, minutes)
    : written;
}

/** The latest changes to and from summer time in Europe before that time; ms. */
export function clockChanges(beforeMs: number): readonly { name: string; ms: number }[] {
  const found = ([name, month]: readonly [string, number]) => {
    for (let year = new Date(beforeMs).getUTCFullYear(); ; year--) {
      const end = new Date(Date.UTC(year, month + 1, 0, 1));
      const ms = end.getTime() - end.getUTCDay() * 1_440 * minuteMs;
      if (ms < beforeMs - 10 * 1_440 * minuteMs) return { name, ms };
    }
  };
  return [["summer time", 2] as const, ["winter time", 9] as const].map(found);
}
