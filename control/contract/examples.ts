/**
 * A request body for each operation that takes more than its workspace. The documents show it, and
 * tests send it, with ids and addresses of what they have made (tests/control-operations.ts).
 */

/** Ids of the right form, and of nothing that exists. */
export const exampleIds = {
  workspace: "ws_6Rm3pT8vKc1XfN5qZ9wLdG",
  member: "mem_3wZx7KdM5qTf9RbN1vGcY8",
  handle: "ch_4bN8xT2kLq7VfS9mRw1ZcD6hJp3YgE5uAvKo",
  source: "src_7kMq2XcV9tRb5NwZ8pLdH3",
  destination: "dst_2fT7mQ9xKc4LpV8sWnR1Za",
  model: "mdl_5hJ2kW8rTb6NqD3yXvG9Ce",
  reverseDestination: "red_8sP4nL6fZm1RwK7tBxY3Qd",
} as const;

const baseUrl = "https://mail.example.com/api";
const mailerAccount = { credential_handle: exampleIds.handle, base_url: baseUrl };
const redirectUri = "https://app.example.com/connected";
const oauthCallback = {
  query_params: { state: "kB4sT9vXq2LmZ7wR", code: "the-code-that-the-browser-brought" },
};

const ordersManifest = `version: 6.36.2
type: DeclarativeSource
check: { type: CheckStream, stream_names: [orders] }
streams:
  - type: DeclarativeStream
    name: orders
    primary_key: id
    retriever:
      type: SimpleRetriever
      requester:
        type: HttpRequester
        url_base: https://api.orders.example.com/v1
        path: orders
        authenticator: { type: BearerAuthenticator, api_token: "{{ config['api_token'] }}" }
      record_selector:
        type: RecordSelector
        extractor: { type: DpathExtractor, field_path: [data] }
    schema_loader:
      type: InlineSchemaLoader
      schema: { type: object, properties: { id: { type: integer }, name: { type: string } } }
spec:
  type: Spec
  connection_specification:
    type: object
    required: [api_token]
    properties:
      api_token: { type: string, title: API token, airbyte_secret: true }
`;

const ordersReport = {
  format: 1,
  kitVersion: "0.9.0",
  connector: { name: "orders", id: "conn_orders" },
  target: "worker",
  profiles: ["core"],
  startedAt: "2026-11-20T09:30:00.000Z",
  durationMs: 8_200,
  runCount: 310,
  verdict: "passed",
  remarks: [],
  rules: [
    {
      id: "LEAK-01",
      level: "MUST",
      profile: "core",
      title: "No secret leaves",
      why: "Whoever reads the output would have it.",
      fix: "Declare the setting as a secret.",
      result: "pass",
      subjectCount: 310,
      problems: [],
    },
  ],
};

