/** A plan and what came of it, for scripts. Of secrets there are names only. */
import { ApiError } from "./api.ts";
import type { StepOutcome } from "./carry-out.ts";
import { isChanging, type PlanStep, type WorkspacePlan } from "./plan.ts";
import { labelOf } from "./read.ts";

/** @param outcomes of the steps that were tried; undefined: none was to be */
export function documentOf({ steps }: WorkspacePlan, outcomes: readonly StepOutcome[] | undefined) {
  const count = (action: PlanStep["action"]) =>
    steps.filter((step) => step.action === action).length;
  const isDone = outcomes === undefined || outcomes.every(({ result }) => result === "done");
  return {
    status: isDone ? "succeeded" : "failed",
    make: count("make"),
    change: count("change"),
    delete: count("delete"),
    same: count("same"),
    keep: count("keep"),
    steps: steps
      .filter((step) => isChanging(step) || step.action === "keep")
      .map((step) => ({
        ...named(step),
        former_name: step.formerName,
        differences: step.differences.map(({ path, before, after }) => ({
          path: labelOf(path),
          before,
          after,
        })),
      })),
    results: outcomes?.map((outcome) => ({
      ...named(outcome.step),
      result: outcome.result,
      because: outcome.result === "left" ? outcome.because : undefined,
      error: outcome.result === "failed" ? errorOf(outcome.error) : undefined,
    })),
  };
}

const named = ({ kind, name, action }: PlanStep) => ({ section: kind.section, name, action });

const errorOf = (error: ApiError | Error) => ({
  message: error.message,
  fields: error instanceof ApiError ? error.fields : [],
});
