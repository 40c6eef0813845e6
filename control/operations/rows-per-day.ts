/** How much has moved, day by day. */
import { Type } from "typebox";
import { defineRead } from "../contract/operation.ts";
import { refuseField } from "../contract/reasons.ts";
import { IdInput, StrictObject, workspaceInput } from "../contract/schemas.ts";
import { findPipeline } from "../pipelines/rows.ts";
import { rowsPerDay } from "../pipelines/rows-per-day.ts";
import { isTimeZone } from "../pipelines/schedule.ts";

const usualDays = 30;

export const getRowsPerDay = defineRead({
  id: "pipeline.rows_per_day",
  operationId: "getRowsPerDay",
  area: "Pipelines",
  path: "/rows-per-day",
  summary: "Count rows per day",
  description:
    "Rows that destinations have got from syncs, in the whole workspace or from one pipeline, by the day on which they were committed. Oldest first, today last, each day once.",
  permission: "read",
  query: StrictObject({
    ...workspaceInput,
    pipeline_id: Type.Optional(IdInput("Only of this pipeline.")),
    days: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 90, default: usualDays, description: "With today." }),
    ),
    time_zone: Type.Optional(
      Type.String({
        maxLength: 60,
        default: "UTC",
        description: "IANA name: where a day begins at midnight.",
      }),
    ),
  }),
  data: StrictObject(
    {
      time_zone: Type.String(),
      days: Type.Array(
        StrictObject(
          {
            day: Type.String({ format: "date" }),
            records: Type.Integer({ minimum: 0 }),
            bytes: Type.Integer({ minimum: 0 }),
          },
          { title: "DayRows" },
        ),
      ),
    },
    { title: "RowsPerDay" },
  ),
  errors: ["not_found", "invalid_query"],
  async run({ db, workspaceId, now }, { query }) {
    const { pipeline_id: pipelineId, days: count = usualDays, time_zone: timeZone = "UTC" } = query;
    if (!isTimeZone(timeZone))
      throw refuseField(
        "invalid_query",
        "time_zone",
        "is not the name of a time zone, like Europe/Berlin",
      );
    if (pipelineId !== undefined) await findPipeline(db, workspaceId, pipelineId);
    const request = { workspaceId, pipelineId, timeZone, count, now };
    return { time_zone: timeZone, days: await rowsPerDay(db, request) };
  },
});

export const rowsPerDayOperations = [getRowsPerDay];
