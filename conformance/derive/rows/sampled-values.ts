/** Plans of values on all streams: every plan on a sample of them, a single read on the others. */

import { parsePointer } from "svc-connectors/host";
import type { Lab } from "../../contract/lab.ts";
import type { Reporter } from "../../contract/rule.ts";
import type { RowField, StreamFields } from "./row-fields.ts";
import { outputRows } from "./rows.ts";
import { reportUntriedPlan, tryValues } from "./splices.ts";
import { reportValueFault } from "./value-faults.ts";
import type { ValuePlan } from "./values.ts";

/** Streams that every plan is tried on. */
const mostStreams = 6;

interface StreamPlans {
  readonly plans: readonly ValuePlan[];
  /**
   * Those whose values every connector can represent. Streams that the sample leaves out are read
   * once, each field with values of the first of these that has any for it.
   */
  readonly quick: readonly ValuePlan[];
  /** Those that few streams have fields for: each such stream is tried with them. */
  readonly everywhere?: readonly ValuePlan[];
}

export async function tryStreams(
  lab: Lab,
  report: Reporter,
  streams: readonly StreamFields[],
  { plans, quick, everywhere = [] }: StreamPlans,
): Promise<void> {
  for (const facts of streams) reportUnseenArrays(report, facts);
  const sample = lab.sample(streams, mostStreams);
  for (const facts of sample) for (const plan of plans) await tryPlan(lab, report, facts, plan);
  const others = streams.filter((facts) => !sample.includes(facts));
  for (const facts of others) {
    await tryPlan(lab, report, facts, together(quick), 1);
    for (const plan of everywhere)
      if (facts.fields.some((field) => plan.count(field) > 0))
        await tryPlan(lab, report, facts, plan, 1);
  }
  const labels = others.map(({ stream }) => stream.label).join(", ");
  if (others.length > 0)
    report.untried(
      `${labels}: left out by the sample, but for one read of each with some values of each kind`,
    );
}

async function tryPlan(
  lab: Lab,
  report: Reporter,
  facts: StreamFields,
  plan: ValuePlan,
  mostRounds?: number,
): Promise<void> {
  const fields = plan.isForArrays ? [...facts.fields, ...facts.inside] : facts.fields;
  const { subjects, faults } = await tryValues(lab, { ...facts, fields }, plan, mostRounds);
  if (subjects.length === 0) reportUntriedPlan(report, facts, plan);
  for (const subject of subjects) report.checked(subject);
  for (const fault of faults) reportValueFault(report, facts, fault);
}

/** Names the arrays of the records in which no value is seen to come of the provider's rows. */
function reportUnseenArrays(report: Reporter, { stream, whole, inside }: StreamFields): void {
  const arrays = new Set(
    outputRows(whole.messages, stream).flatMap(({ data }) =>
      Object.keys(data).filter((name) => Array.isArray(data[name])),
    ),
  );
  const seen = new Set(inside.map(({ property }) => parsePointer(property)[0]));
  const unseen = [...arrays].filter((name) => !seen.has(name));
  if (unseen.length > 0)
    report.untried(
      `${stream.label}: ${unseen.join(", ")}: no value inside is seen to come of the provider's rows`,
    );
}

/** Values of all these plans in one read. */
function together(plans: readonly ValuePlan[]): ValuePlan {
  const planOf = (field: RowField) => plans.find((plan) => plan.count(field) > 0) ?? nothing;
  return {
    name: plans.map(({ name }) => name).join(", "),
    mayBeRefused: false,
    isForArrays: true,
    count: (field) => planOf(field).count(field),
    caseAt: (field, n, before) => planOf(field).caseAt(field, n, before),
    largest: (field) => planOf(field).largest?.(field),
    ordinary: (field, n, before) => planOf(field).ordinary(field, n, before),
  };
}

const asBefore: ValuePlan["caseAt"] = (_, __, before) => ({
  text: "the recorded value",
  value: before,
  isSame: () => true,
});

const nothing: ValuePlan = {
  name: "",
  mayBeRefused: false,
  count: () => 0,
  caseAt: asBefore,
  ordinary: asBefore,
};
