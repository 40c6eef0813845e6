import type { ActivationObject, RowOperation } from "svc-connectors/host";
import { type Static, Type } from "typebox";
import type { OperationContext } from "../contract/operation.ts";
import { refuseField } from "../contract/reasons.ts";
import { StrictObject } from "../contract/schemas.ts";
import type { RunContext } from "../sources/runs.ts";
import { activationTargetOf, openActivation } from "./activation-target.ts";
import { type Mapping, modelFaults, objectFaults, requireNone } from "./mappings.ts";
import { findModel, findReverseDestination, type ReverseDestinationRow } from "./rows.ts";

const MappingBody = StrictObject(
  {
    from: Type.String({ minLength: 1, maxLength: 200, description: "A column of the model." }),
    to: Type.String({
      minLength: 1,
      maxLength: 200,
      pattern: "^[^\\u0000-\\u001f]*$",
      description: "A field of the destination.",
    }),
    isPrimaryIdentifier: Type.Optional(
      Type.Boolean({ description: "Finds the row. Default false." }),
    ),
  },
  { title: "MappingInput" },
);

/** Mappings of a request, at most one for each column of a wide table. */
export const Mappings = Type.Array(MappingBody, { minItems: 1, maxItems: 500 });

export const ObjectName = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'webhook: rows · postgres: "schema.table" · mailer: a list, by name or id.',
});

export const toMappings = (entered: Static<typeof Mappings>): Mapping[] =>
  entered.map(({ from, to, isPrimaryIdentifier = false }) => ({ from, to, isPrimaryIdentifier }));

/** The plan of an activation: what it sends, and how. */
export interface ActivationPlan {
  readonly modelId: string;
  readonly destinationId: string;
  readonly object: string;
  readonly operation: RowOperation;
  readonly mappings: readonly Mapping[];
}

/**
 * Checks a plan against the database, and gives its destination.
 * @throws not_found, invalid_mapping
 */
export async function checkPlan(
  { db, workspaceId }: OperationContext,
  plan: ActivationPlan,
): Promise<ReverseDestinationRow> {
  const model = await findModel(db, workspaceId, plan.modelId);
  const destination = await findReverseDestination(db, workspaceId, plan.destinationId);
  requireNone(modelFaults(plan.mappings, plan.operation, model.columns));
  return destination;
}

/**
 * Checks a plan against its destination, which is asked.
 * @throws invalid_mapping, and how it cannot be reached
 */
export async function checkPlanThere(
  ctx: OperationContext,
  plan: ActivationPlan,
  destination: ReverseDestinationRow,
): Promise<void> {
  const [object] = await objectsOf(ctx, destination, plan.object);
  if (!object)
    throw refuseField("invalid_mapping", "object", "is nothing that the destination has");
  requireNone(objectFaults(plan.mappings, plan.operation, object));
}

/** Objects of a destination; with a name, that one, or none. */
export async function objectsOf(
  ctx: RunContext,
  row: ReverseDestinationRow,
  name?: string,
): Promise<readonly ActivationObject[]> {
  const { reference, config, options } = await openActivation(
    ctx,
    await activationTargetOf(ctx, row),
    "objects",
  );
  return await ctx.services.activations.objects(reference, config, name, options);
}
