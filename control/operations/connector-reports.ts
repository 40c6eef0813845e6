/** Reports of the conformance kit about connectors that were added. */
import { Type } from "typebox";
import {
  ConformanceReport,
  findReport,
  GivenReport,
  keepReport,
} from "../connectors/conformance.ts";
import { namedConnector } from "../connectors/registry.ts";
import { defineRead, defineWrite } from "../contract/operation.ts";
import { ControlError, notFound } from "../contract/reasons.ts";
import { StrictObject } from "../contract/schemas.ts";
import { connectorParams } from "./connectors.ts";

export const getConnectorReport = defineRead({
  id: "connector_report.get",
  area: "Connectors",
  path: "/connectors/{connector_id}/conformance",
  summary: "Get the conformance report of a connector",
  description:
    "What the conformance kit has found of a connector that was added, as whoever administers the instance has given it here.",
  permission: "read",
  workspace: "none",
  params: connectorParams,
  data: ConformanceReport,
  errors: ["not_found"],
  async run(ctx, { params }) {
    const report = await findReport(ctx.db, namedConnector(ctx, params.connector_id));
    if (!report) throw new ControlError("not_found", { resource: "connector_report" });
    return report;
  },
});

const KeptReport = StrictObject(
  { connector_id: Type.String(), verdict: ConformanceReport.properties.verdict },
  { title: "KeptReport" },
);

export const createConnectorReport = defineWrite({
  id: "connector_report.create",
  area: "Connectors",
  method: "POST",
  path: "/connectors/{connector_id}/conformance",
  summary: "Keep the conformance report of a connector",
  description:
    "For administrators of the instance: those of its first workspace. No agent does it. Of a connector that was added; it takes the place of the report before.",
  permission: "admin",
  workspace: "instance",
  status: 200,
  resource: "connector",
  isForPeople: true,
  isRepeatable: true,
  params: connectorParams,
  body: StrictObject({ report: GivenReport }),
  data: KeptReport,
  errors: ["agent_cannot_approve", "not_found", "report_refused"],
  async guard(ctx, { params }) {
    const { id, added } = namedConnector(ctx, params.connector_id);
    if (!added || added.isRemoved) throw notFound("added_connector", id);
    return id;
  },
  async commit(tx, { now }, { body: { report } }, id) {
    const row = await tx
      .selectFrom("added_connectors")
      .select(["id", "code_digest", "image"])
      .where("id", "=", id)
      .where("removed_at", "is", null)
      .forShare()
      .executeTakeFirst();
    if (!row) throw notFound("added_connector", id);
    await keepReport(tx, row, report, now);
    return { data: { connector_id: id, verdict: report.verdict }, resourceId: id };
  },
});

export const connectorReportOperations = [getConnectorReport, createConnectorReport];