export const examples: Readonly<Record<string, object>> = {
  "member.update": { role: "editor" },
  "invitation.create": {
    email: "ada@example.com",
    role: "viewer",
    message: "Our campaigns are here.",
  },
  "invitation.accept": { token: "the-token-of-the-mail", name: "Ada Lovelace" },
  "workspace.create": { name: "Acme" },
  "workspace.update": { name: "Acme Europe" },
  "credential.create_mailer_token": {
    base_url: baseUrl,
    api_token: "the-token-of-your-account",
    name: "Newsletters",
  },
  "mailer.check": mailerAccount,
  "mailer.preview": mailerAccount,
  "connector.create": { name: "orders", manifest: ordersManifest },
  "connector.update": { manifest: ordersManifest },
  "connector_report.create": { report: ordersReport },
  "credential.create": {
    connector_id: "conn_postgres",
    name: "Shop database",
    secrets: { password: "the-password-of-its-reader" },
  },
  "credential.update": { secrets: { password: "the-next-password" } },
  "oauth.start_source": { connector_id: "conn_social", redirect_uri: redirectUri },
  "oauth.finish_source": oauthCallback,
  "oauth.start_taskapp": { redirect_uri: redirectUri },
  "oauth.finish_taskapp": oauthCallback,
  "source.create": {
    name: "Newsletters",
    connector_id: "conn_mailer_product_edm",
    credential_handle: exampleIds.handle,
    configuration: { base_url: baseUrl },
  },
  "source.update": { name: "Newsletters of Europe" },
  "source.entities": { credential_handle: exampleIds.handle },
  "destination.create": {
    name: "Warehouse",
    connector_id: "conn_duckdb",
    configuration: { file: "warehouse" },
  },
  "destination.update": { name: "Main warehouse" },
  "pipeline.prepare": { source_id: exampleIds.source, destination_id: exampleIds.destination },
  "pipeline.create": {
    source_id: exampleIds.source,
    destination_id: exampleIds.destination,
    streams: [{ name: "campaigns", sync_mode: "full_refresh", destination_sync_mode: "overwrite" }],
    schedule: { type: "cron", cron_expression: "0 6 * * *", cron_timezone: "Europe/Berlin" },
  },
  "pipeline.update": { schedule: { type: "basic", units: 6, time_unit: "hours" } },
  "pipeline.update_streams": {
    streams: [
      {
        name: "campaigns",
        sync_mode: "full_refresh",
        destination_sync_mode: "append",
        hashed_fields: ["from_email"],
      },
    ],
  },
  "pipeline.clear": { streams: [{ name: "campaigns" }] },
  "pipeline.reset": { streams: [{ name: "campaigns" }] },
  "pipeline.pause": { cancel_running: true },
  "pipeline.sync": { streams: [{ name: "campaigns" }] },
  "schedule.preview": {
    schedule: { type: "cron", cron_expression: "0 6 * * 1-5", cron_timezone: "Europe/Berlin" },
  },
  "reverse_etl_model.preview": {
    warehouseId: exampleIds.destination,
    raw: { sql: "SELECT 'ada@example.com' AS mail, 'Ada' AS first_name" },
  },
  "reverse_etl.prepare": {
    modelId: exampleIds.model,
    destinationId: exampleIds.reverseDestination,
    operation: "upsert",
    mappings: [{ from: "mail", to: "email", isPrimaryIdentifier: true }],
  },
  "reverse_etl_model.create": {
    name: "Active people",
    warehouseId: exampleIds.destination,
    queryType: "raw_sql",
    raw: { sql: "SELECT 'ada@example.com' AS mail, 'Ada' AS first_name" },
    primaryKey: "mail",
  },
  "reverse_etl_model.update": { name: "People" },
  "reverse_etl_destination.create": {
    name: "The newsletter's mailer",
    type: "mailer",
    credentialHandle: exampleIds.handle,
    configuration: { base_url: baseUrl },
  },
  "reverse_etl_destination.update": { name: "The newsletter" },
  "reverse_etl_activation.create": {
    name: "People to the list",
    modelId: exampleIds.model,
    destinationId: exampleIds.reverseDestination,
    object: "Newsletter",
    operation: "upsert",
    mappings: [
      { from: "mail", to: "email", isPrimaryIdentifier: true },
      { from: "first_name", to: "first_name" },
    ],
    schedule: { type: "basic", units: 6, time_unit: "hours" },
  },
  "reverse_etl_activation.update": { status: "paused" },
  "reverse_etl_activation.run": { dryRun: false },
  "webhook_endpoint.create": {
    name: "Our receiver",
    url: "https://hooks.example.com/svc",
    event_types: ["job.failed", "pipeline.recovered"],
  },
  "webhook_endpoint.update": { status: "disabled" },
  "webhook_endpoint.rotate_secret": { previous_valid_hours: 24 },
  "notification_settings.update": {
    event_types: ["pipeline.failed", "pipeline.recovered"],
    member_ids: [exampleIds.member],
  },
  "approval.approve": { comment: "Agreed in the planning." },
  "approval.reject": { reason: "Not before the summer." },
  "approval.cancel": { reason: "No longer needed." },
  "approval_policy.update": { requires_approval: true },
  "session.create": { name: "nightly load", role: "editor", expires_in_days: 30 },
};
