/**
 * Carries a plan out. What fails keeps back only what depends on it; the next run finishes the
 * rest. Nothing is deleted before everything else is done.
 */
import { UsageError } from "svc-connectors/host";
import { ApiError, type Resource } from "./api.ts";
import { type Hands, handleOf, mergePatchOf } from "./kind.ts";
import { isChanging, type PlanStep, type WorkspacePlan } from "./plan.ts";
import type { SectionName } from "./schema.ts";
import { titleOf } from "./show.ts";

/** The result of a step. */
export type StepOutcome =
  | { readonly step: PlanStep; readonly result: "done" }
  | { readonly step: PlanStep; readonly result: "failed"; readonly error: ApiError | UsageError }
  /** Something that it needs has failed, or nothing more was tried. */
  | { readonly step: PlanStep; readonly result: "left"; readonly because: string };

/** @yields outcomes as they come */
export async function* carryOut(
  plan: WorkspacePlan,
  tools: Omit<Hands, "idOf" | "secretsPath">,
): AsyncGenerator<StepOutcome> {
  const ids = new Map<string, string>();
  for (const { kind, name, there } of plan.steps)
    if (there) ids.set(`${kind.section} ${name}`, handleOf(kind, there));
  const hands: Hands = {
    ...tools,
    idOf: (section, name) => ids.get(`${section} ${name}`) ?? name,
    secretsPath: async (connector) => plan.connectors.get(connector)?.secretsPath ?? "/credentials",
  };
  const undone = new Map<string, string>();
  let stopped: string | undefined;
  const steps = plan.steps.filter(isChanging);
  const order = [
    ...steps.filter(({ action }) => action !== "delete"),
    ...steps.filter(({ action }) => action === "delete").reverse(),
  ];
  for (const step of order) {
    const { kind, name, action } = step;
    const missing = action === "delete" ? undefined : neededOf(step).find((one) => undone.has(one));
    const isHeld = action === "delete" && undone.size > 0;
    const because =
      stopped ??
      (missing === undefined
        ? undefined
        : `it needs the ${undone.get(missing)}, which is not as it should be`) ??
      (isHeld ? "nothing is deleted while something has failed" : undefined);
    if (because !== undefined) {
      undone.set(`${kind.section} ${name}`, titleOf(step));
      yield { step, result: "left", because };
      continue;
    }
    try {
      const made = await carry(step, hands);
      if (made) ids.set(`${kind.section} ${name}`, handleOf(kind, made));
      yield { step, result: "done" };
    } catch (error) {
      if (!(error instanceof ApiError) && !(error instanceof UsageError)) throw error;
      undone.set(`${kind.section} ${name}`, titleOf(step));
      if (error instanceof ApiError && error.isForAll) stopped = "nothing more was tried";
      yield { step, result: "failed", error };
    }
  }
}

/** Gives what was made. */
async function carry(step: PlanStep, hands: Hands): Promise<Resource | undefined> {
  const { kind, name, action, entry, there, before, differences, formerName } = step;
  if (action === "make" && entry) return await kind.create(name, entry, hands);
  if (action === "change" && entry && before) {
    const settings = differences.filter(({ path }) => path[0] === "configuration");
    await kind.change(
      {
        there,
        before,
        entry,
        name: formerName === undefined ? undefined : name,
        fields: new Set(differences.map(({ path }) => String(path[0]))),
        configuration: mergePatchOf(settings.map((one) => ({ ...one, path: one.path.slice(1) }))),
      },
      hands,
    );
    return undefined;
  }
  const path = kind.deletePath?.(there) ?? `${kind.path}/${there[kind.idField]}`;
  const version = kind.deletePath ? undefined : there.version;
  await hands.api.write("DELETE", path, undefined, { version });
  return undefined;
}

/** The entries that must be there before. */
const neededOf = ({ kind, entry }: PlanStep): string[] =>
  Object.entries(kind.names).flatMap(([field, section]: [string, SectionName]) => {
    const name = (entry as unknown as Readonly<Record<string, unknown>>)?.[field];
    return typeof name === "string" ? [`${section} ${name}`] : [];
  });
