/** Made from the registry of operations by `npm run docs`: the API, as its clients see it. */

type Headers = Record<string, string | undefined>;

export interface schemas {
  AcceptInvitationRequest: { token: string; name?: schemas["Name"] | undefined };
  AcceptInvitationResponse: { request_id: schemas["RequestId"]; data: schemas["AcceptInvitationResult"] };
  AcceptInvitationResult: { workspace_id: string; member_id: string; user_id: string; email: string; role: schemas["Role"]; session: { session_id: string; token: string; expires_at: string } };
  ActivationStatus: "active" | "paused" | "disabled";
  ActorType: "user" | "system";
  AdministeredInstance: { images: (string)[] };
  Approval: { approval_id: string; workspace_id: string; operation: string; category: schemas["ChangeCategory"] | null; status: schemas["ApprovalStatus"]; source: schemas["Client"]; proposal: { method: string; path: string; params: Record<string, unknown>; body_redacted: Record<string, unknown>; summary: string }; payload_digest: string; resource: { type: string; id: string | null; version: number | null }; requested_by: { user_id: string; session_id: string }; reason: string | null; created_at: string; expires_at: string; decided_by: string | null; decided_at: string | null; decision_comment: string | null; result: Record<string, unknown> | null; error: { code: string; reason: string; message: string } | null; already_resolved?: boolean | undefined };
  ApprovalList: { items: (schemas["Approval"])[]; next_cursor: string | null; has_more: boolean };
  ApprovalListResponse: { request_id: schemas["RequestId"]; data: schemas["ApprovalList"] };
  ApprovalPolicy: { category: schemas["ChangeCategory"]; description: string; requires_approval: boolean; require_distinct_approver: boolean; operations: (string)[]; updated_at: string | null; updated_by: string | null; version: number };
  ApprovalPolicyList: { items: (schemas["ApprovalPolicy"])[]; next_cursor: string | null; has_more: boolean };
  ApprovalPolicyListResponse: { request_id: schemas["RequestId"]; data: schemas["ApprovalPolicyList"] };
  ApprovalPolicyResponse: { request_id: schemas["RequestId"]; data: schemas["ApprovalPolicy"] };
  ApprovalReason: { reason?: string | undefined };
  ApprovalResponse: { request_id: schemas["RequestId"]; data: schemas["Approval"] };
  ApprovalStatus: "pending" | "approved" | "executing" | "executed" | "failed" | "rejected" | "expired" | "cancelled";
  ApproveApprovalRequest: { comment?: string | undefined; payload_digest?: string | undefined };
  AttemptStatus: "running" | "succeeded" | "failed" | "cancelled" | "lost" | "released";
  AuditExportLine: { kind: "begin" | "entry" | "end"; workspace_id?: string | undefined; entry?: schemas["ChainedAuditEntry"] | undefined; index?: number | undefined; hash?: schemas["AuditHash"] | undefined; count?: number | undefined };
  AuditHash: string;
  AuditLog: { audit_log_id: string; workspace_id: string; occurred_at: string; actor: { type: schemas["ActorType"]; id: string | null; display: string }; client: schemas["Client"]; action: string; resource_type: string; resource_id: string | null; outcome: schemas["AuditOutcome"]; summary: string; approval_id: string | null; request_id: string; ip: string | null; user_agent: string | null };
  AuditLogList: { items: (schemas["AuditLog"])[]; next_cursor: string | null; has_more: boolean };
  AuditLogListResponse: { request_id: schemas["RequestId"]; data: schemas["AuditLogList"] };
  AuditOutcome: "success" | "failure" | "denied";
  AuthType: "oauth2" | "api_token" | "basic" | "none";
  Campaign: { campaign_uuid: string; name: string | null; status: string | null; sent_at: string | null; sent_to_number_of_subscribers: number | null; open_count: number | null; unique_open_count: number | null; open_rate: number | null; click_count: number | null; unique_click_count: number | null; click_rate: number | null; unsubscribe_count: number | null; unsubscribe_rate: number | null; bounce_count: number | null; bounce_rate: number | null };
  CancelReverseEtlRunResult: { runId: string; status: schemas["RunStatus"] };
  CancelReverseEtlRunResultOrApprovalResponse: { request_id: schemas["RequestId"]; data: schemas["CancelReverseEtlRunResult"] | schemas["Approval"] };
  CatalogStream: { name: string; namespace: string | null; json_schema: Record<string, unknown>; supported_sync_modes: (schemas["SyncMode"])[]; source_defined_cursor: boolean; default_cursor_field: (string)[]; proposed_cursors: (schemas["ProposedCursor"])[]; source_defined_primary_key: ((string)[])[]; selected: boolean; suggested: boolean };
  ChainedAuditEntry: { action: string; actor_display: string; actor_id: string | null; actor_type: schemas["ActorType"]; approval_id: string | null; client: schemas["Client"]; id: string; index: number; ip: string | null; occurred_at: string; outcome: schemas["AuditOutcome"]; request_id: string; resource_id: string | null; resource_type: string; summary: string; user_agent: string | null; workspace_id: string };
  ChangeCategory: "sync_run" | "source_change" | "source_delete" | "destination_change" | "pipeline_change" | "connection_delete" | "reverse_etl_config" | "reverse_etl_run" | "credential_change";
  Check: { status: schemas["CheckStatus"]; error: string | null; message: string | null; checked_at: string };
  CheckMailerRequest: { workspace_id?: schemas["WorkspaceChoice"] | undefined; connector_id?: string | undefined; connection_method?: schemas["ConnectionMethod"] | undefined; credential_handle: schemas["CredentialHandle"]; base_url: string };
  CheckMailerResponse: { request_id: schemas["RequestId"]; data: schemas["CheckMailerResult"] };
  CheckMailerResult: { connector_id: string; credential_handle: schemas["CredentialHandle"]; connection_method: schemas["ConnectionMethod"]; data_source_status: schemas["DataSourceStatus"]; message: string; field_coverage: schemas["FieldCoverage"]; checked_at: string };
  CheckStatus: "succeeded" | "failed";
  CheckedDestination: { destination_id: string; connector_id: string; status: schemas["CheckStatus"]; error: string | null; message: string | null; checked_at: string };
  CheckedDestinationResponse: { request_id: schemas["RequestId"]; data: schemas["CheckedDestination"] };
  CheckedSource: { source_id: string; connector_id: string; status: schemas["CheckStatus"]; error: string | null; message: string | null; checked_at: string };
  CheckedSourceResponse: { request_id: schemas["RequestId"]; data: schemas["CheckedSource"] };
  ChosenEventType: "job.succeeded" | "job.failed" | "job.cancelled" | "pipeline.failed" | "pipeline.recovered" | "pipeline.paused" | "pipeline.degraded" | "activation.failed" | "activation.recovered" | "activation.degraded" | "schema.changed" | "approval.created" | "approval.decided" | "approval.expired" | "credential.needs_reauth" | "credential.expiring" | "webhook_endpoint.disabled";
  Client: "api" | "cli" | "mcp";
  Column: { name: string; type: string };
  ConformanceReport: { connector_id: string; verdict: schemas["ConformanceVerdict"]; kit_version: string; tried_at: string; kept_at: string; tried_code: schemas["TriedCode"]; counts: schemas["RuleCounts"]; connector_version: string | null; target: string; profiles: (string)[]; duration_ms: number; run_count: number; remarks: (string)[]; rules: (schemas["TriedRule"])[] };
  ConformanceReportResponse: { request_id: schemas["RequestId"]; data: schemas["ConformanceReport"] };
  ConformanceSummary: { verdict: schemas["ConformanceVerdict"]; kit_version: string; tried_at: string; kept_at: string; tried_code: schemas["TriedCode"]; counts: schemas["RuleCounts"] };
  ConformanceVerdict: "passed" | "failed" | "unusable";
  ConnectedAccount: { credential_handle: schemas["CredentialHandle"]; credential_id: string; connector_id: string; status: schemas["CredentialStatus"]; granted_scopes: (string)[]; expires_at?: string | undefined };
  ConnectedAccountResponse: { request_id: schemas["RequestId"]; data: schemas["ConnectedAccount"] };
  Connection: { connection_id: string; workspace_id: string; pipeline_id: string; source_id: string; destination_id: string; name: schemas["Name"]; status: schemas["PipelineStatus"]; created_at: string };
  ConnectionList: { items: (schemas["Connection"])[]; next_cursor: string | null; has_more: boolean };
  ConnectionListResponse: { request_id: schemas["RequestId"]; data: schemas["ConnectionList"] };
  ConnectionMethod: "self_hosted" | "cloud";
  ConnectionResponse: { request_id: schemas["RequestId"]; data: schemas["Connection"] };
  Connector: { connector_id: string; name: string; type: schemas["ConnectorType"]; category: schemas["ConnectorCategory"]; auth_types: (schemas["AuthType"])[]; release_stage: schemas["ReleaseStage"]; supports: schemas["ConnectorFeatures"]; added: boolean; enabled: boolean; documentation_url: string | null };
  ConnectorCategory: "email_marketing" | "social_media" | "finance" | "productivity" | "database" | "webhook" | "other";
  ConnectorFeatures: { full_refresh: boolean; incremental: boolean; namespaces: boolean; ssl: boolean };
  ConnectorList: { items: (schemas["Connector"])[]; next_cursor: string | null; has_more: boolean };
  ConnectorListResponse: { request_id: schemas["RequestId"]; data: schemas["ConnectorList"] };
  ConnectorType: "source" | "destination" | "row_destination";
  ConnectorWithStreams: { connector_id: string; name: string; type: schemas["ConnectorType"]; category: schemas["ConnectorCategory"]; auth_types: (schemas["AuthType"])[]; release_stage: schemas["ReleaseStage"]; supports: schemas["ConnectorFeatures"]; added: boolean; enabled: boolean; documentation_url: string | null; streams_preview: (schemas["StreamPreview"])[]; limits: { max_tables: number }; manifest: string | null; manifest_metadata: schemas["ManifestMetadata"] | null; source_image: string | null; allowed_hosts: (string)[] | null; image_metadata: schemas["ImageMetadata"] | null; conformance: schemas["ConformanceSummary"] | null; version: schemas["Version"] | null };
  ConnectorWithStreamsResponse: { request_id: schemas["RequestId"]; data: schemas["ConnectorWithStreams"] };
  CreateConnectorReportRequest: { report: schemas["KitReport"] };
  CreateConnectorRequest: { name: string; manifest?: string | undefined; source_image?: string | undefined; allowed_hosts?: (string)[] | undefined };
  CreateCredentialMailerTokenRequest: { workspace_id?: schemas["WorkspaceChoice"] | undefined; connector_id?: string | undefined; connection_method?: schemas["ConnectionMethod"] | undefined; secrets_expire_at?: string | null | undefined; base_url?: string | undefined; api_token: string; name?: schemas["Name"] | undefined; credential_handle?: string | undefined };
  CreateCredentialRequest: { workspace_id?: schemas["WorkspaceChoice"] | undefined; secrets_expire_at?: string | null | undefined; connector_id: string; name?: schemas["Name"] | undefined; auth_type?: "api_key" | "basic" | "custom" | undefined; secrets: Record<string, string>; metadata?: Record<string, unknown> | undefined };
  CreateDestinationRequest: { workspace_id?: schemas["WorkspaceChoice"] | undefined; name: schemas["Name"]; connector_id: string; credential_handle?: schemas["CredentialHandle"] | undefined; configuration?: Record<string, unknown> | undefined };
  CreateInvitationRequest: { email: string; role: schemas["Role"]; expires_in_days?: number | undefined; message?: string | undefined };
  CreatePipelineRequest: { workspace_id?: schemas["WorkspaceChoice"] | undefined; name?: schemas["Name"] | undefined; source_id: string; destination_id: string; prepare_id?: string | undefined; streams?: (schemas["StreamSelection"])[] | undefined; select_all?: boolean | undefined; schedule?: schemas["Schedule"] | undefined; prefix?: string | undefined; namespace_definition?: schemas["NamespaceDefinition"] | undefined; namespace_format?: string | null | undefined; schema_change_policy?: schemas["SchemaChangePolicy"] | undefined; parallel_streams?: number | undefined };
  CreateReverseEtlActivationRequest: { workspace_id?: schemas["WorkspaceChoice"] | undefined; name: schemas["Name"]; modelId: string; destinationId: string; object: string; operation: schemas["RowOperation"]; mappings: (schemas["MappingInput"])[]; schedule?: schemas["Schedule"] | null | undefined; status?: schemas["ActivationStatus"] | undefined };
  CreateReverseEtlDestinationRequest: { workspace_id?: schemas["WorkspaceChoice"] | undefined; name: schemas["Name"]; type: "mailer" | "postgres" | "webhook"; credentialHandle: schemas["CredentialHandle"]; configuration?: Record<string, unknown> | undefined };
  CreateReverseEtlModelRequest: { workspace_id?: schemas["WorkspaceChoice"] | undefined; name: schemas["Name"]; warehouseId: string; queryType?: schemas["QueryType"] | undefined; raw?: schemas["RawQuery"] | undefined; table?: schemas["TableQuery"] | undefined; primaryKey: string };
  CreateSessionRequest: { workspace_id?: schemas["WorkspaceChoice"] | undefined; name: schemas["Name"]; role: schemas["Role"]; client?: schemas["Client"] | undefined; expires_in_days?: number | undefined };
  CreateSessionResponse: { request_id: schemas["RequestId"]; data: schemas["CreateSessionResult"] };
  CreateSessionResult: { session_id: string; user_id: string; workspace_id: string | null; role: schemas["Role"] | null; made_by_session_id: string | null; client: schemas["Client"]; name: string | null; user_agent: string | null; ip: string | null; status: schemas["SessionStatus"]; current: boolean; created_at: string; last_seen_at: string; expires_at: string; revoked_at: string | null; token: string | null };
  CreateSourceRequest: { workspace_id?: schemas["WorkspaceChoice"] | undefined; name: schemas["Name"]; connector_id: string; credential_handle: schemas["CredentialHandle"]; configuration?: Record<string, unknown> | undefined; base_url?: string | undefined; connection_method?: schemas["ConnectionMethod"] | undefined; portal_id?: string | number | undefined; brand_ids?: (string | number)[] | undefined; channel_ids?: (string | number)[] | undefined };
  CreateWebhookEndpointRequest: { workspace_id?: schemas["WorkspaceChoice"] | undefined; name: schemas["Name"]; url: string; event_types?: (schemas["ChosenEventType"])[] | null | undefined; format?: schemas["WebhookFormat"] | undefined };
  CreateWebhookEndpointResponse: { request_id: schemas["RequestId"]; data: schemas["CreateWebhookEndpointResult"] };
  CreateWebhookEndpointResult: { webhook_endpoint_id: string; workspace_id: string; name: schemas["Name"]; url: string; event_types: (schemas["ChosenEventType"])[] | null; format: schemas["WebhookFormat"]; status: schemas["EnabledStatus"]; disabled_reason: schemas["DisabledReason"] | null; created_at: string; updated_at: string; version: schemas["Version"]; signing_secret: string | null };
  Credential: { credential_id: string; workspace_id: string; credential_handle: schemas["CredentialHandle"]; connector_id: string; name: schemas["Name"]; auth_type: schemas["CredentialAuthType"]; status: schemas["CredentialStatus"]; metadata: Record<string, unknown>; base_url: string | null; secret_fields: (string)[]; fingerprint: string; granted_scopes: (string)[]; expires_at: string | null; secrets_expire_at: string | null; last_verified_at: string | null; last_error: { reason: string; at: string } | null; created_at: string; updated_at: string; version: schemas["Version"] };
  CredentialAuthType: "api_key" | "basic" | "custom" | "oauth2";
  CredentialHandle: string;
  CredentialList: { items: (schemas["Credential"])[]; next_cursor: string | null; has_more: boolean };
  CredentialListResponse: { request_id: schemas["RequestId"]; data: schemas["CredentialList"] };
  CredentialResponse: { request_id: schemas["RequestId"]; data: schemas["Credential"] };
  CredentialStatus: "pending" | "active" | "needs_reauth" | "pending_approval" | "revoked" | "failed" | "expired";
  DataSourceStatus: "ready" | "degraded" | "unauthorized" | "forbidden" | "not_found" | "rate_limited" | "unreachable" | "invalid_response";
  DayRows: { day: string; records: number; bytes: number };
  DeleteConnectionResponse: { request_id: schemas["RequestId"]; data: schemas["DeleteConnectionResult"] };
  DeleteConnectionResult: { connection_id: string; pipeline_id: string; deleted: "true"; cancelled_job_id: string | null; left_at_source: (schemas["LeftAtSource"])[]; deleted_at: string };
  DeleteConnectorResponse: { request_id: schemas["RequestId"]; data: schemas["DeleteConnectorResult"] };
  DeleteConnectorResult: { connector_id: string; deleted: boolean };
  DeleteCredentialResponse: { request_id: schemas["RequestId"]; data: schemas["DeleteCredentialResult"] };
  DeleteCredentialResult: { credential_id: string; deleted: "true"; revocation: "revoked" | "not_supported" | "failed"; deleted_at: string };
  DeleteDestinationResponse: { request_id: schemas["RequestId"]; data: schemas["DeleteDestinationResult"] };
  DeleteDestinationResult: { destination_id: string; deleted: "true"; deleted_at: string };
  DeleteReverseEtlActivationResponse: { request_id: schemas["RequestId"]; data: schemas["DeleteReverseEtlActivationResult"] };
  DeleteReverseEtlActivationResult: { activationId: string; deleted: "true"; deletedAt: string };
  DeleteReverseEtlDestinationResponse: { request_id: schemas["RequestId"]; data: schemas["DeleteReverseEtlDestinationResult"] };
  DeleteReverseEtlDestinationResult: { destinationId: string; deleted: "true"; deletedAt: string };
  DeleteReverseEtlModelResponse: { request_id: schemas["RequestId"]; data: schemas["DeleteReverseEtlModelResult"] };
  DeleteReverseEtlModelResult: { modelId: string; deleted: "true"; deletedAt: string };
  DeleteSourceResponse: { request_id: schemas["RequestId"]; data: schemas["DeleteSourceResult"] };
  DeleteSourceResult: { source_id: string; deleted: boolean; post_delete_verified: boolean; deleted_at: string };
  DeleteWebhookEndpointResponse: { request_id: schemas["RequestId"]; data: schemas["DeleteWebhookEndpointResult"] };
  DeleteWebhookEndpointResult: { webhook_endpoint_id: string; deleted: "true"; deleted_at: string };
  DeleteWorkspaceResponse: { request_id: schemas["RequestId"]; data: schemas["DeleteWorkspaceResult"] };
  DeleteWorkspaceResult: { workspace_id: string; deleted: "true"; deleted_at: string };
  DeliveryStatus: "pending" | "succeeded" | "failed" | "cancelled";
  Destination: { destination_id: string; workspace_id: string; name: schemas["Name"]; connector_id: string; credential_handle: schemas["CredentialHandle"] | null; status: schemas["ResourceStatus"]; configuration: Record<string, unknown>; last_check: schemas["Check"]; created_at: string; updated_at: string; version: schemas["Version"] };
  DestinationList: { items: (schemas["Destination"])[]; next_cursor: string | null; has_more: boolean };
  DestinationListResponse: { request_id: schemas["RequestId"]; data: schemas["DestinationList"] };
  DestinationResponse: { request_id: schemas["RequestId"]; data: schemas["Destination"] };
  DestinationSyncMode: "append" | "overwrite" | "append_dedup";
  DetectDeletes: "none" | "soft" | "hard";
  DisabledReason: "by_a_person" | "deliveries_failed" | "gone";
  EnabledStatus: "enabled" | "disabled";
  Error: { code: string; message: string; details: schemas["ErrorDetails"]; request_id: schemas["RequestId"] };
  ErrorDetails: { reason: schemas["Reason"]; resource?: string | undefined; errors?: (schemas["FieldError"])[] | undefined };
  Event: { event_id: string; workspace_id: string; type: schemas["EventType"]; version: "1"; timestamp: string; data: schemas["EventData"] };
  EventActivation: { activation_id: string; name: string };
  EventApproval: { approval_id: string; operation: string; category: schemas["ChangeCategory"] | null; status: schemas["ApprovalStatus"]; summary: string; resource_type: string; resource_id: string | null; requested_by: string; decided_by: string | null; expires_at: string };
  EventCredential: { credential_id: string; name: string; connector_id: string; status: schemas["CredentialStatus"]; secrets_expire_at: string | null };
  EventData: { job?: schemas["EventJob"] | undefined; pipeline?: schemas["EventPipeline"] | undefined; activation?: schemas["EventActivation"] | undefined; left_out?: (schemas["LeftOut"])[] | undefined; rows_refused?: number | undefined; changes?: (schemas["SchemaChange"])[] | undefined; change_count?: number | undefined; approval?: schemas["EventApproval"] | undefined; credential?: schemas["EventCredential"] | undefined; webhook_endpoint?: schemas["EventWebhookEndpoint"] | undefined };
  EventJob: { job_id: string; kind: schemas["JobKind"]; job_type: string; status: schemas["JobStatus"]; trigger: schemas["Trigger"]; attempts: number; records_committed: number; bytes: number; failure: { origin: schemas["FailureOrigin"]; type: string; code: string; message: string; retryable: boolean; stream?: string | undefined; at: string } | null; created_at: string; started_at: string | null; ended_at: string | null };
  EventList: { items: (schemas["Event"])[]; next_cursor: string | null; has_more: boolean };
  EventListResponse: { request_id: schemas["RequestId"]; data: schemas["EventList"] };
  EventPipeline: { pipeline_id: string; connection_id: string; name: string; status: schemas["PipelineStatus"]; pause_reason: string | null };
  EventResponse: { request_id: schemas["RequestId"]; data: schemas["Event"] };
  EventType: "job.succeeded" | "job.failed" | "job.cancelled" | "pipeline.failed" | "pipeline.recovered" | "pipeline.paused" | "pipeline.degraded" | "activation.failed" | "activation.recovered" | "activation.degraded" | "schema.changed" | "approval.created" | "approval.decided" | "approval.expired" | "credential.needs_reauth" | "credential.expiring" | "webhook_endpoint.disabled" | "webhook_endpoint.test";
  EventWebhookEndpoint: { webhook_endpoint_id: string; name: string; disabled_reason: schemas["DisabledReason"] | null };
  ExecutionMode: "direct" | "proposal";
  FailedRow: { key: string; change: "added" | "changed" | "removed"; reason: "key_missing" | "key_duplicate" | "key_invalid" | "identifier_missing" | "identifier_duplicate" | "value_invalid" | "constraint_violated" | "row_exists" | "row_not_found" | "rejected"; message: string };
  FailedRowList: { items: (schemas["FailedRow"])[]; next_cursor: string | null; has_more: boolean };
  FailedRowListResponse: { request_id: schemas["RequestId"]; data: schemas["FailedRowList"] };
  Failure: { origin: schemas["FailureOrigin"]; type: "config_error" | "transient_error" | "system_error" | "auth_error" | "rate_limited" | "timeout" | "manual_cancellation"; code: string; message: string; retryable: boolean; stream?: string | undefined; at: string };
  FailureOrigin: "source" | "destination" | "platform";
  FieldCoverage: { streams: ({ stream: string; available: boolean; fields: ({ field: string; status: "covered" | "missing" | "unavailable" })[] })[]; covered: number; total: number; ratio: number };
  FieldError: { path: string; reason: string; message: string };
  GetConnectorSpecResponse: { request_id: schemas["RequestId"]; data: schemas["GetConnectorSpecResult"] };
  GetConnectorSpecResult: { connector_id: string; spec_version: string; connection_specification: Record<string, unknown>; secret_fields: (string)[]; auth: { type: schemas["AuthType"]; start_path: string | null; account_fields: (string)[] } };
  GetMeResponse: { request_id: schemas["RequestId"]; data: schemas["GetMeResult"] };
  GetMeResult: { user_id: string; email: string; name: string; default_workspace_id: string | null; session: { session_id: string; client: schemas["Client"]; expires_at: string }; scopes: (schemas["Scope"])[]; memberships: ({ workspace_id: string; role: schemas["Role"] })[]; has_more_memberships: boolean; instance: schemas["AdministeredInstance"] | null };
  ImageMetadata: { updated_at: string; reaches: (string)[]; exposed_secrets: (string)[] };
  Invitation: { invitation_id: string; workspace_id: string; email: string; role: schemas["Role"]; status: schemas["InvitationStatus"]; inviter_user_id: string; delivery: schemas["InvitationDelivery"]; directly_added: boolean; created_at: string; expires_at: string };
  InvitationDelivery: "pending" | "sent" | "kept" | "failed";
  InvitationList: { items: (schemas["Invitation"])[]; next_cursor: string | null; has_more: boolean };
  InvitationListResponse: { request_id: schemas["RequestId"]; data: schemas["InvitationList"] };
  InvitationResponse: { request_id: schemas["RequestId"]; data: schemas["Invitation"] };
  InvitationStatus: "pending" | "accepted" | "revoked" | "expired";
  Job: { job_id: string; workspace_id: string; kind: schemas["JobKind"]; pipeline_id: string | null; connection_id: string | null; activation_id: string | null; job_type: schemas["JobType"]; status: schemas["JobStatus"]; trigger: schemas["Trigger"]; attempt: number; next_attempt_at: string | null; cancel_requested: boolean; records_read: number; records_synced: number; records_deleted: number; bytes_synced: number; replication_lag_bytes: number | null; failure: schemas["Failure"] | null; created_at: string; started_at: string | null; ended_at: string | null; updated_at: string };
  JobAttempt: { attempt: number; status: schemas["AttemptStatus"]; started_at: string; ended_at: string | null; records_emitted: number; records_committed: number; records_deleted: number; bytes: number; failure: schemas["Failure"] | null };
  JobEvent: { type: "job" | "attempts" | "streams" | "log" | "end"; job?: schemas["Job"] | undefined; attempts?: (schemas["JobAttempt"])[] | undefined; streams?: (schemas["StreamStats"])[] | undefined; entries?: (schemas["JobLogEntry"])[] | undefined };
  JobKind: "sync" | "reverse_etl";
  JobList: { items: (schemas["Job"])[]; next_cursor: string | null; has_more: boolean };
  JobListResponse: { request_id: schemas["RequestId"]; data: schemas["JobList"] };
  JobLogEntry: { index: number; attempt: number; at: string; level: schemas["LogLevel"]; message: string; fields: Record<string, unknown> };
  JobResponse: { request_id: schemas["RequestId"]; data: schemas["Job"] };
  JobStatus: "pending" | "queued" | "running" | "incomplete" | "succeeded" | "failed" | "cancelled";
  JobType: "sync" | "reset" | "refresh" | "clear";
  JobWithParts: { job_id: string; workspace_id: string; kind: schemas["JobKind"]; pipeline_id: string | null; connection_id: string | null; activation_id: string | null; job_type: schemas["JobType"]; status: schemas["JobStatus"]; trigger: schemas["Trigger"]; attempt: number; next_attempt_at: string | null; cancel_requested: boolean; records_read: number; records_synced: number; records_deleted: number; bytes_synced: number; replication_lag_bytes: number | null; failure: schemas["Failure"] | null; created_at: string; started_at: string | null; ended_at: string | null; updated_at: string; attempts?: (schemas["JobAttempt"])[] | undefined; stream_stats?: (schemas["StreamStats"])[] | undefined };
  JobWithPartsResponse: { request_id: schemas["RequestId"]; data: schemas["JobWithParts"] };
  KeptConnector: { connector_id: string; name: string; spec_version: string; secret_fields: (string)[]; manifest_metadata: schemas["ManifestMetadata"] | null; source_image: string | null; image_metadata: schemas["ImageMetadata"] | null; version: schemas["Version"] };
  KeptConnectorResponse: { request_id: schemas["RequestId"]; data: schemas["KeptConnector"] };
  KeptReport: { connector_id: string; verdict: schemas["ConformanceVerdict"] };
  KeptReportResponse: { request_id: schemas["RequestId"]; data: schemas["KeptReport"] };
  KitReport: { format: "1"; kitVersion: string; connector: { id?: string | undefined; version?: string | undefined; digest?: string | undefined }; target: string; profiles: (string)[]; startedAt: string; durationMs: number; runCount: number; verdict: schemas["ConformanceVerdict"]; remarks: (string)[]; rules: ({ id: string; level: schemas["RuleLevel"]; profile: string; title: string; why: string; fix: string; result: schemas["RuleResult"]; subjectCount: number; problems: ({ sentence: string })[]; reason?: string | undefined })[] };
  LastJob: { job_id: string; job_type: schemas["JobType"]; status: schemas["JobStatus"]; failure: schemas["Failure"] | null; created_at: string; ended_at: string | null };
  LeftAtSource: { setting: string; name: string; release: string };
  LeftOut: { stream: string; values: number; columns: (string)[]; rows?: number | undefined };
  ListJobLogsResponse: { request_id: schemas["RequestId"]; data: schemas["ListJobLogsResult"] };
  ListJobLogsResult: { items: (schemas["JobLogEntry"])[]; next_after: number | null; has_more: boolean };
  ListOrder: "-created_at" | "created_at";
  ListSourceEntitiesRequest: { workspace_id?: schemas["WorkspaceChoice"] | undefined; connector_id?: string | undefined; credential_handle?: schemas["CredentialHandle"] | undefined; source_id?: string | undefined; portal_id?: string | number | undefined; brand_ids?: (string | number)[] | undefined };
  LogLevel: "debug" | "info" | "warn" | "error";
  MadeInvitation: { invitation_id: string; workspace_id: string; email: string; role: schemas["Role"]; status: schemas["InvitationStatus"]; inviter_user_id: string; delivery: schemas["InvitationDelivery"]; directly_added: boolean; created_at: string; expires_at: string; link: string | null };
  MadeInvitationResponse: { request_id: schemas["RequestId"]; data: schemas["MadeInvitation"] };
  MadeJob: { job: { job_id: string; pipeline_id: string; connection_id: string; status: schemas["JobStatus"]; created_at: string } };
  MadeJobOrApprovalResponse: { request_id: schemas["RequestId"]; data: schemas["MadeJob"] | schemas["Approval"] };
  ManifestMetadata: { digest: string; updated_at: string; reaches: (string)[]; missing_streams: (schemas["MissingStream"])[] };
  Mapping: { from: string; to: string; isPrimaryIdentifier: boolean };
  MappingInput: { from: string; to: string; isPrimaryIdentifier?: boolean | undefined };
  Member: { member_id: string | null; invitation_id: string | null; user_id: string | null; email: string; name: string | null; role: schemas["Role"]; status: schemas["MemberStatus"]; joined_at: string | null; last_active_at: string | null; version?: schemas["Version"] | undefined };
  MemberList: { items: (schemas["Member"])[]; next_cursor: string | null; has_more: boolean };
  MemberListResponse: { request_id: schemas["RequestId"]; data: schemas["MemberList"] };
  MemberResponse: { request_id: schemas["RequestId"]; data: schemas["Member"] };
  MemberStatus: "active" | "suspended" | "invited";
  MetricRequiringAttribution: { metric: "sessions" | "orders" | "revenue"; status: "requires_external_attribution_join"; value: null };
  MissingStream: { stream: string; path: string; problem: string };
  Name: string;
  NamedListOrder: "-created_at" | "created_at" | "name" | "-name";
  NamespaceDefinition: "source" | "destination" | "custom_format";
  NotificationSettings: { event_types: (schemas["ChosenEventType"])[]; member_ids: (string)[] | null; updated_at: string | null; updated_by: string | null; version: number };
  NotificationSettingsResponse: { request_id: schemas["RequestId"]; data: schemas["NotificationSettings"] };
  OauthCallback: { workspace_id?: schemas["WorkspaceChoice"] | undefined; connector_id?: string | undefined; state?: string | undefined; code?: string | undefined; iss?: string | undefined; error?: string | undefined; error_description?: string | undefined; query_params?: Record<string, string> | undefined };
  OauthStart: { authorization_url: string; state: string; oauth_session_id: string; expires_at: string; connector_id: string };
  OauthStartResponse: { request_id: schemas["RequestId"]; data: schemas["OauthStart"] };
  Option: { value: string; label: string };
  PausePipelineRequest: { workspace_id?: schemas["WorkspaceChoice"] | undefined; cancel_running?: boolean | undefined };
  PausePipelineResponse: { request_id: schemas["RequestId"]; data: schemas["PausePipelineResult"] };
  PausePipelineResult: { pipeline_id: string; connection_id: string; workspace_id: string; name: schemas["Name"]; source_id: string; destination_id: string; status: schemas["PipelineStatus"]; sync_state: schemas["SyncState"]; schedule: schemas["Schedule"]; next_run_at: string | null; prefix: string; namespace_definition: schemas["NamespaceDefinition"]; namespace_format: string | null; schema_change_policy: schemas["SchemaChangePolicy"]; parallel_streams: number; stream_count: number; pause_reason: string | null; last_job: schemas["LastJob"] | null; replication_lag_bytes: number | null; created_at: string; updated_at: string; version: schemas["Version"]; left_at_source: (schemas["LeftAtSource"])[]; changed: boolean; cancelled_job_id: string | null };
  Pipeline: { pipeline_id: string; connection_id: string; workspace_id: string; name: schemas["Name"]; source_id: string; destination_id: string; status: schemas["PipelineStatus"]; sync_state: schemas["SyncState"]; schedule: schemas["Schedule"]; next_run_at: string | null; prefix: string; namespace_definition: schemas["NamespaceDefinition"]; namespace_format: string | null; schema_change_policy: schemas["SchemaChangePolicy"]; parallel_streams: number; stream_count: number; pause_reason: string | null; last_job: schemas["LastJob"] | null; replication_lag_bytes: number | null; created_at: string; updated_at: string; version: schemas["Version"] };
  PipelineList: { items: (schemas["Pipeline"])[]; next_cursor: string | null; has_more: boolean };
  PipelineListResponse: { request_id: schemas["RequestId"]; data: schemas["PipelineList"] };
  PipelineStatus: "active" | "paused" | "locked" | "deleted";
  PipelineStream: { name: string; namespace: string | null; sync_mode: schemas["SyncMode"]; destination_sync_mode: schemas["DestinationSyncMode"]; cursor_field: (string)[]; primary_key: ((string)[])[]; selected_fields: (string)[] | null; detect_deletes: schemas["DetectDeletes"]; hashed_fields: (string)[] | null; row_filter: (schemas["RowCondition"])[] | null; table: { schema: string | null; name: string } };
  PipelineStreamList: { items: (schemas["PipelineStream"])[]; next_cursor: string | null; has_more: boolean };
  PipelineStreamListResponse: { request_id: schemas["RequestId"]; data: schemas["PipelineStreamList"] };
  PipelineStreamsUpdate: { workspace_id?: schemas["WorkspaceChoice"] | undefined; streams?: (schemas["StreamSelection"])[] | undefined; remove?: (schemas["StreamName"])[] | undefined };
  PipelineWithStreams: { pipeline_id: string; connection_id: string; workspace_id: string; name: schemas["Name"]; source_id: string; destination_id: string; status: schemas["PipelineStatus"]; sync_state: schemas["SyncState"]; schedule: schemas["Schedule"]; next_run_at: string | null; prefix: string; namespace_definition: schemas["NamespaceDefinition"]; namespace_format: string | null; schema_change_policy: schemas["SchemaChangePolicy"]; parallel_streams: number; stream_count: number; pause_reason: string | null; last_job: schemas["LastJob"] | null; replication_lag_bytes: number | null; created_at: string; updated_at: string; version: schemas["Version"]; left_at_source: (schemas["LeftAtSource"])[]; streams: (schemas["PipelineStream"])[] };
  PipelineWithStreamsResponse: { request_id: schemas["RequestId"]; data: schemas["PipelineWithStreams"] };
  PreparePipelineRequest: { workspace_id?: schemas["WorkspaceChoice"] | undefined; source_id: string; destination_id: string; refresh?: boolean | undefined; limit?: number | undefined; cursor?: string | undefined };
  PreparePipelineResponse: { request_id: schemas["RequestId"]; data: schemas["PreparePipelineResult"] };
  PreparePipelineResult: { prepare_id: string; expires_at: string; catalog: { streams: (schemas["CatalogStream"])[] }; next_cursor: string | null; has_more: boolean; table_count: number; table_limit: number; suggested_configuration: { streams: (schemas["SuggestedStream"])[]; namespace_definition: schemas["NamespaceDefinition"]; schema_change_policy: schemas["SchemaChangePolicy"]; schedule: schemas["Schedule"] }; warnings: ({ reason: string; message: string; stream_count: number; sample: (string)[] })[] };
  PrepareReverseEtlRequest: { workspace_id?: schemas["WorkspaceChoice"] | undefined; modelId: string; destinationId: string; object?: string | undefined; operation?: schemas["RowOperation"] | undefined; mappings?: (schemas["MappingInput"])[] | undefined };
  PrepareReverseEtlResponse: { request_id: schemas["RequestId"]; data: schemas["PrepareReverseEtlResult"] };
  PrepareReverseEtlResult: { valid: boolean; issues: (schemas["FieldError"])[]; columns: (schemas["Column"])[]; objects: ({ name: string; id: string | null })[]; operation: schemas["RowOperation"]; mappings: (schemas["Mapping"])[]; destinationFields: ({ name: string; type: string; isRequired: boolean; isIdentifier: boolean })[]; preview: { fields: (string)[]; rows: ((unknown)[])[]; plannedRows: schemas["RowCounts"] }; digest: string; expiresAt: string };
  PreviewMailerRequest: { workspace_id?: schemas["WorkspaceChoice"] | undefined; connector_id?: string | undefined; connection_method?: schemas["ConnectionMethod"] | undefined; credential_handle: schemas["CredentialHandle"]; base_url: string; limit?: number | undefined };
  PreviewMailerResponse: { request_id: schemas["RequestId"]; data: schemas["PreviewMailerResult"] };
  PreviewMailerResult: { connector_id: string; credential_handle: schemas["CredentialHandle"]; connection_method: schemas["ConnectionMethod"]; data_source_status: schemas["DataSourceStatus"]; message: string; field_coverage: schemas["FieldCoverage"]; checked_at: string; campaigns: (schemas["Campaign"])[]; metrics_requiring_attribution: (schemas["MetricRequiringAttribution"])[] };
  PreviewReverseEtlModelRequest: { workspace_id?: schemas["WorkspaceChoice"] | undefined; warehouseId: string; queryType?: schemas["QueryType"] | undefined; raw?: schemas["RawQuery"] | undefined; table?: schemas["TableQuery"] | undefined };
  PreviewScheduleRequest: { workspace_id?: schemas["WorkspaceChoice"] | undefined; schedule: schemas["Schedule"]; time_zone?: string | undefined; count?: number | undefined };
  ProposedChange: { path: (string)[]; change: "add" | "change" | "remove"; before: unknown; after: unknown; is_secret: boolean };
  ProposedChanges: { approval_id: string; status: schemas["ApprovalStatus"]; kind: "create" | "update" | "delete" | "run"; changes: (schemas["ProposedChange"])[]; is_stale: boolean; problem: string | null; proposed_version: number | null; current_version: number | null };
  ProposedChangesResponse: { request_id: schemas["RequestId"]; data: schemas["ProposedChanges"] };
  ProposedCursor: { field: string; finds: "changes" | "new_rows"; is_indexed: boolean; is_nullable: boolean };
  QueryType: "raw_sql" | "table" | "custom";
  RawQuery: { sql: string };
  Reason: string;
  ReleaseStage: "alpha" | "beta" | "ga";
  RemoveMemberResponse: { request_id: schemas["RequestId"]; data: schemas["RemoveMemberResult"] };
  RemoveMemberResult: { member_id: string; removed: boolean; revoked_sessions: number };
  RequestId: string;
  ResourceStatus: "active" | "error" | "disabled";
  ResumePipelineResponse: { request_id: schemas["RequestId"]; data: schemas["ResumePipelineResult"] };
  ResumePipelineResult: { pipeline_id: string; connection_id: string; workspace_id: string; name: schemas["Name"]; source_id: string; destination_id: string; status: schemas["PipelineStatus"]; sync_state: schemas["SyncState"]; schedule: schemas["Schedule"]; next_run_at: string | null; prefix: string; namespace_definition: schemas["NamespaceDefinition"]; namespace_format: string | null; schema_change_policy: schemas["SchemaChangePolicy"]; parallel_streams: number; stream_count: number; pause_reason: string | null; last_job: schemas["LastJob"] | null; replication_lag_bytes: number | null; created_at: string; updated_at: string; version: schemas["Version"]; changed: boolean };
  ReverseEtlActivation: { activationId: string; workspaceId: string; name: schemas["Name"]; modelId: string; destinationId: string; object: string; operation: schemas["RowOperation"]; mappings: (schemas["Mapping"])[]; schedule: schemas["Schedule"] | null; status: schemas["ActivationStatus"]; nextRunAt: string | null; lastRunAt: string | null; lastRunId: string | null; lastRunStatus: schemas["RunStatus"] | null; lastRunError: schemas["RunError"] | null; createdAt: string; updatedAt: string; version: schemas["Version"] };
  ReverseEtlActivationList: { items: (schemas["ReverseEtlActivation"])[]; next_cursor: string | null; has_more: boolean };
  ReverseEtlActivationListResponse: { request_id: schemas["RequestId"]; data: schemas["ReverseEtlActivationList"] };
  ReverseEtlActivationResponse: { request_id: schemas["RequestId"]; data: schemas["ReverseEtlActivation"] };
  ReverseEtlDestination: { destinationId: string; workspaceId: string; name: schemas["Name"]; type: string; credentialHandle: schemas["CredentialHandle"] | null; configuration: Record<string, unknown>; activationIds: (string)[]; createdAt: string; updatedAt: string; version: schemas["Version"] };
  ReverseEtlDestinationList: { items: (schemas["ReverseEtlDestination"])[]; next_cursor: string | null; has_more: boolean };
  ReverseEtlDestinationListResponse: { request_id: schemas["RequestId"]; data: schemas["ReverseEtlDestinationList"] };
  ReverseEtlDestinationResponse: { request_id: schemas["RequestId"]; data: schemas["ReverseEtlDestination"] };
  ReverseEtlModel: { modelId: string; workspaceId: string; name: schemas["Name"]; warehouseId: string; queryType: schemas["QueryType"]; raw: { sql: string } | null; table: { name: string } | null; primaryKey: string; columns: (schemas["Column"])[]; activationIds: (string)[]; createdAt: string; updatedAt: string; version: schemas["Version"] };
  ReverseEtlModelList: { items: (schemas["ReverseEtlModel"])[]; next_cursor: string | null; has_more: boolean };
  ReverseEtlModelListResponse: { request_id: schemas["RequestId"]; data: schemas["ReverseEtlModelList"] };
  ReverseEtlModelPreview: { columns: (schemas["Column"])[]; rows: ((unknown)[])[]; hasMore: boolean };
  ReverseEtlModelPreviewResponse: { request_id: schemas["RequestId"]; data: schemas["ReverseEtlModelPreview"] };
  ReverseEtlModelResponse: { request_id: schemas["RequestId"]; data: schemas["ReverseEtlModel"] };
  ReverseEtlRun: { runId: string; workspaceId: string; activationId: string; jobId: string | null; status: schemas["RunStatus"]; trigger: schemas["Trigger"]; fullSync: boolean; dryRun: boolean; querySize: number | null; plannedRows: schemas["RowCounts"]; successfulRows: schemas["RowCounts"]; failedRows: schemas["RowCounts"]; completionRatio: number; error: schemas["RunError"] | null; createdAt: string; startedAt: string | null; finishedAt: string | null };
  ReverseEtlRunList: { items: (schemas["ReverseEtlRun"])[]; next_cursor: string | null; has_more: boolean };
  ReverseEtlRunListResponse: { request_id: schemas["RequestId"]; data: schemas["ReverseEtlRunList"] };
  ReverseEtlRunResponse: { request_id: schemas["RequestId"]; data: schemas["ReverseEtlRun"] };
  RevokeSessionResponse: { request_id: schemas["RequestId"]; data: schemas["RevokeSessionResult"] };
  RevokeSessionResult: { session_id: string; status: "revoked"; revoked_at: string; made_with_it: (string)[] };
  Role: "viewer" | "runner" | "editor" | "admin";
  RotateWebhookEndpointSecretRequest: { workspace_id?: schemas["WorkspaceChoice"] | undefined; previous_valid_hours?: number | undefined };
  RotateWebhookEndpointSecretResponse: { request_id: schemas["RequestId"]; data: schemas["RotateWebhookEndpointSecretResult"] };
  RotateWebhookEndpointSecretResult: { webhook_endpoint_id: string; signing_secret: string | null; previous_valid_until: string };
  RowCondition: { column: string; operator: "=" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "not in" | "is null" | "is not null"; value?: string | number | boolean | (string | number | boolean)[] | undefined };
  RowCounts: { addedCount: number; changedCount: number; removedCount: number };
  RowOperation: "insert" | "update" | "upsert" | "mirror" | "append";
  RowsPerDay: { time_zone: string; days: (schemas["DayRows"])[] };
  RowsPerDayResponse: { request_id: schemas["RequestId"]; data: schemas["RowsPerDay"] };
  RuleCounts: { pass: number; fail: number; warn: number; waived: number; "not-applicable": number; "left-out": number; vacuous: number; error: number };
  RuleLevel: "MUST" | "SHOULD";
  RuleResult: "pass" | "fail" | "warn" | "waived" | "not-applicable" | "left-out" | "vacuous" | "error";
  RunError: { reason: string; message: string };
  RunReverseEtlActivationRequest: { workspace_id?: schemas["WorkspaceChoice"] | undefined; fullResync?: boolean | undefined; dryRun?: boolean | undefined };
  RunReverseEtlActivationResult: { runId: string; activationId: string; status: "queued" };
  RunReverseEtlActivationResultOrApprovalResponse: { request_id: schemas["RequestId"]; data: schemas["RunReverseEtlActivationResult"] | schemas["Approval"] };
  RunStatus: "queued" | "querying" | "processing" | "reporting" | "succeeded" | "warning" | "failed" | "cancelled" | "interrupted" | "skipped";
  Schedule: { type: "manual" | "basic" | "cron" | "continuous"; units?: number | undefined; time_unit?: "minutes" | "hours" | "days" | "weeks" | undefined; cron_expression?: string | undefined; cron_timezone?: string | undefined };
  SchedulePreview: { time_zone: string; next_runs: ({ at: string; local_time: string })[] };
  SchedulePreviewResponse: { request_id: schemas["RequestId"]; data: schemas["SchedulePreview"] };
  SchemaChange: { stream: string; type: string; column?: string | undefined; from?: string | undefined; to?: string | undefined };
  SchemaChangePolicy: "ignore" | "propagate_columns" | "propagate_fully" | "pause";
  Scope: "control:read" | "control:write" | "control:approve" | "control:admin";
  Session: { session_id: string; user_id: string; workspace_id: string | null; role: schemas["Role"] | null; made_by_session_id: string | null; client: schemas["Client"]; name: string | null; user_agent: string | null; ip: string | null; status: schemas["SessionStatus"]; current: boolean; created_at: string; last_seen_at: string; expires_at: string; revoked_at: string | null };
  SessionList: { items: (schemas["Session"])[]; next_cursor: string | null; has_more: boolean };
  SessionListResponse: { request_id: schemas["RequestId"]; data: schemas["SessionList"] };
  SessionStatus: "active" | "expired" | "revoked";
  Source: { source_id: string; workspace_id: string; name: schemas["Name"]; connector_id: string; credential_handle: schemas["CredentialHandle"]; status: schemas["ResourceStatus"]; configuration: Record<string, unknown>; last_check: schemas["Check"]; created_at: string; updated_at: string; version: schemas["Version"] };
  SourceEntities: { connector_id: string; credential_handle: schemas["CredentialHandle"]; portals: ({ portal_id: string; name: string | null })[]; brands: ({ brand_id: string; portal_id: string; name: string | null; timezone: string | null })[]; channels: ({ channel_id: string; brand_id: string; portal_id: string; network: string | null; name: string | null; status: "active" | "reconnect" })[]; options: { portal_id: (schemas["Option"])[]; brand_ids: (schemas["Option"])[]; channel_ids: (schemas["Option"])[] }; next_cursor: string | null };
  SourceEntitiesResponse: { request_id: schemas["RequestId"]; data: schemas["SourceEntities"] };
  SourceList: { items: (schemas["Source"])[]; next_cursor: string | null; has_more: boolean };
  SourceListResponse: { request_id: schemas["RequestId"]; data: schemas["SourceList"] };
  SourceResponse: { request_id: schemas["RequestId"]; data: schemas["Source"] };
  StartOauthSourceRequest: { connector_id: string; workspace_id?: schemas["WorkspaceChoice"] | undefined; redirect_uri: string; name?: schemas["Name"] | undefined; credential_id?: string | undefined; source_id?: string | undefined; scopes?: (string)[] | undefined; oauth_input?: Record<string, unknown> | undefined };
  StartOauthTaskappRequest: { connector_id?: string | undefined; workspace_id?: schemas["WorkspaceChoice"] | undefined; redirect_uri: string; name?: schemas["Name"] | undefined; credential_id?: string | undefined; source_id?: string | undefined; scopes?: (string)[] | undefined; oauth_input?: Record<string, unknown> | undefined };
  StoredMailerToken: { credential_handle: schemas["CredentialHandle"]; credential_id: string; connector_id: string; connection_method: schemas["ConnectionMethod"]; status: schemas["CredentialStatus"] };
  StoredMailerTokenResponse: { request_id: schemas["RequestId"]; data: schemas["StoredMailerToken"] };
  StreamChoice: { workspace_id?: schemas["WorkspaceChoice"] | undefined; streams?: (schemas["StreamName"])[] | undefined };
  StreamName: { name: string; namespace?: string | null | undefined };
  StreamPreview: { name: string; sync_modes: (schemas["SyncMode"])[]; primary_key: (string)[]; fields: (string)[] };
  StreamSelection: { name: string; namespace?: string | null | undefined; sync_mode?: schemas["SyncMode"] | undefined; destination_sync_mode?: schemas["DestinationSyncMode"] | undefined; cursor_field?: (string)[] | undefined; primary_key?: ((string)[])[] | undefined; selected_fields?: (string)[] | null | undefined; detect_deletes?: schemas["DetectDeletes"] | undefined; hashed_fields?: (string)[] | null | undefined; row_filter?: (schemas["RowCondition"])[] | null | undefined };
  StreamStats: { name: string; namespace: string | null; status: "pending" | "running" | "complete" | "incomplete"; records_emitted: number; records_committed: number; records_deleted: number; bytes: number; committed_at: string | null; failure: schemas["Failure"] | null };
  SuggestedStream: { name: string; namespace: string | null; sync_mode: schemas["SyncMode"]; destination_sync_mode: schemas["DestinationSyncMode"]; cursor_field: (string)[]; primary_key: ((string)[])[] };
  SyncMode: "full_refresh" | "incremental";
  SyncPipelineRequest: { workspace_id?: schemas["WorkspaceChoice"] | undefined; streams?: (schemas["StreamName"])[] | undefined; full_refresh?: boolean | undefined; confirm_deletes?: boolean | undefined };
  SyncState: "running" | "queued" | "failed" | "paused" | "pending" | "incomplete" | "synced";
  TableQuery: { name: string };
  TriedCode: "same" | "other" | "unknown";
  TriedRule: { id: string; level: schemas["RuleLevel"]; profile: string; title: string; why: string; fix: string; result: schemas["RuleResult"]; reason: string | null; subject_count: number; problem_count: number; problems: (string)[] };
  Trigger: "manual" | "schedule" | "api" | "approval";
  UpdateApprovalPolicyRequest: { workspace_id?: schemas["WorkspaceChoice"] | undefined; requires_approval?: boolean | undefined; require_distinct_approver?: boolean | undefined };
  UpdateConnectorRequest: { manifest?: string | undefined; source_image?: string | undefined; allowed_hosts?: (string)[] | undefined };
  UpdateCredentialRequest: { workspace_id?: schemas["WorkspaceChoice"] | undefined; secrets_expire_at?: string | null | undefined; name?: schemas["Name"] | undefined; secrets?: Record<string, string> | undefined };
  UpdateDestinationRequest: { workspace_id?: schemas["WorkspaceChoice"] | undefined; name?: schemas["Name"] | undefined; connector_id?: unknown | undefined; credential_handle?: schemas["CredentialHandle"] | undefined; configuration?: Record<string, unknown> | undefined };
  UpdateMemberRequest: { role: schemas["Role"] };
  UpdateNotificationSettingsRequest: { workspace_id?: schemas["WorkspaceChoice"] | undefined; event_types?: (schemas["ChosenEventType"])[] | undefined; member_ids?: (string)[] | null | undefined };
  UpdatePipelineRequest: { workspace_id?: schemas["WorkspaceChoice"] | undefined; name?: schemas["Name"] | undefined; source_id?: unknown | undefined; destination_id?: unknown | undefined; prepare_id?: string | undefined; streams?: (schemas["StreamSelection"])[] | undefined; select_all?: boolean | undefined; schedule?: schemas["Schedule"] | undefined; prefix?: string | undefined; namespace_definition?: schemas["NamespaceDefinition"] | undefined; namespace_format?: string | null | undefined; schema_change_policy?: schemas["SchemaChangePolicy"] | undefined; parallel_streams?: number | undefined };
  UpdateReverseEtlActivationRequest: { workspace_id?: schemas["WorkspaceChoice"] | undefined; name?: schemas["Name"] | undefined; modelId?: unknown | undefined; destinationId?: unknown | undefined; object?: string | undefined; operation?: schemas["RowOperation"] | undefined; mappings?: (schemas["MappingInput"])[] | undefined; schedule?: schemas["Schedule"] | null | undefined; status?: schemas["ActivationStatus"] | undefined };
  UpdateReverseEtlDestinationRequest: { workspace_id?: schemas["WorkspaceChoice"] | undefined; name?: schemas["Name"] | undefined; type?: unknown | undefined; credentialHandle?: schemas["CredentialHandle"] | undefined; configuration?: Record<string, unknown> | undefined };
  UpdateReverseEtlModelRequest: { workspace_id?: schemas["WorkspaceChoice"] | undefined; name?: schemas["Name"] | undefined; warehouseId?: unknown | undefined; queryType?: schemas["QueryType"] | undefined; raw?: schemas["RawQuery"] | undefined; table?: schemas["TableQuery"] | undefined; primaryKey?: string | undefined };
  UpdateSourceRequest: { workspace_id?: schemas["WorkspaceChoice"] | undefined; name?: schemas["Name"] | undefined; connector_id?: unknown | undefined; credential_handle?: schemas["CredentialHandle"] | undefined; configuration?: Record<string, unknown> | undefined; base_url?: string | undefined; connection_method?: schemas["ConnectionMethod"] | null | undefined; portal_id?: string | number | undefined; brand_ids?: (string | number)[] | undefined; channel_ids?: (string | number)[] | null | undefined };
  UpdateWebhookEndpointRequest: { workspace_id?: schemas["WorkspaceChoice"] | undefined; name?: schemas["Name"] | undefined; url?: string | undefined; event_types?: (schemas["ChosenEventType"])[] | null | undefined; format?: schemas["WebhookFormat"] | undefined; status?: schemas["EnabledStatus"] | undefined };
  Version: number;
  WebhookDelivery: { delivery_id: string; webhook_endpoint_id: string; event_id: string; event_type: schemas["EventType"]; status: schemas["DeliveryStatus"]; attempts: ({ at: string; duration_ms: number; response_status: number | null; error_code: string | null })[]; next_attempt_at: string | null; created_at: string; ended_at: string | null };
  WebhookDeliveryList: { items: (schemas["WebhookDelivery"])[]; next_cursor: string | null; has_more: boolean };
  WebhookDeliveryListResponse: { request_id: schemas["RequestId"]; data: schemas["WebhookDeliveryList"] };
  WebhookDeliveryOrApprovalResponse: { request_id: schemas["RequestId"]; data: schemas["WebhookDelivery"] | schemas["Approval"] };
  WebhookDeliveryResponse: { request_id: schemas["RequestId"]; data: schemas["WebhookDelivery"] };
  WebhookEndpoint: { webhook_endpoint_id: string; workspace_id: string; name: schemas["Name"]; url: string; event_types: (schemas["ChosenEventType"])[] | null; format: schemas["WebhookFormat"]; status: schemas["EnabledStatus"]; disabled_reason: schemas["DisabledReason"] | null; created_at: string; updated_at: string; version: schemas["Version"] };
  WebhookEndpointList: { items: (schemas["WebhookEndpoint"])[]; next_cursor: string | null; has_more: boolean };
  WebhookEndpointListResponse: { request_id: schemas["RequestId"]; data: schemas["WebhookEndpointList"] };
  WebhookEndpointResponse: { request_id: schemas["RequestId"]; data: schemas["WebhookEndpoint"] };
  WebhookFormat: "event" | "slack";
  Workspace: { workspace_id: string; name: string; slug: string; role: schemas["Role"]; created_at: string; member_count: number; version: schemas["Version"] };
  WorkspaceChoice: string;
  WorkspaceList: { items: (schemas["Workspace"])[]; next_cursor: string | null; has_more: boolean };
  WorkspaceListResponse: { request_id: schemas["RequestId"]; data: schemas["WorkspaceList"] };
  WorkspaceName: { name: schemas["Name"] };
  WorkspaceResponse: { request_id: schemas["RequestId"]; data: schemas["Workspace"] };
  WorkspaceSelection: { workspace_id?: schemas["WorkspaceChoice"] | undefined };
}

