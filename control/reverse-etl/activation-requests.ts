/** Requests for activations, checked without asking the destination. */
import { rowOperations } from "svc-connectors/host";
import { Type } from "typebox";
import type { OperationContext } from "../contract/operation.ts";
import { refuseField } from "../contract/reasons.ts";
import { IdInput, Name, Nullable, OneOf } from "../contract/schemas.ts";
import { parseSchedule, ScheduleBody } from "../pipelines/schedule.ts";
import {
  type ActivationPlan,
  checkPlan,
  Mappings,
  ObjectName,
  toMappings,
} from "./activation-parts.ts";
import { aliased, requireFields, unaliased } from "./aliases.ts";
import { findActivation } from "./rows.ts";
import { activationStatuses } from "./schemas.ts";

const timing = {
  schedule: Nullable(ScheduleBody),
  status: OneOf(activationStatuses, { description: "Only active ones run. Default active." }),
};
const createProperties = {
  name: Name,
  modelId: IdInput("The model."),
  destinationId: IdInput("The reverse ETL destination."),
  object: ObjectName,
  operation: OneOf(rowOperations),
  mappings: Mappings,
  ...timing,
};
export const CreateActivation = aliased(createProperties);

/** The activation as it will be. */
export async function partsOfNewActivation(ctx: OperationContext, body: object) {
  const entered = unaliased(createProperties, body);
  requireFields(entered, ["name", "modelId", "destinationId", "object", "operation", "mappings"]);
  const { name, modelId, destinationId, object, operation, mappings, status = "active" } = entered;
  const plan: ActivationPlan = {
    modelId,
    destinationId,
    object,
    operation,
    mappings: toMappings(mappings),
  };
  const schedule = entered.schedule ? parseSchedule(entered.schedule) : null;
  return { name, plan, schedule, status, destination: await checkPlan(ctx, plan) };
}

const refused = (what: string) =>
  Type.Unknown({ description: `Refused: an activation keeps its ${what}.` });
const updateProperties = {
  name: Name,
  modelId: refused("model"),
  destinationId: refused("destination"),
  object: ObjectName,
  operation: OneOf(rowOperations),
  mappings: Mappings,
  ...timing,
};
export const UpdateActivation = aliased(updateProperties);

/** The activation as it will be; without `plan` nothing changes of what is sent. */
export async function partsOfChangedActivation(ctx: OperationContext, id: string, body: object) {
  const entered = unaliased(updateProperties, body);
  for (const name of ["modelId", "destinationId"] as const)
    if (entered[name] !== undefined)
      throw refuseField("immutable_field", name, "cannot be changed");
  const row = await findActivation(ctx.db, ctx.workspaceId, id);
  ctx.expectVersion(row.version);
  const schedule = entered.schedule ? parseSchedule(entered.schedule) : entered.schedule;
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
