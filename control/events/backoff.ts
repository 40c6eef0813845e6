const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** The time from each failed attempt to the next one: nine attempts in about a day. */
const delaysMs = [
  5 * second,
  minute,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  8 * hour,
  8 * hour,
] as const;

export const maxAttempts = delaysMs.length + 1;

/** Undefined: that was the last one. @param attempt 1, 2, 3 … */
export const nextDelayMs = (attempt: number): number | undefined => delaysMs[attempt - 1];
