import { ControlError } from "../contract/reasons.ts";

const dayMs = 86_400_000;
const defaultDays = 30;
const maxDays = 90;
/**
 * Who counts 90 days back from their own clock is not refused for the time that a request takes.
 */
const toleranceMs = 60_000;

/**
 * The time that a request for the audit log covers: from `from` on, before `to`. What is missing of
 * it is 30 days before its end, or now.
 * @throws invalid_query when it ends before it begins, or is longer than 90 days
 */
export function readRange(
  { from, to }: { readonly from: string | undefined; readonly to: string | undefined },
  now: Date,
): { readonly from: Date; readonly to: Date } {
  const given = from === undefined ? undefined : new Date(from);
  // Entries of this millisecond are in it; from tomorrow on there are none, which is no fault.
  const open = new Date(Math.max(now.getTime() + 1, given?.getTime() ?? 0));
  const end = to === undefined ? open : new Date(to);
  const begin = given ?? new Date(end.getTime() - defaultDays * dayMs);
  const lengthMs = end.getTime() - begin.getTime();
  if (lengthMs < 0) throw refuse("from", "must not be after to");
  if (lengthMs > maxDays * dayMs + toleranceMs)
    throw refuse("from", `must be at most ${maxDays} days before to`);
  return { from: begin, to: end };
}

const refuse = (path: string, message: string) =>
  new ControlError("invalid_query", { errors: [{ path, reason: "range", message }] });
