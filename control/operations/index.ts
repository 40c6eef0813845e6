/** The registry: every operation of the Control API, in the order of its document. */
import type { Operation } from "../contract/operation.ts";
import { approvalPolicyOperations } from "./approval-policies.ts";
import { approvalOperations } from "./approvals.ts";
import { auditOperations } from "./audit.ts";
import { connectionOperations } from "./connections.ts";
import { connectorOperations } from "./connectors.ts";
import { credentialOperations } from "./credentials.ts";
import { destinationOperations } from "./destinations.ts";
import { invitationOperations } from "./invitations.ts";
import { jobOperations } from "./jobs.ts";
import { mailerOperations } from "./mailer.ts";
import { meOperations } from "./me.ts";
import { memberOperations } from "./members.ts";
import { oauthOperations } from "./oauth.ts";
import { preparePipeline } from "./pipeline-prepare.ts";
import { pipelineRunOperations } from "./pipeline-runs.ts";
import { pipelineOperations } from "./pipelines.ts";
import { sessionOperations } from "./sessions.ts";
import { sourceProbeOperations } from "./source-probes.ts";
import { sourceOperations } from "./sources.ts";

export const operations: readonly Operation[] = [
  ...meOperations,
  ...memberOperations,
  ...invitationOperations,
  ...connectorOperations,
  ...mailerOperations,
  ...credentialOperations,
  ...oauthOperations,
  ...sourceOperations,
  ...sourceProbeOperations,
  ...destinationOperations,
  preparePipeline,
  ...pipelineOperations,
  ...pipelineRunOperations,
  ...connectionOperations,
  ...jobOperations,
  ...approvalOperations,
  ...approvalPolicyOperations,
  ...auditOperations,
  ...sessionOperations,
];
