/**
 * Names of enumerations. Wherever one of these sets of words stands in a schema, the OpenAPI
 * document refers to it, and generated clients have one type for it.
 */
import { connectorCategories, destinationSyncModes, rowOperations } from "svc-connectors/host";
import {
  conformanceVerdicts,
  ruleLevels,
  ruleResults,
  triedCodes,
} from "../connectors/conformance.ts";
import { authTypes } from "../connectors/describe.ts";
import { connectorTypes } from "../connectors/registry.ts";
import { categories } from "../contract/operation.ts";
import { nameSorts, timeSorts } from "../contract/schemas.ts";
import { authTypes as credentialAuthTypes } from "../credentials/schemas.ts";
import { chosenTypes, webhookFormats } from "../events/types.ts";
import { logLevels } from "../jobs/schemas.ts";
import { invitationStatuses } from "../members/schemas.ts";
import { syncStates } from "../pipelines/rows.ts";
import { schemaChangePolicies } from "../pipelines/schema-changes.ts";
import { detectDeletes } from "../pipelines/selection.ts";
import { namespaceDefinitions } from "../pipelines/table-names.ts";
import { activationStatuses, queryTypes } from "../reverse-etl/schemas.ts";
import {
  approvalStatuses,
  attemptStatuses,
  clients,
  credentialStatuses,
  deliveryStatuses,
  disabledReasons,
  eventTypes,
  jobStatuses,
  jobTypes,
  pipelineStatuses,
  roles,
  runStatuses,
  scopes,
  triggers,
} from "../store/tables.ts";

const enumerations: Readonly<Record<string, readonly string[]>> = {
  ActivationStatus: activationStatuses,
  ActorType: ["user", "system"],
  ApprovalStatus: approvalStatuses,
  AttemptStatus: attemptStatuses,
  AuditOutcome: ["success", "failure", "denied"],
  AuthType: authTypes,
  CheckStatus: ["succeeded", "failed"],
  ChangeCategory: Object.keys(categories),
  Client: clients,
  ConformanceVerdict: conformanceVerdicts,
  ConnectorCategory: connectorCategories,
  ConnectorType: connectorTypes,
  CredentialAuthType: credentialAuthTypes,
  CredentialStatus: credentialStatuses,
  DataSourceStatus: [
    "ready",
    "degraded",
    "unauthorized",
    "forbidden",
    "not_found",
    "rate_limited",
    "unreachable",
    "invalid_response",
  ],
  DeliveryStatus: deliveryStatuses,
  DestinationSyncMode: destinationSyncModes,
  DetectDeletes: detectDeletes,
  DisabledReason: disabledReasons,
  WebhookFormat: webhookFormats,
  EnabledStatus: ["enabled", "disabled"],
  EventType: eventTypes,
  ChosenEventType: chosenTypes,
  ExecutionMode: ["direct", "proposal"],
  FailureOrigin: ["source", "destination", "platform"],
  InvitationStatus: invitationStatuses,
  JobKind: ["sync", "reverse_etl"],
  JobStatus: jobStatuses,
  JobType: jobTypes,
  ListOrder: timeSorts,
  LogLevel: logLevels,
  MemberStatus: ["active", "suspended", "invited"],
  NamedListOrder: nameSorts,
  NamespaceDefinition: namespaceDefinitions,
  PipelineStatus: pipelineStatuses,
  QueryType: queryTypes,
  ReleaseStage: ["alpha", "beta", "ga"],
  ResourceStatus: ["active", "error", "disabled"],
  Role: roles,
  RuleLevel: ruleLevels,
  RuleResult: ruleResults,
  RowOperation: rowOperations,
  RunStatus: runStatuses,
  SchemaChangePolicy: schemaChangePolicies,
  Scope: scopes,
  SessionStatus: ["active", "expired", "revoked"],
  SyncMode: ["full_refresh", "incremental"],
  SyncState: syncStates,
  TriedCode: triedCodes,
  Trigger: triggers,
};

const names = new Map(
  Object.entries(enumerations).map(([name, words]) => [JSON.stringify(words), name]),
);

/** The name of a set of words; undefined: it has none. */
export const nameOfEnum = (words: unknown): string | undefined =>
  Array.isArray(words) ? names.get(JSON.stringify(words)) : undefined;
