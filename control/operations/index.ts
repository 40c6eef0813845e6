/** The registry: every operation of the Control API, in the order of its document. */
import type { Operation } from "../contract/operation.ts";
import { approvalChangeOperations } from "./approval-changes.ts";
import { approvalPolicyOperations } from "./approval-policies.ts";
import { approvalOperations } from "./approvals.ts";
import { auditOperations } from "./audit.ts";
import { auditExportOperations } from "./audit-export.ts";
import { checkOperations } from "./checks.ts";
import { connectionOperations } from "./connections.ts";
import { connectorReportOperations } from "./connector-reports.ts";
import { connectorWriteOperations } from "./connector-writes.ts";
import { connectorOperations } from "./connectors.ts";
import { credentialOperations } from "./credentials.ts";
import { destinationOperations } from "./destinations.ts";
import { webhookDeliveryOperations } from "./event-deliveries.ts";
import { webhookEndpointOperations } from "./event-endpoints.ts";
import { eventOperations } from "./events.ts";
import { instanceOperations } from "./instance.ts";
import { instanceConnectorOperations } from "./instance-connectors.ts";
import { instanceKeyOperations } from "./instance-keys.ts";
import { setupOperations } from "./instance-setup.ts";
import { instanceTokenOperations } from "./instance-tokens.ts";
import { invitationOperations } from "./invitations.ts";
import { jobEventOperations } from "./job-events.ts";
import { cancelJob, getJob, jobOperations } from "./jobs.ts";
import { mailerOperations } from "./mailer.ts";
import { meOperations } from "./me.ts";
import { memberOperations } from "./members.ts";
import { oauthOperations } from "./oauth.ts";
import { pipelineChangeOperations } from "./pipeline-changes.ts";
import { pipelineJobOperations } from "./pipeline-jobs.ts";
import { preparePipeline } from "./pipeline-prepare.ts";
import { pipelineRunOperations } from "./pipeline-runs.ts";
import { updatePipelineStreams } from "./pipeline-streams.ts";
import { pipelineOperations } from "./pipelines.ts";
import { reverseEtlActivationOperations } from "./reverse-etl-activations.ts";
import { reverseEtlDestinationOperations } from "./reverse-etl-destinations.ts";
import { reverseEtlModelOperations } from "./reverse-etl-models.ts";
import { reverseEtlPrepareOperations } from "./reverse-etl-prepare.ts";
import { reverseEtlPreviewOperations } from "./reverse-etl-preview.ts";
import { reverseEtlRunOperations } from "./reverse-etl-runs.ts";
import { rowsPerDayOperations } from "./rows-per-day.ts";
import { scheduleOperations } from "./schedules.ts";
import { sessionOperations } from "./sessions.ts";
import { sourceProbeOperations } from "./source-probes.ts";
import { sourceOperations } from "./sources.ts";
import { workspaceOperations } from "./workspaces.ts";

export const operations: readonly Operation[] = [
  ...meOperations,
  ...workspaceOperations,
  ...memberOperations,
  ...invitationOperations,
  ...connectorOperations,
  ...connectorWriteOperations,
  ...connectorReportOperations,
  ...mailerOperations,
  ...credentialOperations,
  ...oauthOperations,
  ...sourceOperations,
  ...sourceProbeOperations,
  ...destinationOperations,
  ...checkOperations,
  preparePipeline,
  ...pipelineOperations,
  ...pipelineChangeOperations,
  updatePipelineStreams,
  ...pipelineRunOperations,
  ...pipelineJobOperations,
  ...scheduleOperations,
  ...rowsPerDayOperations,
  ...connectionOperations,
  ...reverseEtlPrepareOperations,
  ...reverseEtlPreviewOperations,
  ...reverseEtlModelOperations,
  ...reverseEtlDestinationOperations,
  ...reverseEtlActivationOperations,
  ...reverseEtlRunOperations,
  ...jobOperations,
  ...jobEventOperations,
  ...approvalOperations,
  ...approvalChangeOperations,
  ...approvalPolicyOperations,
  ...auditOperations,
  ...auditExportOperations,
  ...eventOperations,
  ...webhookEndpointOperations,
  ...webhookDeliveryOperations,
  ...sessionOperations,
];

/**
 * Everything that the operator asks for from the command line: operations of their own, which have
 * no route and no tool, and some of the API's, in whatever workspace.
 */
export const operatorOperations: readonly Operation[] = [
  ...setupOperations,
  ...instanceTokenOperations,
  ...instanceKeyOperations,
  ...instanceConnectorOperations,
  ...instanceOperations,
  getJob,
  cancelJob,
];
