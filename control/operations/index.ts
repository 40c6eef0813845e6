/** The registry: every operation of the Control API, in the order of its document. */
import type { Operation } from "../contract/operation.ts";
import { approvalPolicyOperations } from "./approval-policies.ts";
import { approvalOperations } from "./approvals.ts";
import { auditOperations } from "./audit.ts";
import { connectorOperations } from "./connectors.ts";
import { credentialOperations } from "./credentials.ts";
import { invitationOperations } from "./invitations.ts";
import { mailerOperations } from "./mailer.ts";
import { meOperations } from "./me.ts";
import { memberOperations } from "./members.ts";
import { oauthOperations } from "./oauth.ts";
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
  ...approvalOperations,
  ...approvalPolicyOperations,
  ...auditOperations,
  ...sessionOperations,
];
