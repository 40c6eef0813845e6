/** Requests for activations, checked without asking the destination. */
import { rowOperations } from "svc-connectors/host";
import { type Static, Type } from "typebox";
import type { OperationContext } from "../contract/operation.ts";
import { refuseField } from "../contract/reasons.ts";
import {
  IdInput,
  Name,
  Nullable,
  OneOf,
  StrictObject,
  workspaceInput,
} from "../contract/schemas.ts";
import { parseSchedule, ScheduleBody } from "../pipelines/schedule.ts";
import type { Schedule } from "../store/tables.ts";
import {
  type ActivationPlan,
  checkPlan,
  Mappings,
  ObjectName,
  toMappings,
} from "./activation-parts.ts";
import { findActivation } from "./rows.ts";
import { activationStatuses } from "./schemas.ts";

const timing = {
  schedule: Type.Optional(Nullable(ScheduleBody)),
  status: Type.Optional(
    OneOf(activationStatuses, {
      description: "Only active ones run. Default active.",
    }),
  ),
};
export const CreateActivation = StrictObject({
  ...workspaceInput,
  name: Name,
  modelId: IdInput("The model."),
  destinationId: IdInput("The reverse ETL destination."),
  object: ObjectName,
  operation: OneOf(rowOperations),
  mappings: Mappings,
  ...timing,
});

/** The activation as it will be. */
export async function partsOfNewActivation(
  ctx: OperationContext,
  entered: Static<typeof CreateActivation>,
) {
  const { name, modelId, destinationId, object, operation, mappings, status = "active" } = entered;
  const plan: ActivationPlan = {
    modelId,
    destinationId,
    object,
    operation,
    mappings: toMappings(mappings),
  };
  const schedule = entered.schedule ? parseTimes(entered.schedule) : null;
  return { name, plan, schedule, status, destination: await checkPlan(ctx, plan) };
}

/**
 * @throws invalid_schedule · an activation compares the rows of a model: it has no log to follow
 */
function parseTimes(entered: Static<typeof ScheduleBody>): Schedule {
  const schedule = parseSchedule(entered);
  if (schedule.type === "continuous")
    throw refuseField("invalid_schedule", "schedule.type", "does not go with an activation");
  return schedule;
}

const refused = (what: string) =>
  Type.Optional(Type.Unknown({ description: `Refused: an activation keeps its ${what}.` }));
export const UpdateActivation = StrictObject({
  ...workspaceInput,
  name: Type.Optional(Name),
  modelId: refused("model"),
  destinationId: refused("destination"),
  object: Type.Optional(ObjectName),
  operation: Type.Optional(OneOf(rowOperations)),
  mappings: Type.Optional(Mappings),
  ...timing,
});

/** The activation as it will be; without `plan` nothing changes of what is sent. */
export async function partsOfChangedActivation(
  ctx: OperationContext,
  id: string,
  entered: Static<typeof UpdateActivation>,
) {
  for (const name of ["modelId", "destinationId"] as const)
    if (entered[name] !== undefined)
      throw refuseField("immutable_field", name, "cannot be changed");
  const row = await findActivation(ctx.db, ctx.workspaceId, id);
  ctx.expectVersion(row.version);
  const schedule = entered.schedule ? parseTimes(entered.schedule) : entered.schedule;
  const { name, status, object = row.object, operation = row.operation } = entered;
  const timed = { version: row.version, name, status, schedule };
  if (
    entered.object === undefined &&
    entered.operation === undefined &&
    entered.mappings === undefined
  )
    return timed;
  const mappings = entered.mappings ? toMappings(entered.mappings) : row.mappings;
  const plan: ActivationPlan = {
    modelId: row.model_id,
    destinationId: row.destination_id,
    object,
    operation,
    mappings,
  };
  return { ...timed, plan, destination: await checkPlan(ctx, plan) };
}

/** Whether what was confirmed says nothing of what will be sent. */
export function isElsewhere(
  before: Pick<ActivationPlan, "object" | "operation" | "mappings">,
  plan: ActivationPlan,
): boolean {
  const identifierOf = ({ mappings }: Pick<ActivationPlan, "mappings">) => {
    const found = mappings.find(({ isPrimaryIdentifier }) => isPrimaryIdentifier);
    return JSON.stringify([found?.from, found?.to]);
  };
  return (
    before.object !== plan.object ||
    before.operation !== plan.operation ||
    identifierOf(before) !== identifierOf(plan)
  );
}
