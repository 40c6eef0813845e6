/** Requests that were under way when their token ended, and are told so after it was renewed. */
import type { ProviderRequest } from "../contract/network.ts";
import { isTokenRequest, type TokenEndpoint } from "../derive/auth/token-endpoint.ts";

/** Real time that the new token is given to arrive, before the slow ones are refused. */
const afterRefreshMs = 20;
/** Real time after which nobody renews it any more. */
const patienceMs = 300;

export interface LateRefusals {
  /** For `onRequest` of one run. */
  readonly pass: (request: ProviderRequest) => Promise<void>;
  /** Requests that had to wait. */
  heldCount(): number;
}

/**
 * API request number `revokeAt` is answered at once; those that come before the token is asked for
 * again wait until it was given.
 */
export function holdRefusals(endpoint: TokenEndpoint, revokeAt: number): LateRefusals {
  let apiCount = 0;
  let heldCount = 0;
  let isRenewed = false;
  const waiting: (() => void)[] = [];
  const release = () => {
    for (const go of waiting.splice(0)) go();
  };
  return {
    heldCount: () => heldCount,
    async pass(request) {
      if (isTokenRequest(endpoint, request)) {
        if (apiCount <= revokeAt) return;
        isRenewed = true;
        setTimeout(release, afterRefreshMs);
        return;
      }
      const number = apiCount++;
      if (number <= revokeAt || isRenewed) return;
      heldCount++;
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        setTimeout(resolve, patienceMs);
      });
    },
  };
}
