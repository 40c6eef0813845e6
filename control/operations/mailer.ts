/** The mailer: its token, a look at its account, and a preview of its campaigns. */
import { type Static, Type } from "typebox";
import { checkBaseUrlOf } from "../connectors/configuration.ts";
import { requireEnabled } from "../connectors/registry.ts";
import { defineCompute, defineWrite, type OperationContext } from "../contract/operation.ts";
import { Handle, Id, Name, OneOf, StrictObject, Time } from "../contract/schemas.ts";
import { storeCredential } from "../credentials/store.ts";
import {
  Campaign,
  MetricRequiringAttribution,
  metricsRequiringAttribution,
  toCampaign,
} from "../mailer/campaigns.ts";
import { coverageOf, FieldCoverage } from "../mailer/coverage.ts";
import { type Inspection, inspect, maxSampleRows } from "../mailer/inspect.ts";
import { type DataSourceStatus, dataSourceStatuses } from "../mailer/status.ts";
import { mailerAccount, mailerConnector, mailerFields, mailerTarget } from "../mailer/target.ts";
import { BaseUrl, ConnectionMethod } from "../sources/named-settings.ts";
import { credentialStatuses } from "../store/tables.ts";

const StoreToken = StrictObject({
  ...mailerFields,
  base_url: Type.Optional(BaseUrl),
  api_token: Type.String({
    minLength: 1,
    maxLength: 8_192,
    pattern: "^[^\\u0000-\\u001f\\u007f]*[^\\s\\u0000-\\u001f\\u007f][^\\u0000-\\u001f\\u007f]*$",
    writeOnly: true,
    description: "The mailer's API token, without the word Bearer.",
  }),
  name: Type.Optional(Name),
});

/**
 * The settings that are kept beside the token. A base URL, where it is given, binds it: the token
 * goes nowhere else.
 */
async function settingsOfToken(ctx: OperationContext, body: Static<typeof StoreToken>) {
  const definition = mailerConnector(ctx, body.connector_id);
  await requireEnabled(ctx.db, definition);
  const { base_url, connection_method } = body;
  const method = connection_method === undefined ? {} : { connection_method };
  if (base_url === undefined) return { definition, metadata: method };
  const manifest = await ctx.services.connectors.manifest(definition);
  return { definition, metadata: checkBaseUrlOf(ctx, manifest, { base_url, ...method }, "") };
}

export const storeMailerToken = defineWrite({
  id: "credential.create_mailer_token",
  area: "Mailer",
  method: "POST",
  path: "/credentials/mailer/api-token",
  summary: "Store a mailer token",
  description: "The only place that takes a mailer token. With a base_url it is bound to it.",
  permission: "write",
  status: 201,
  resource: "credential",
  category: "credential_change",
  isRepeatable: true,
  secretFields: ["api_token"],
  body: StoreToken,
  data: StrictObject({
    credential_handle: Handle,
    credential_id: Id("credential"),
    connector_id: Type.String(),
    connection_method: ConnectionMethod,
    status: OneOf(credentialStatuses),
  }),
  errors: ["not_found", "connector_disabled", "invalid_base_url"],
  guard: (ctx, { body }) => settingsOfToken(ctx, body),
  async commit(tx, ctx, { body }, { definition, metadata }) {
    const { base_url = null } = metadata as { readonly base_url?: string };
    const row = await storeCredential(tx, ctx, {
      connectorId: definition.id,
      name: body.name ?? "Mailer token",
      authType: "api_key",
      secret: { fields: { api_token: body.api_token } },
      metadata,
      baseUrl: base_url,
    });
    const data = {
      credential_handle: row.handle,
      credential_id: row.id,
      connector_id: row.connector_id,
      connection_method: body.connection_method ?? "self_hosted",
      status: row.status,
    };
    return { data, resourceId: row.id, location: `/credentials/${row.id}` };
  },
});

const accountErrors = [
  "not_found",
  "connector_disabled",
  "invalid_base_url",
  "secret_not_allowed",
  "invalid_configuration",
  "credential_mismatch",
  "credential_not_usable",
] as const;

const inspectionFields = {
  connector_id: Type.String(),
  credential_handle: Handle,
  connection_method: ConnectionMethod,
  data_source_status: OneOf(Object.keys(dataSourceStatuses) as DataSourceStatus[]),
  message: Type.String({ description: "The status as a sentence." }),
  field_coverage: FieldCoverage,
  checked_at: Time,
};

type MailerTarget = Awaited<ReturnType<typeof mailerTarget>>;

const toInspection = (
  ctx: OperationContext,
  target: MailerTarget,
  { status, samples }: Inspection,
) => ({
  connector_id: target.definition.id,
  credential_handle: target.credential.handle,
  connection_method: target.connectionMethod,
  data_source_status: status,
  message: dataSourceStatuses[status],
  field_coverage: coverageOf(samples),
  checked_at: ctx.now.toISOString(),
});

export const checkMailer = defineCompute({
  id: "mailer.check",
  area: "Mailer",
  path: "/connectors/mailer/check",
  summary: "Check a mailer account",
  description:
    "Reads a page of each main stream and keeps nothing. An account that cannot be read is an answer, not an error.",
  permission: "run",
  body: StrictObject(mailerAccount),
  data: StrictObject(inspectionFields),
  errors: accountErrors,
  guard: (ctx, { body }) => mailerTarget(ctx, body),
  async run(ctx, _input, target) {
    return toInspection(ctx, target, await inspect(ctx, target, "mailer.check"));
  },
});

export const previewMailer = defineCompute({
  id: "mailer.preview",
  area: "Mailer",
  path: "/connectors/mailer/edm/preview",
  summary: "Preview a mailer account's campaigns",
  description:
    "As the check, with the newest campaigns and their numbers. Traffic and sales are not the mailer's to know.",
  permission: "run",
  body: StrictObject({
    ...mailerAccount,
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: maxSampleRows, default: maxSampleRows }),
    ),
  }),
  data: StrictObject({
    ...inspectionFields,
    campaigns: Type.Array(Campaign),
    metrics_requiring_attribution: Type.Array(MetricRequiringAttribution),
  }),
  errors: accountErrors,
  guard: (ctx, { body: { limit: _, ...account } }) => mailerTarget(ctx, account),
  async run(ctx, { body: { limit = maxSampleRows } }, target) {
    const inspection = await inspect(ctx, target, "mailer.preview");
    const { rows = [] } =
      inspection.samples.find(({ stream }) => stream.name === "campaigns") ?? {};
    return {
      ...toInspection(ctx, target, inspection),
      campaigns: rows.slice(0, limit).map(toCampaign),
      metrics_requiring_attribution: [...metricsRequiringAttribution],
    };
  },
});

export const mailerOperations = [storeMailerToken, checkMailer, previewMailer];
