/** A token that is minted once, and kept until it ends. */
import type { HttpContext } from "../../contract/context.ts";
import type { Scope } from "../expressions/evaluate.ts";

type Context = HttpContext<unknown>;

/** Gives the token that is kept, or mints one. One without an end is asked for each time. */
export function keepToken(
  mint: (
    scope: Scope,
    ctx: Context,
    rejected: string | undefined,
  ) => Promise<{ token: string; lastsMs: number | undefined }>,
) {
  let rejected: string | undefined;
  let kept: { token: string; untilMs: number; ctx: Context } | undefined;
  return {
    async current(scope: Scope, ctx: Context): Promise<string> {
      if (kept?.ctx === ctx && kept.untilMs >= ctx.clock.now()) return kept.token;
      const { token, lastsMs } = await mint(scope, ctx, rejected);
      kept = { token, ctx, untilMs: lastsMs === undefined ? -1 : ctx.clock.now() + lastsMs };
      return token;
    },
    forget() {
      rejected = kept?.token;
      kept = undefined;
    },
  };
}
