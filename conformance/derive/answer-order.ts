/** Decides in which order requests that are under way together are answered. */

/** `one-by-one`: in the order in which they came, each when the one before is done. `last-first`: the latest of those that wait. */
export const answerOrders = ["one-by-one", "last-first"] as const;
export type AnswerOrder = (typeof answerOrders)[number];

/** Real time without another request after which one is let through: concurrent requests have come by then. */
const restMs = 10;

/** For `onRequest` of one run. */
export function holdAnswers(order: AnswerOrder): () => Promise<void> {
  const waiting: (() => void)[] = [];
  let timer: NodeJS.Timeout | undefined;
  const release = () => {
    (order === "last-first" ? waiting.pop() : waiting.shift())?.();
    if (waiting.length > 0) timer = setTimeout(release, restMs);
  };
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      clearTimeout(timer);
      timer = setTimeout(release, restMs);
    });
}
