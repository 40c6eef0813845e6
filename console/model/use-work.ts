/** The state of work that somebody has begun: whether it goes on, and its result. */
import { useState } from "react";
import { type Problem, toProblem } from "../api/problem.ts";

/** Work of a form: what goes wrong is told in the form. */
export function useWork() {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const run = async (work: () => Promise<unknown>): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      await work();
    } catch (error) {
      setProblem(toProblem(error));
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, problem, run, clear: () => setProblem(undefined) };
}
