/** The time as the server has it: that of a browser may be wrong by hours. */

/** The header has whole seconds, and an answer takes its time. */
const tolerableMs = 5_000;

let aheadMs = 0;

/** Compares this browser's clock with an answer's `Date`. */
export function compareClock(date: string | null, nowMs: number = Date.now()): void {
  const serverMs = Date.parse(date ?? "");
  if (Number.isNaN(serverMs)) return;
  const difference = nowMs - serverMs;
  aheadMs = Math.abs(difference) < tolerableMs ? 0 : difference;
}

/** Now, by the server's clock. */
export const serverNowMs = (nowMs: number = Date.now()): number => nowMs - aheadMs;