export interface paths {
  "/me": {
    get: {
      parameters: { query?: never; header?: { "X-Svc-Client"?: schemas["Client"] | undefined }; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["GetMeResponse"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/workspaces": {
    get: {
      parameters: { query?: { "limit"?: number | undefined; "cursor"?: string | undefined; "search"?: string | undefined; "sort"?: schemas["NamedListOrder"] | undefined; "name"?: string | undefined }; header?: { "X-Svc-Client"?: schemas["Client"] | undefined }; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["WorkspaceListResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
    post: {
      parameters: { query?: never; header?: { "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined }; path?: never; cookie?: never };
      requestBody: { content: { "application/json": schemas["WorkspaceName"] } };
      responses: {
        201: { headers: Headers; content: { "application/json": schemas["WorkspaceResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/workspaces/{workspace_id}": {
    get: {
      parameters: { query?: never; header?: { "X-Svc-Client"?: schemas["Client"] | undefined }; path: { "workspace_id": string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["WorkspaceResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
    patch: {
      parameters: { query?: never; header?: { "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined; "If-Match"?: string | undefined }; path: { "workspace_id": string }; cookie?: never };
      requestBody: { content: { "application/json": schemas["WorkspaceName"] } };
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["WorkspaceResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
    delete: {
      parameters: { query?: never; header?: { "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined; "If-Match"?: string | undefined }; path: { "workspace_id": string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["DeleteWorkspaceResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/workspaces/{workspace_id}/members": {
    get: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined; "limit"?: number | undefined; "cursor"?: string | undefined; "search"?: string | undefined; "sort"?: schemas["NamedListOrder"] | undefined; "role"?: schemas["Role"] | undefined; "status"?: schemas["MemberStatus"] | undefined; "include"?: "invitations" | undefined }; header?: { "X-Svc-Client"?: schemas["Client"] | undefined }; path: { "workspace_id": string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["MemberListResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/workspaces/{workspace_id}/members/{member_id}": {
    patch: {
      parameters: { query?: never; header?: { "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined; "If-Match"?: string | undefined }; path: { "workspace_id": string; "member_id": string }; cookie?: never };
      requestBody: { content: { "application/json": schemas["UpdateMemberRequest"] } };
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["MemberResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
    delete: {
      parameters: { query?: never; header?: { "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined; "If-Match"?: string | undefined }; path: { "workspace_id": string; "member_id": string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["RemoveMemberResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/workspaces/{workspace_id}/members/invitations": {
    get: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined; "limit"?: number | undefined; "cursor"?: string | undefined; "sort"?: schemas["ListOrder"] | undefined; "status"?: schemas["InvitationStatus"] | undefined }; header?: { "X-Svc-Client"?: schemas["Client"] | undefined }; path: { "workspace_id": string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["InvitationListResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
    post: {
      parameters: { query?: never; header?: { "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined }; path: { "workspace_id": string }; cookie?: never };
      requestBody: { content: { "application/json": schemas["CreateInvitationRequest"] } };
      responses: {
        201: { headers: Headers; content: { "application/json": schemas["MadeInvitationResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/workspaces/{workspace_id}/members/invitations/{invitation_id}/resend": {
    post: {
      parameters: { query?: never; header?: { "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined }; path: { "workspace_id": string; "invitation_id": string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["MadeInvitationResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        410: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/workspaces/{workspace_id}/members/invitations/{invitation_id}/revoke": {
    post: {
      parameters: { query?: never; header?: { "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined }; path: { "workspace_id": string; "invitation_id": string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["InvitationResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/invitations/accept": {
    post: {
      parameters: { query?: never; header?: { "X-Svc-Client"?: schemas["Client"] | undefined }; path?: never; cookie?: never };
      requestBody: { content: { "application/json": schemas["AcceptInvitationRequest"] } };
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["AcceptInvitationResponse"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        410: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/connectors": {
    get: {
      parameters: { query?: { "limit"?: number | undefined; "cursor"?: string | undefined; "search"?: string | undefined; "sort"?: "name" | "-name" | undefined; "type"?: schemas["ConnectorType"] | undefined; "category"?: schemas["ConnectorCategory"] | undefined; "auth_type"?: schemas["AuthType"] | undefined; "q"?: string | undefined }; header?: { "X-Svc-Client"?: schemas["Client"] | undefined }; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["ConnectorListResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
    post: {
      parameters: { query?: never; header?: { "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined }; path?: never; cookie?: never };
      requestBody: { content: { "application/json": schemas["CreateConnectorRequest"] } };
      responses: {
        201: { headers: Headers; content: { "application/json": schemas["KeptConnectorResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        403: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        502: { headers: Headers; content: { "application/json": schemas["Error"] } };
        504: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/connectors/{connector_id}": {
    get: {
      parameters: { query?: never; header?: { "X-Svc-Client"?: schemas["Client"] | undefined }; path: { "connector_id": string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["ConnectorWithStreamsResponse"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
    patch: {
      parameters: { query?: never; header?: { "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined; "If-Match"?: string | undefined }; path: { "connector_id": string }; cookie?: never };
      requestBody?: { content: { "application/json": schemas["UpdateConnectorRequest"] } };
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["KeptConnectorResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        403: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        502: { headers: Headers; content: { "application/json": schemas["Error"] } };
        504: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
    delete: {
      parameters: { query?: never; header?: { "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined; "If-Match"?: string | undefined }; path: { "connector_id": string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["DeleteConnectorResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        403: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/connectors/{connector_id}/spec": {
    get: {
      parameters: { query?: never; header?: { "X-Svc-Client"?: schemas["Client"] | undefined }; path: { "connector_id": string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["GetConnectorSpecResponse"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/connectors/{connector_id}/conformance": {
    get: {
      parameters: { query?: never; header?: { "X-Svc-Client"?: schemas["Client"] | undefined }; path: { "connector_id": string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["ConformanceReportResponse"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
    post: {
      parameters: { query?: never; header?: { "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined }; path: { "connector_id": string }; cookie?: never };
      requestBody: { content: { "application/json": schemas["CreateConnectorReportRequest"] } };
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["KeptReportResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        403: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/credentials/mailer/api-token": {
    post: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined }; path?: never; cookie?: never };
      requestBody: { content: { "application/json": schemas["CreateCredentialMailerTokenRequest"] } };
      responses: {
        201: { headers: Headers; content: { "application/json": schemas["StoredMailerTokenResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/connectors/mailer/check": {
    post: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined }; path?: never; cookie?: never };
      requestBody: { content: { "application/json": schemas["CheckMailerRequest"] } };
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["CheckMailerResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        424: { headers: Headers; content: { "application/json": schemas["Error"] } };
        502: { headers: Headers; content: { "application/json": schemas["Error"] } };
        504: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/connectors/mailer/edm/preview": {
    post: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined }; path?: never; cookie?: never };
      requestBody: { content: { "application/json": schemas["PreviewMailerRequest"] } };
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["PreviewMailerResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        424: { headers: Headers; content: { "application/json": schemas["Error"] } };
        502: { headers: Headers; content: { "application/json": schemas["Error"] } };
        504: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/credentials": {
    get: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined; "limit"?: number | undefined; "cursor"?: string | undefined; "search"?: string | undefined; "sort"?: schemas["NamedListOrder"] | undefined; "connector_id"?: string | undefined; "status"?: schemas["CredentialStatus"] | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined }; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["CredentialListResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
    post: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined }; path?: never; cookie?: never };
      requestBody: { content: { "application/json": schemas["CreateCredentialRequest"] } };
      responses: {
        201: { headers: Headers; content: { "application/json": schemas["CredentialResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/credentials/{credential_id}": {
    get: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined }; path: { "credential_id": string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["CredentialResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
    patch: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined; "If-Match"?: string | undefined }; path: { "credential_id": string }; cookie?: never };
      requestBody?: { content: { "application/json": schemas["UpdateCredentialRequest"] } };
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["CredentialResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
    delete: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined; "If-Match"?: string | undefined }; path: { "credential_id": string }; cookie?: never };
      requestBody?: { content: { "application/json": schemas["WorkspaceSelection"] } };
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["DeleteCredentialResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        502: { headers: Headers; content: { "application/json": schemas["Error"] } };
        504: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/credentials/source/oauth/start": {
    post: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined }; path?: never; cookie?: never };
      requestBody: { content: { "application/json": schemas["StartOauthSourceRequest"] } };
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["OauthStartResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        424: { headers: Headers; content: { "application/json": schemas["Error"] } };
        502: { headers: Headers; content: { "application/json": schemas["Error"] } };
        504: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/credentials/source/oauth/callback": {
    post: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined }; path?: never; cookie?: never };
      requestBody?: { content: { "application/json": schemas["OauthCallback"] } };
      responses: {
        201: { headers: Headers; content: { "application/json": schemas["ConnectedAccountResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        403: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        410: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        424: { headers: Headers; content: { "application/json": schemas["Error"] } };
        502: { headers: Headers; content: { "application/json": schemas["Error"] } };
        504: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/credentials/taskapp/oauth/start": {
    post: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined }; path?: never; cookie?: never };
      requestBody: { content: { "application/json": schemas["StartOauthTaskappRequest"] } };
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["OauthStartResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        424: { headers: Headers; content: { "application/json": schemas["Error"] } };
        502: { headers: Headers; content: { "application/json": schemas["Error"] } };
        504: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/credentials/taskapp/oauth/callback": {
    post: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined }; path?: never; cookie?: never };
      requestBody?: { content: { "application/json": schemas["OauthCallback"] } };
      responses: {
        201: { headers: Headers; content: { "application/json": schemas["ConnectedAccountResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        403: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        410: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        424: { headers: Headers; content: { "application/json": schemas["Error"] } };
        502: { headers: Headers; content: { "application/json": schemas["Error"] } };
        504: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/sources": {
    get: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined; "limit"?: number | undefined; "cursor"?: string | undefined; "search"?: string | undefined; "sort"?: schemas["NamedListOrder"] | undefined; "connector_id"?: string | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined }; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["SourceListResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
    post: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined }; path?: never; cookie?: never };
      requestBody: { content: { "application/json": schemas["CreateSourceRequest"] } };
      responses: {
        201: { headers: Headers; content: { "application/json": schemas["SourceResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        424: { headers: Headers; content: { "application/json": schemas["Error"] } };
        502: { headers: Headers; content: { "application/json": schemas["Error"] } };
        504: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/sources/{source_id}": {
    get: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined }; path: { "source_id": string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["SourceResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
    patch: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined; "If-Match"?: string | undefined }; path: { "source_id": string }; cookie?: never };
      requestBody?: { content: { "application/json": schemas["UpdateSourceRequest"] } };
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["SourceResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        424: { headers: Headers; content: { "application/json": schemas["Error"] } };
        502: { headers: Headers; content: { "application/json": schemas["Error"] } };
        504: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
    delete: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined; "If-Match"?: string | undefined }; path: { "source_id": string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["DeleteSourceResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/sources/entities": {
    post: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined }; path?: never; cookie?: never };
      requestBody?: { content: { "application/json": schemas["ListSourceEntitiesRequest"] } };
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["SourceEntitiesResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        424: { headers: Headers; content: { "application/json": schemas["Error"] } };
        502: { headers: Headers; content: { "application/json": schemas["Error"] } };
        504: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/destinations": {
    get: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined; "limit"?: number | undefined; "cursor"?: string | undefined; "search"?: string | undefined; "sort"?: schemas["NamedListOrder"] | undefined; "connector_id"?: string | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined }; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["DestinationListResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
    post: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined }; path?: never; cookie?: never };
      requestBody: { content: { "application/json": schemas["CreateDestinationRequest"] } };
      responses: {
        201: { headers: Headers; content: { "application/json": schemas["DestinationResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        424: { headers: Headers; content: { "application/json": schemas["Error"] } };
        502: { headers: Headers; content: { "application/json": schemas["Error"] } };
        504: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/destinations/{destination_id}": {
    get: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined }; path: { "destination_id": string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["DestinationResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
    patch: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined; "If-Match"?: string | undefined }; path: { "destination_id": string }; cookie?: never };
      requestBody?: { content: { "application/json": schemas["UpdateDestinationRequest"] } };
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["DestinationResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        424: { headers: Headers; content: { "application/json": schemas["Error"] } };
        502: { headers: Headers; content: { "application/json": schemas["Error"] } };
        504: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
    delete: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined; "If-Match"?: string | undefined }; path: { "destination_id": string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["DeleteDestinationResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/sources/{source_id}/check": {
    post: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined }; path: { "source_id": string }; cookie?: never };
      requestBody?: { content: { "application/json": schemas["WorkspaceSelection"] } };
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["CheckedSourceResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        502: { headers: Headers; content: { "application/json": schemas["Error"] } };
        504: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/destinations/{destination_id}/check": {
    post: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined }; path: { "destination_id": string }; cookie?: never };
      requestBody?: { content: { "application/json": schemas["WorkspaceSelection"] } };
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["CheckedDestinationResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        502: { headers: Headers; content: { "application/json": schemas["Error"] } };
        504: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/pipelines/prepare": {
    post: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined }; path?: never; cookie?: never };
      requestBody: { content: { "application/json": schemas["PreparePipelineRequest"] } };
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["PreparePipelineResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        410: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        424: { headers: Headers; content: { "application/json": schemas["Error"] } };
        502: { headers: Headers; content: { "application/json": schemas["Error"] } };
        504: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/pipelines": {
    get: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined; "limit"?: number | undefined; "cursor"?: string | undefined; "search"?: string | undefined; "sort"?: schemas["NamedListOrder"] | undefined; "source_id"?: string | undefined; "destination_id"?: string | undefined; "status"?: schemas["PipelineStatus"] | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined }; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["PipelineListResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
    post: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined }; path?: never; cookie?: never };
      requestBody: { content: { "application/json": schemas["CreatePipelineRequest"] } };
      responses: {
        201: { headers: Headers; content: { "application/json": schemas["PipelineWithStreamsResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        410: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        424: { headers: Headers; content: { "application/json": schemas["Error"] } };
        502: { headers: Headers; content: { "application/json": schemas["Error"] } };
        504: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/pipelines/{pipeline_id}": {
    get: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined }; path: { "pipeline_id": string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["PipelineWithStreamsResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
    patch: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined; "If-Match"?: string | undefined }; path: { "pipeline_id": string }; cookie?: never };
      requestBody?: { content: { "application/json": schemas["UpdatePipelineRequest"] } };
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["PipelineWithStreamsResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        410: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        424: { headers: Headers; content: { "application/json": schemas["Error"] } };
        502: { headers: Headers; content: { "application/json": schemas["Error"] } };
        504: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/pipelines/{pipeline_id}/streams": {
    get: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined; "limit"?: number | undefined; "cursor"?: string | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined }; path: { "pipeline_id": string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["PipelineStreamListResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
    patch: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined; "If-Match"?: string | undefined }; path: { "pipeline_id": string }; cookie?: never };
      requestBody?: { content: { "application/json": schemas["PipelineStreamsUpdate"] } };
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["PipelineWithStreamsResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        424: { headers: Headers; content: { "application/json": schemas["Error"] } };
        502: { headers: Headers; content: { "application/json": schemas["Error"] } };
        504: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/pipelines/{pipeline_id}/pause": {
    post: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined }; path: { "pipeline_id": string }; cookie?: never };
      requestBody?: { content: { "application/json": schemas["PausePipelineRequest"] } };
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["PausePipelineResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/pipelines/{pipeline_id}/resume": {
    post: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined }; path: { "pipeline_id": string }; cookie?: never };
      requestBody?: { content: { "application/json": schemas["WorkspaceSelection"] } };
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["ResumePipelineResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/pipelines/{pipeline_id}/sync": {
    post: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined }; path: { "pipeline_id": string }; cookie?: never };
      requestBody?: { content: { "application/json": schemas["SyncPipelineRequest"] } };
      responses: {
        202: { headers: Headers; content: { "application/json": schemas["MadeJobOrApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/pipelines/{pipeline_id}/clear": {
    post: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined }; path: { "pipeline_id": string }; cookie?: never };
      requestBody?: { content: { "application/json": schemas["StreamChoice"] } };
      responses: {
        202: { headers: Headers; content: { "application/json": schemas["MadeJobOrApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/pipelines/{pipeline_id}/reset": {
    post: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined }; path: { "pipeline_id": string }; cookie?: never };
      requestBody?: { content: { "application/json": schemas["StreamChoice"] } };
      responses: {
        202: { headers: Headers; content: { "application/json": schemas["MadeJobOrApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/schedules/preview": {
    post: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined }; path?: never; cookie?: never };
      requestBody: { content: { "application/json": schemas["PreviewScheduleRequest"] } };
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["SchedulePreviewResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        502: { headers: Headers; content: { "application/json": schemas["Error"] } };
        504: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/rows-per-day": {
    get: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined; "pipeline_id"?: string | undefined; "days"?: number | undefined; "time_zone"?: string | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined }; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["RowsPerDayResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/connections": {
    get: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined; "limit"?: number | undefined; "cursor"?: string | undefined; "search"?: string | undefined; "sort"?: schemas["NamedListOrder"] | undefined; "pipeline_id"?: string | undefined; "source_id"?: string | undefined; "destination_id"?: string | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined }; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["ConnectionListResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/connections/{connection_id}": {
    get: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined }; path: { "connection_id": string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["ConnectionResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
    delete: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined; "If-Match"?: string | undefined }; path: { "connection_id": string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["DeleteConnectionResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/reverse-etl/prepare": {
    post: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined }; path?: never; cookie?: never };
      requestBody: { content: { "application/json": schemas["PrepareReverseEtlRequest"] } };
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["PrepareReverseEtlResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        424: { headers: Headers; content: { "application/json": schemas["Error"] } };
        502: { headers: Headers; content: { "application/json": schemas["Error"] } };
        504: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/reverse-etl/models/preview": {
    post: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined }; path?: never; cookie?: never };
      requestBody: { content: { "application/json": schemas["PreviewReverseEtlModelRequest"] } };
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["ReverseEtlModelPreviewResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        424: { headers: Headers; content: { "application/json": schemas["Error"] } };
        502: { headers: Headers; content: { "application/json": schemas["Error"] } };
        504: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/reverse-etl/models": {
    get: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined; "limit"?: number | undefined; "cursor"?: string | undefined; "search"?: string | undefined; "sort"?: schemas["NamedListOrder"] | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined }; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["ReverseEtlModelListResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
    post: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined }; path?: never; cookie?: never };
      requestBody: { content: { "application/json": schemas["CreateReverseEtlModelRequest"] } };
      responses: {
        201: { headers: Headers; content: { "application/json": schemas["ReverseEtlModelResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        424: { headers: Headers; content: { "application/json": schemas["Error"] } };
        502: { headers: Headers; content: { "application/json": schemas["Error"] } };
        504: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/reverse-etl/models/{modelId}": {
    get: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined }; path: { "modelId": string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["ReverseEtlModelResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
    patch: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined; "If-Match"?: string | undefined }; path: { "modelId": string }; cookie?: never };
      requestBody?: { content: { "application/json": schemas["UpdateReverseEtlModelRequest"] } };
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["ReverseEtlModelResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        424: { headers: Headers; content: { "application/json": schemas["Error"] } };
        502: { headers: Headers; content: { "application/json": schemas["Error"] } };
        504: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
    delete: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined; "If-Match"?: string | undefined }; path: { "modelId": string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["DeleteReverseEtlModelResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/reverse-etl/destinations": {
    get: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined; "limit"?: number | undefined; "cursor"?: string | undefined; "search"?: string | undefined; "sort"?: schemas["NamedListOrder"] | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined }; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["ReverseEtlDestinationListResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
    post: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined }; path?: never; cookie?: never };
      requestBody: { content: { "application/json": schemas["CreateReverseEtlDestinationRequest"] } };
      responses: {
        201: { headers: Headers; content: { "application/json": schemas["ReverseEtlDestinationResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        424: { headers: Headers; content: { "application/json": schemas["Error"] } };
        502: { headers: Headers; content: { "application/json": schemas["Error"] } };
        504: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/reverse-etl/destinations/{destinationId}": {
    get: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined }; path: { "destinationId": string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["ReverseEtlDestinationResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
    patch: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined; "If-Match"?: string | undefined }; path: { "destinationId": string }; cookie?: never };
      requestBody?: { content: { "application/json": schemas["UpdateReverseEtlDestinationRequest"] } };
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["ReverseEtlDestinationResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        424: { headers: Headers; content: { "application/json": schemas["Error"] } };
        502: { headers: Headers; content: { "application/json": schemas["Error"] } };
        504: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
    delete: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined; "If-Match"?: string | undefined }; path: { "destinationId": string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["DeleteReverseEtlDestinationResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/reverse-etl/activations": {
    get: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined; "limit"?: number | undefined; "cursor"?: string | undefined; "search"?: string | undefined; "sort"?: schemas["NamedListOrder"] | undefined; "modelId"?: string | undefined; "destinationId"?: string | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined }; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["ReverseEtlActivationListResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
    post: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined }; path?: never; cookie?: never };
      requestBody: { content: { "application/json": schemas["CreateReverseEtlActivationRequest"] } };
      responses: {
        201: { headers: Headers; content: { "application/json": schemas["ReverseEtlActivationResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        424: { headers: Headers; content: { "application/json": schemas["Error"] } };
        502: { headers: Headers; content: { "application/json": schemas["Error"] } };
        504: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/reverse-etl/activations/{activationId}": {
    get: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined }; path: { "activationId": string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["ReverseEtlActivationResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
    patch: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined; "If-Match"?: string | undefined }; path: { "activationId": string }; cookie?: never };
      requestBody?: { content: { "application/json": schemas["UpdateReverseEtlActivationRequest"] } };
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["ReverseEtlActivationResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        424: { headers: Headers; content: { "application/json": schemas["Error"] } };
        502: { headers: Headers; content: { "application/json": schemas["Error"] } };
        504: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
    delete: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined; "If-Match"?: string | undefined }; path: { "activationId": string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["DeleteReverseEtlActivationResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/reverse-etl/activations/{activationId}/run": {
    post: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined }; path: { "activationId": string }; cookie?: never };
      requestBody?: { content: { "application/json": schemas["RunReverseEtlActivationRequest"] } };
      responses: {
        202: { headers: Headers; content: { "application/json": schemas["RunReverseEtlActivationResultOrApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/reverse-etl/runs": {
    get: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined; "limit"?: number | undefined; "cursor"?: string | undefined; "sort"?: schemas["ListOrder"] | undefined; "activationId"?: string | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined }; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["ReverseEtlRunListResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/reverse-etl/runs/{runId}": {
    get: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined }; path: { "runId": string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["ReverseEtlRunResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/reverse-etl/runs/{runId}/failed-rows": {
    get: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined; "limit"?: number | undefined; "cursor"?: string | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined }; path: { "runId": string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["FailedRowListResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/reverse-etl/runs/{runId}/cancel": {
    post: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined }; path: { "runId": string }; cookie?: never };
      requestBody?: { content: { "application/json": schemas["WorkspaceSelection"] } };
      responses: {
        202: { headers: Headers; content: { "application/json": schemas["CancelReverseEtlRunResultOrApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/jobs": {
    get: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined; "limit"?: number | undefined; "cursor"?: string | undefined; "sort"?: schemas["ListOrder"] | undefined; "pipeline_id"?: string | undefined; "connection_id"?: string | undefined; "activation_id"?: string | undefined; "status"?: schemas["JobStatus"] | undefined; "job_type"?: schemas["JobType"] | undefined; "created_after"?: string | undefined; "created_before"?: string | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined }; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["JobListResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/jobs/{job_id}": {
    get: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined; "include"?: string | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined }; path: { "job_id": string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["JobWithPartsResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/jobs/{job_id}/cancel": {
    post: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined }; path: { "job_id": string }; cookie?: never };
      requestBody?: { content: { "application/json": schemas["WorkspaceSelection"] } };
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["JobResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/jobs/{job_id}/logs": {
    get: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined; "after"?: number | undefined; "limit"?: number | undefined; "level"?: schemas["LogLevel"] | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined }; path: { "job_id": string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["ListJobLogsResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/jobs/{job_id}/events": {
    get: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined; "after"?: number | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "Last-Event-ID"?: string | undefined }; path: { "job_id": string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "text/event-stream": string } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        429: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/approvals": {
    get: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined; "limit"?: number | undefined; "cursor"?: string | undefined; "sort"?: schemas["ListOrder"] | undefined; "status"?: schemas["ApprovalStatus"] | undefined; "category"?: schemas["ChangeCategory"] | undefined; "operation"?: string | undefined; "source"?: schemas["Client"] | undefined; "requested_by"?: string | undefined; "created_after"?: string | undefined; "created_before"?: string | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined }; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["ApprovalListResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/approvals/{approval_id}": {
    get: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined }; path: { "approval_id": string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/approvals/{approval_id}/approve": {
    post: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined }; path: { "approval_id": string }; cookie?: never };
      requestBody?: { content: { "application/json": schemas["ApproveApprovalRequest"] } };
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        403: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        410: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        424: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/approvals/{approval_id}/reject": {
    post: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined }; path: { "approval_id": string }; cookie?: never };
      requestBody?: { content: { "application/json": schemas["ApprovalReason"] } };
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        410: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/approvals/{approval_id}/cancel": {
    post: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined }; path: { "approval_id": string }; cookie?: never };
      requestBody?: { content: { "application/json": schemas["ApprovalReason"] } };
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        410: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/approvals/{approval_id}/changes": {
    get: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined }; path: { "approval_id": string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["ProposedChangesResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/approval-policies": {
    get: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined; "limit"?: number | undefined; "cursor"?: string | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined }; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["ApprovalPolicyListResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/approval-policies/{category}": {
    patch: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined; "If-Match"?: string | undefined }; path: { "category": string }; cookie?: never };
      requestBody?: { content: { "application/json": schemas["UpdateApprovalPolicyRequest"] } };
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["ApprovalPolicyResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/audit-logs": {
    get: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined; "limit"?: number | undefined; "cursor"?: string | undefined; "sort"?: schemas["ListOrder"] | undefined; "actor_id"?: string | undefined; "client"?: schemas["Client"] | undefined; "resource_type"?: string | undefined; "resource_id"?: string | undefined; "action"?: string | undefined; "outcome"?: schemas["AuditOutcome"] | undefined; "from"?: string | undefined; "to"?: string | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined }; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["AuditLogListResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/audit-logs/export": {
    get: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined; "after"?: number | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined }; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/x-ndjson": string } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        429: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/events": {
    get: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined; "limit"?: number | undefined; "cursor"?: string | undefined; "sort"?: schemas["ListOrder"] | undefined; "type"?: schemas["EventType"] | undefined; "after"?: string | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined }; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["EventListResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/events/{event_id}": {
    get: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined }; path: { "event_id": string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["EventResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/notification-settings": {
    get: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined }; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["NotificationSettingsResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
    patch: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined }; path?: never; cookie?: never };
      requestBody?: { content: { "application/json": schemas["UpdateNotificationSettingsRequest"] } };
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["NotificationSettingsResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/webhook-endpoints": {
    get: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined; "limit"?: number | undefined; "cursor"?: string | undefined; "search"?: string | undefined; "sort"?: schemas["NamedListOrder"] | undefined; "status"?: schemas["EnabledStatus"] | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined }; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["WebhookEndpointListResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
    post: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined }; path?: never; cookie?: never };
      requestBody: { content: { "application/json": schemas["CreateWebhookEndpointRequest"] } };
      responses: {
        201: { headers: Headers; content: { "application/json": schemas["CreateWebhookEndpointResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/webhook-endpoints/{webhook_endpoint_id}": {
    get: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined }; path: { "webhook_endpoint_id": string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["WebhookEndpointResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
    patch: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined; "If-Match"?: string | undefined }; path: { "webhook_endpoint_id": string }; cookie?: never };
      requestBody?: { content: { "application/json": schemas["UpdateWebhookEndpointRequest"] } };
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["WebhookEndpointResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
    delete: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined; "If-Match"?: string | undefined }; path: { "webhook_endpoint_id": string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["DeleteWebhookEndpointResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/webhook-endpoints/{webhook_endpoint_id}/rotate-secret": {
    post: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined }; path: { "webhook_endpoint_id": string }; cookie?: never };
      requestBody?: { content: { "application/json": schemas["RotateWebhookEndpointSecretRequest"] } };
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["RotateWebhookEndpointSecretResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/webhook-endpoints/{webhook_endpoint_id}/test": {
    post: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined }; path: { "webhook_endpoint_id": string }; cookie?: never };
      requestBody?: { content: { "application/json": schemas["WorkspaceSelection"] } };
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["WebhookDeliveryResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        502: { headers: Headers; content: { "application/json": schemas["Error"] } };
        504: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/webhook-endpoints/{webhook_endpoint_id}/deliveries": {
    get: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined; "limit"?: number | undefined; "cursor"?: string | undefined; "sort"?: schemas["ListOrder"] | undefined; "status"?: schemas["DeliveryStatus"] | undefined; "event_type"?: schemas["EventType"] | undefined; "event_id"?: string | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined }; path: { "webhook_endpoint_id": string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["WebhookDeliveryListResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/webhook-endpoints/{webhook_endpoint_id}/deliveries/{delivery_id}/redeliver": {
    post: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined }; path: { "webhook_endpoint_id": string; "delivery_id": string }; cookie?: never };
      requestBody?: { content: { "application/json": schemas["WorkspaceSelection"] } };
      responses: {
        202: { headers: Headers; content: { "application/json": schemas["WebhookDeliveryOrApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/sessions": {
    get: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined; "limit"?: number | undefined; "cursor"?: string | undefined; "sort"?: schemas["ListOrder"] | undefined; "user_id"?: string | undefined; "client"?: schemas["Client"] | undefined; "status"?: schemas["SessionStatus"] | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined }; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["SessionListResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
    post: {
      parameters: { query?: never; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined }; path?: never; cookie?: never };
      requestBody: { content: { "application/json": schemas["CreateSessionRequest"] } };
      responses: {
        201: { headers: Headers; content: { "application/json": schemas["CreateSessionResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
  "/sessions/{session_id}/revoke": {
    post: {
      parameters: { query?: { "workspace_id"?: schemas["WorkspaceChoice"] | undefined }; header?: { "X-Svc-Workspace-Id"?: string | undefined; "X-Svc-Client"?: schemas["Client"] | undefined; "X-Svc-Execution-Mode"?: schemas["ExecutionMode"] | undefined; "Idempotency-Key"?: string | undefined }; path: { "session_id": string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Headers; content: { "application/json": schemas["RevokeSessionResponse"] } };
        202: { headers: Headers; content: { "application/json": schemas["ApprovalResponse"] } };
        400: { headers: Headers; content: { "application/json": schemas["Error"] } };
        404: { headers: Headers; content: { "application/json": schemas["Error"] } };
        409: { headers: Headers; content: { "application/json": schemas["Error"] } };
        412: { headers: Headers; content: { "application/json": schemas["Error"] } };
        422: { headers: Headers; content: { "application/json": schemas["Error"] } };
        default: { headers: Headers; content: { "application/json": schemas["Error"] } };
      };
    };
  };
}
