/**
 * Runs the work once at a time: however often it is asked for meanwhile, it runs once more
 * afterwards. The promise is that of the last run.
 */
export function coalesce(work: () => Promise<void>): () => Promise<void> {
  let isAsked = false;
  let working: Promise<void> | undefined;

  async function workWhileAsked(): Promise<void> {
    try {
      while (isAsked) {
        isAsked = false;
        await work();
      }
    } finally {
      working = undefined;
    }
  }

  return () => {
    isAsked = true;
    working ??= workWhileAsked();
    return working;
  };
}
