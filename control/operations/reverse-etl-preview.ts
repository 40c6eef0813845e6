/** The rows of a query before a model is made of it, or changed to it. */
import { Type } from "typebox";
import { defineCompute } from "../contract/operation.ts";
import { IdInput, StrictObject, workspaceInput } from "../contract/schemas.ts";
import { findDestination } from "../destinations/rows.ts";
import { queryProperties, sqlOf } from "../reverse-etl/model-parts.ts";
import { modelPreviewRows, previewModel } from "../reverse-etl/model-preview.ts";
import { Column } from "../reverse-etl/schemas.ts";
import { queryErrors } from "./reverse-etl-models.ts";

export const previewReverseEtlModel = defineCompute({
  id: "reverse_etl_model.preview",
  area: "Reverse ETL",
  path: "/reverse-etl/models/preview",
  summary: "Preview the rows of a query",
  description:
    "Runs the query as a model would, and saves nothing: one SELECT, read-only, for 20 seconds at most.",
  permission: "run",
  limit: "provider",
  body: StrictObject({
    ...workspaceInput,
    warehouseId: IdInput("The warehouse: a destination of pipelines, of DuckDB or PostgreSQL."),
    ...queryProperties,
  }),
  formerNames: { destinationId: "warehouseId", sourceId: "warehouseId" },
  data: StrictObject(
    {
      columns: Type.Array(Column),
      rows: Type.Array(Type.Array(Type.Unknown()), {
        description: `At most ${modelPreviewRows}, values in the order of columns. What is personal or secret is masked, and long texts are cut.`,
      }),
      hasMore: Type.Boolean({ description: "The query gives more rows than are shown." }),
    },
    { title: "ReverseEtlModelPreview" },
  ),
  errors: ["not_found", "duplicate_field", ...queryErrors],
  async guard({ db, workspaceId }, { body: { warehouseId, workspace_id: _, ...entered } }) {
    await findDestination(db, workspaceId, warehouseId);
    return { warehouseId, sql: sqlOf(entered).sql };
  },
  run: (ctx, _input, query) => previewModel(ctx, query),
});

export const reverseEtlPreviewOperations = [previewReverseEtlModel];
