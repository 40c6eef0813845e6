/** Looking at both sides of an activation before there is one. */
import { rowOperations } from "svc-connectors/host";
import { Type } from "typebox";
import { defineCompute } from "../contract/operation.ts";
import {
  FieldError,
  IdInput,
  Nullable,
  OneOf,
  StrictObject,
  Time,
  workspaceInput,
} from "../contract/schemas.ts";
import { Mappings, ObjectName, toMappings } from "../reverse-etl/activation-parts.ts";
import { prepareActivation } from "../reverse-etl/prepare.ts";
import { findModel, findReverseDestination } from "../reverse-etl/rows.ts";
import { Column, Counts, MappingData } from "../reverse-etl/schemas.ts";
import { queryErrors } from "./reverse-etl-models.ts";

const PrepareActivation = StrictObject({
  ...workspaceInput,
  modelId: IdInput("The model."),
  destinationId: IdInput("The reverse ETL destination."),
  object: Type.Optional(ObjectName),
  operation: Type.Optional(
    OneOf(rowOperations, {
      description: "Default: upsert, where the object can.",
    }),
  ),
  mappings: Type.Optional(Mappings),
});

const Prepared = StrictObject({
  valid: Type.Boolean({ description: "An activation could be made of it." }),
  issues: Type.Array(FieldError),
  columns: Type.Array(Column),
  objects: Type.Array(StrictObject({ name: Type.String(), id: Nullable(Type.String()) })),
  operation: OneOf(rowOperations),
  mappings: Type.Array(MappingData, {
    description: "Of the request; else columns to fields of the same name.",
  }),
  destinationFields: Type.Array(
    StrictObject({
      name: Type.String(),
      type: Type.String(),
      isRequired: Type.Boolean(),
      isIdentifier: Type.Boolean(),
    }),
  ),
  preview: StrictObject({
    fields: Type.Array(Type.String()),
    rows: Type.Array(Type.Array(Type.Unknown()), {
      description:
        "At most 10, values in the order of fields. What is personal or secret is masked.",
    }),
    plannedRows: Counts,
  }),
  digest: Type.String({
    pattern: "^sha256:[0-9a-f]{64}$",
    description: "The same while nothing has changed.",
  }),
  expiresAt: Time,
});

export const prepareReverseEtl = defineCompute({
  id: "reverse_etl.prepare",
  area: "Reverse ETL",
  path: "/reverse-etl/prepare",
  summary: "Prepare a reverse ETL activation",
  description:
    "Queries the model and asks the destination for its fields. Sends and saves nothing.",
  permission: "run",
  limit: "provider",
  body: PrepareActivation,
  data: Prepared,
  errors: ["not_found", "duplicate_field", "invalid_base_url", ...queryErrors],
  async guard({ db, workspaceId }, { body }) {
    const { modelId, destinationId, object, operation, mappings } = body;
    return {
      model: await findModel(db, workspaceId, modelId),
      destination: await findReverseDestination(db, workspaceId, destinationId),
      object,
      operation,
      mappings: mappings && toMappings(mappings),
    };
  },
  run: (ctx, _input, request) => prepareActivation(ctx, request),
});

export const reverseEtlPrepareOperations = [prepareReverseEtl];
