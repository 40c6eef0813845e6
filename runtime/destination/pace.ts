import type { Clock } from "../contract/clock.ts";

/**
 * A commit costs a disk flush, so checkpoints are gathered: a killed run repeats at most this much.
 */
const commitEvery = { rows: 100_000, checkpointMs: 5_000, streamEndMs: 250 } as const;

/** Says when the next commit is due. */
export function createCommitPace(clock: Clock) {
  let rowCount = 0;
  let committedMs = Number.NEGATIVE_INFINITY;
  return {
    add(rows: number): void {
      rowCount += rows;
    },
    isDue(moment: "checkpoint" | "streamEnd"): boolean {
      const waitMs = moment === "checkpoint" ? commitEvery.checkpointMs : commitEvery.streamEndMs;
      return rowCount >= commitEvery.rows || clock.now() - committedMs >= waitMs;
    },
    committed(): void {
      rowCount = 0;
      committedMs = clock.now();
    },
  };
}
