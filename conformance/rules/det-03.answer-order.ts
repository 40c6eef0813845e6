/** Decides in which order requests that are under way together are answered. */

/**
 * `one-by-one`: in the order in which they came, each when the one before is done. `last-first`:
 * the latest of those that wait.
 */
export type AnswerOrder = "one-by-one" | "last-first";

/**
 * Real time without another request after which one is let through: concurrent requests have come
 * by then.
 */
const restMs = 10;

export interface AnswerGate {
  /** For `onRequest` of one run: resolves when the request may be answered. */
  readonly pass: () => Promise<void>;
  /** The most requests that waited at the same time. */
  mostWaiting(): number;
}

export function holdAnswers(order: AnswerOrder): AnswerGate {
  const waiting: (() => void)[] = [];
  let most = 0;
  let timer: NodeJS.Timeout | undefined;
  const release = () => {
    (order === "last-first" ? waiting.pop() : waiting.shift())?.();
    if (waiting.length > 0) timer = setTimeout(release, restMs);
  };
  return {
    mostWaiting: () => most,
    pass: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        most = Math.max(most, waiting.length);
        clearTimeout(timer);
        timer = setTimeout(release, restMs);
      }),
  };
}
