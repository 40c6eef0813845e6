/** A plan as text: what is made, changed and deleted, a line for each place that differs. */
import { type JsonValue, printable } from "svc-connectors/host";
import { isChanging, type PlanStep, type WorkspacePlan } from "./plan.ts";
import { labelOf } from "./read.ts";

const signs = { make: "+", change: "~", delete: "-", keep: "·", same: " " } as const;

export const titleOf = ({ kind, name }: Pick<PlanStep, "kind" | "name">) =>
  `${kind.noun} ${JSON.stringify(printable(name, 200))}`;

/** The lines of a plan. Of secrets there are names only. */
export function linesOf({ steps }: WorkspacePlan): string[] {
  const shown = steps.filter(isChanging).flatMap((step) => [titleLine(step), ...detailsOf(step)]);
  const kept = steps.filter(({ action }) => action === "keep");
  const counts = (action: PlanStep["action"]) =>
    steps.filter((step) => step.action === action).length;
  const summary = `${counts("make")} to make, ${counts("change")} to change, ${counts("delete")} to delete, ${counts("same")} as they are`;
  return [
    ...shown,
    ...(kept.length === 0
      ? []
      : [
          "not in the file, and kept (--prune deletes those of sections that the file has):",
          ...kept.map((step) => `  ${signs.keep} ${titleOf(step)}`),
        ]),
    summary,
  ];
}

function titleLine(step: PlanStep): string {
  const former =
    step.formerName === undefined ? "" : ` (now ${JSON.stringify(printable(step.formerName))})`;
  return `${signs[step.action]} ${titleOf(step)}${former}`;
}

function detailsOf({ action, entry, differences }: PlanStep): string[] {
  if (action === "make")
    return Object.entries(entry ?? {}).flatMap(([name, value]) =>
      name === "renamed_from" || value === undefined
        ? []
        : [`    ${name}: ${brief(name, value as JsonValue)}`],
    );
  return differences.map(
    ({ path, before, after }) =>
      `    ${labelOf(path)}: ${shownValue(before)} → ${shownValue(after)}`,
  );
}

const shownValue = (value: JsonValue | undefined) =>
  value === undefined ? "nothing" : printable(JSON.stringify(value), 120);

function brief(name: string, value: JsonValue): string {
  if (name === "secrets") return Object.keys(value as object).join(", ");
  if (name === "streams" && Array.isArray(value) && value.length > 0)
    return printable(value.map((one) => (one as { readonly name: string }).name).join(", "), 200);
  return shownValue(value);
}
