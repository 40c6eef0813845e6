/** The mailer: its token, a look at its account, and a preview of its campaigns. */
import { Type } from "typebox";
import { defineCompute, defineWrite, type OperationContext } from "../contract/operation.ts";
import { Handle, Id, OneOf, StrictObject, Time } from "../contract/schemas.ts";
import { changeCredential } from "../credentials/change.ts";
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
import { connectionMethodOf, mailerAccount, mailerTarget } from "../mailer/target.ts";
import { checkToken, StoreToken } from "../mailer/token.ts";
import { ConnectionMethod } from "../sources/named-settings.ts";
import { credentialStatuses } from "../store/tables.ts";

export const storeMailerToken = defineWrite({
  id: "credential.create_mailer_token",
  area: "Mailer",
  method: "POST",
  path: "/credentials/mailer/api-token",
  summary: "Store a mailer token",
  description:
    "The only place that takes a mailer token, a new one or one that replaces the token of `credential_handle`. It is bound to its base_url, or to the first one that takes it.",
  permission: "write",
  status: 201,
  resource: "credential",
  category: "credential_change",
  isRepeatable: true,
  secretFields: ["api_token"],
  body: StoreToken,
  data: StrictObject(
    {
      credential_handle: Handle,
      credential_id: Id("credential"),
      connector_id: Type.String(),
      connection_method: ConnectionMethod,
      status: OneOf(credentialStatuses),
    },
    { title: "StoredMailerToken" },
  ),
  errors: [
    "not_found",
    "connector_disabled",
    "invalid_base_url",
    "secret_not_allowed",
    "credential_mismatch",
    "version_mismatch",
  ],
  guard: (ctx, { body }) => checkToken(ctx.db, ctx, body),
  async commit(tx, ctx, { body }) {
    const { definition, replaced, ...settings } = await checkToken(tx, ctx, body);
    const { name, api_token } = body;
    const secrets = { api_token };
    const row = replaced
      ? await changeCredential(tx, ctx, replaced, { name, secrets, ...settings })
      : await storeCredential(tx, ctx, {
          connectorId: definition.id,
          name: name ?? "Mailer token",
          authType: "api_key",
          secret: { fields: secrets },
          ...settings,
        });
    const data = {
      credential_handle: row.handle,
      credential_id: row.id,
      connector_id: row.connector_id,
      connection_method: connectionMethodOf(settings.metadata),
      status: row.status,
    };
    const remark = replaced ? "it replaces another one" : undefined;
    return { data, resourceId: row.id, location: `/credentials/${row.id}`, remark };
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
