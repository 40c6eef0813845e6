import type { Counter } from "./limiter.ts";

/**
 * The part of what is left that a server takes at a time. It counts what it hands out of that by
 * itself: most requests ask no database, and the last ones of a budget each do.
 */
const part = 20;
/** Shares are looked through for those whose window is over when there are so many more. */
const tidyAt = 1_000;

export interface Taken {
  readonly isRefused: boolean;
  /** The rest of the budget, as far as this server knows. */
  readonly left: number;
  /** Until the window ends. */
  readonly waitMs: number;
}

interface Share {
  /** Taken from all, and not yet handed out. */
  own: number;
  /** Left for all when it was asked last. */
  others: number;
  endsAtMs: number;
  asking: Promise<void> | undefined;
}

/**
 * Hands out a budget of which several servers take. What lies in the shares of others when the
 * budget ends is not handed out: at most a twentieth of it for each of them.
 */
export function createShares(
  count: Counter,
  { points, isShared }: { readonly points: number; readonly isShared: boolean },
): { take(who: string): Promise<Taken> } {
  const shares = new Map<string, Share>();
  let tidiedSize = 0;

  async function ask(share: Share, who: string): Promise<void> {
    const size = isShared ? Math.max(1, Math.floor(share.others / part)) : 1;
    const { taken, waitMs } = await count(who, size);
    const before = taken - size;
    share.own = Math.min(size, Math.max(0, points - before));
    share.others = Math.max(0, points - taken);
    share.endsAtMs = performance.now() + waitMs;
  }

  /**
   * A share whose window is over begins anew, with one: a server that takes one request and dies
   * has no twentieth of the budget with it.
   */
  function shareOf(who: string): Share {
    const known = shares.get(who);
    if (known && (known.asking || performance.now() < known.endsAtMs)) return known;
    const share: Share = { own: 0, others: 0, endsAtMs: 0, asking: undefined };
    shares.set(who, share);
    if (shares.size > tidiedSize + tidyAt) tidy();
    return share;
  }

  function tidy(): void {
    const nowMs = performance.now();
    for (const [who, { asking, endsAtMs }] of shares)
      if (!asking && endsAtMs > 0 && endsAtMs <= nowMs) shares.delete(who);
    tidiedSize = shares.size;
  }

  return {
    async take(who) {
      for (;;) {
        const share = shareOf(who);
        const waitMs = Math.max(0, share.endsAtMs - performance.now());
        if (share.own > 0) {
          share.own -= 1;
          return { isRefused: false, left: share.own + share.others, waitMs };
        }
        if (share.endsAtMs > 0 && share.others === 0 && !share.asking)
          return { isRefused: true, left: 0, waitMs };
        // One asks for all who wait.
        share.asking ??= ask(share, who).finally(() => {
          share.asking = undefined;
        });
        await share.asking;
      }
    },
  };
}
