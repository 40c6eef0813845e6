/** Webhook endpoints: where a workspace has its events sent. */

import { checkPublicUrl } from "svc-connectors/host";
import { type Static, Type } from "typebox";
import { createId } from "../contract/ids.ts";
import { defineRead, defineWrite, type OperationContext } from "../contract/operation.ts";
import {
  Id,
  IdInput,
  List,
  Name,
  Nullable,
  namedListQuery,
  OneOf,
  StrictObject,
  Time,
  workspaceInput,
} from "../contract/schemas.ts";
import { readPage } from "../door/pages.ts";
import { cancelPending } from "../events/disable.ts";
import {
  EventTypes,
  endpointFields,
  Format,
  findEndpoint,
  lockEndpoint,
  requireRoom,
  toEndpoint,
  urlOptions,
  WebhookEndpoint,
} from "../events/endpoints.ts";
import { newSigningSecret, putSigningSecret } from "../events/signing-secrets.ts";

const endpointParams = StrictObject({ webhook_endpoint_id: IdInput("The endpoint.") });
const ofWorkspace = StrictObject(workspaceInput);
const statuses = ["enabled", "disabled"] as const;

export const listWebhookEndpoints = defineRead({
  id: "webhook_endpoint.list",
  area: "Events",
  path: "/webhook-endpoints",
  summary: "List webhook endpoints",
  permission: "write",
  query: StrictObject({ ...namedListQuery, status: Type.Optional(OneOf(statuses)) }),
  data: List(WebhookEndpoint),
  errors: ["invalid_cursor"],
  async run({ db, workspaceId }, { query: { limit = 50, cursor, search, sort, status } }) {
    const filters = { list: "webhook_endpoints", workspaceId, status };
    let rows = db.selectFrom("webhook_endpoints").selectAll();
    rows = rows.where("workspace_id", "=", workspaceId);
    if (status) rows = rows.where("status", "=", status);
    const page = await readPage(rows, { cursor, limit, filters, search, sort });
    return { ...page, items: page.items.map(toEndpoint) };
  },
});

export const getWebhookEndpoint = defineRead({
  id: "webhook_endpoint.get",
  area: "Events",
  path: "/webhook-endpoints/{webhook_endpoint_id}",
  summary: "Get a webhook endpoint",
  permission: "write",
  params: endpointParams,
  query: ofWorkspace,
  data: WebhookEndpoint,
  errors: ["not_found"],
  run: async ({ db, workspaceId }, { params }) =>
    toEndpoint(await findEndpoint(db, workspaceId, params.webhook_endpoint_id)),
});

const Url = Type.String({
  minLength: 1,
  maxLength: 2_048,
  ...urlOptions,
});
const Types = Nullable(EventTypes);
const signing_secret = Nullable(
  Type.String({
    description:
      "Deliveries are signed with it as Standard Webhooks says. It is shown here and never again; an answer that is repeated, or the result of a proposal, has null: rotate it then.",
  }),
);
const WithSecret = StrictObject({ ...endpointFields, signing_secret });

export const createWebhookEndpoint = defineWrite({
  id: "webhook_endpoint.create",
  area: "Events",
  method: "POST",
  path: "/webhook-endpoints",
  summary: "Create a webhook endpoint",
  description:
    "Events are sent to it as POST, signed, at least once each and in no order. What it does not take with a 2xx within 20 seconds is tried again for a day. Its network is looked at when something is sent: private addresses are refused unless the operator has opened them.",
  permission: "admin",
  status: 201,
  resource: "webhook_endpoint",
  isRepeatable: true,
  shownOnce: ["signing_secret"],
  body: StrictObject({
    ...workspaceInput,
    name: Name,
    url: Url,
    event_types: Type.Optional(Types),
    format: Type.Optional(Format),
  }),
  data: WithSecret,
  errors: ["invalid_base_url", "too_many_webhook_endpoints"],
  async guard({ db, workspaceId }, { body }) {
    const url = checkPublicUrl(body.url, "url").href;
    await requireRoom(db, workspaceId);
    return { url };
  },
  async commit(tx, { services, workspaceId, now }, { body }, { url }) {
    // Others who create one wait here, so that they count this one.
    await tx
      .selectFrom("workspaces")
      .select("id")
      .where("id", "=", workspaceId)
      .forNoKeyUpdate()
      .execute();
    await requireRoom(tx, workspaceId);
    const secret = newSigningSecret();
    const row = await tx
      .insertInto("webhook_endpoints")
      .values({
        id: createId("webhookEndpoint"),
        workspace_id: workspaceId,
        name: body.name,
        url,
        event_types: body.event_types ? JSON.stringify(body.event_types) : null,
        format: body.format ?? "event",
        status: "enabled",
        disabled_reason: null,
        created_at: now,
        updated_at: now,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    await putSigningSecret(tx, services, row, secret);
    return {
      data: { ...toEndpoint(row), signing_secret: secret },
      resourceId: row.id,
      location: `/webhook-endpoints/${row.id}`,
    };
  },
});

const UpdateBody = StrictObject(
  {
    ...workspaceInput,
    name: Type.Optional(Name),
    url: Type.Optional(Url),
    event_types: Type.Optional(Types),
    format: Type.Optional(Format),
    status: Type.Optional(OneOf(statuses)),
  },
  { minProperties: 1 },
);

/** The columns that a change writes. @throws BASE_URL_REFUSED */
function changeOf({ name, url, event_types: types, format, status }: Static<typeof UpdateBody>) {
  return {
    ...(name === undefined ? {} : { name }),
    ...(url === undefined ? {} : { url: checkPublicUrl(url, "url").href }),
    ...(types === undefined ? {} : { event_types: types && JSON.stringify(types) }),
    ...(format === undefined ? {} : { format }),
    ...(status === undefined ? {} : { status }),
    ...(status === "enabled" ? { disabled_reason: null } : {}),
    ...(status === "disabled" ? { disabled_reason: "by_a_person" as const } : {}),
  };
}

export const updateWebhookEndpoint = defineWrite({
  id: "webhook_endpoint.update",
  area: "Events",
  method: "PATCH",
  path: "/webhook-endpoints/{webhook_endpoint_id}",
  summary: "Change a webhook endpoint",
  description:
    "A disabled one gets nothing, also not later: what waits for it is cancelled. Events of the time between are in the list of events.",
  permission: "admin",
  status: 200,
  resource: "webhook_endpoint",
  isRepeatable: true,
  params: endpointParams,
  body: UpdateBody,
  data: WebhookEndpoint,
  errors: ["not_found", "version_mismatch", "invalid_base_url"],
  async guard(ctx, { params, body }) {
    const row = await findEndpoint(ctx.db, ctx.workspaceId, params.webhook_endpoint_id);
    ctx.expectVersion(row.version);
    return changeOf(body);
  },
  async commit(tx, ctx, { params }, change) {
    const { workspaceId, now } = ctx;
    const before = await lockEndpoint(tx, workspaceId, params.webhook_endpoint_id);
    ctx.expectVersion(before.version);
    const row = await tx
      .updateTable("webhook_endpoints")
      .set({ ...change, updated_at: now, version: before.version + 1 })
      .where("id", "=", before.id)
      .where("workspace_id", "=", workspaceId)
      .returningAll()
      .executeTakeFirstOrThrow();
    if (row.status === "disabled") await cancelPending(tx, row.id, now);
    return { data: toEndpoint(row), resourceId: row.id };
  },
});

const hourMs = 3_600_000;
const defaultPreviousHours = 24;

export const rotateWebhookSecret = defineWrite({
  id: "webhook_endpoint.rotate_secret",
  area: "Events",
  method: "POST",
  path: "/webhook-endpoints/{webhook_endpoint_id}/rotate-secret",
  summary: "Rotate the signing secret of a webhook endpoint",
  description:
    "Deliveries carry two signatures while the secret before it is valid: change the receiver within that time. With 0 hours the old one ends at once.",
  permission: "admin",
  status: 200,
  resource: "webhook_endpoint",
  isRepeatable: true,
  shownOnce: ["signing_secret"],
  params: endpointParams,
  body: StrictObject({
    ...workspaceInput,
    previous_valid_hours: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 168, default: defaultPreviousHours }),
    ),
  }),
  data: StrictObject({
    webhook_endpoint_id: Id("webhookEndpoint"),
    signing_secret,
    previous_valid_until: Time,
  }),
  errors: ["not_found", "version_mismatch"],
  async guard(ctx, { params }) {
    const row = await findEndpoint(ctx.db, ctx.workspaceId, params.webhook_endpoint_id);
    ctx.expectVersion(row.version);
  },
  async commit(tx, ctx, { params, body }) {
    const { services, workspaceId, now } = ctx;
    const row = await lockEndpoint(tx, workspaceId, params.webhook_endpoint_id);
    ctx.expectVersion(row.version);
    const hours = body.previous_valid_hours ?? defaultPreviousHours;
    const until = new Date(now.getTime() + hours * hourMs);
    const secret = newSigningSecret();
    await putSigningSecret(tx, services, row, secret, until);
    await touch(tx, row.id, now);
    return {
      data: {
        webhook_endpoint_id: row.id,
        signing_secret: secret,
        previous_valid_until: until.toISOString(),
      },
      resourceId: row.id,
    };
  },
});

const touch = (tx: OperationContext["db"], id: string, now: Date) =>
  tx
    .updateTable("webhook_endpoints")
    .set((eb) => ({ updated_at: now, version: eb("version", "+", 1) }))
    .where("id", "=", id)
    .execute();

export const deleteWebhookEndpoint = defineWrite({
  id: "webhook_endpoint.delete",
  area: "Events",
  method: "DELETE",
  path: "/webhook-endpoints/{webhook_endpoint_id}",
  summary: "Delete a webhook endpoint",
  description: "With its secret and the log of its deliveries.",
  permission: "admin",
  status: 200,
  resource: "webhook_endpoint",
  isRepeatable: true,
  params: endpointParams,
  query: ofWorkspace,
  data: StrictObject({
    webhook_endpoint_id: Id("webhookEndpoint"),
    deleted: Type.Literal(true),
    deleted_at: Time,
  }),
  errors: ["not_found", "version_mismatch"],
  async guard(ctx, { params }) {
    const row = await findEndpoint(ctx.db, ctx.workspaceId, params.webhook_endpoint_id);
    ctx.expectVersion(row.version);
  },
  async commit(tx, ctx, { params }) {
    const { services, workspaceId, now } = ctx;
    const { id, version } = await lockEndpoint(tx, workspaceId, params.webhook_endpoint_id);
    ctx.expectVersion(version);
    await services.vault.shred(tx, id);
    await tx
      .deleteFrom("webhook_endpoints")
      .where("workspace_id", "=", workspaceId)
      .where("id", "=", id)
      .execute();
    return {
      data: { webhook_endpoint_id: id, deleted: true as const, deleted_at: now.toISOString() },
      resourceId: id,
    };
  },
});

export const webhookEndpointOperations = [
  listWebhookEndpoints,
  getWebhookEndpoint,
  createWebhookEndpoint,
  updateWebhookEndpoint,
  rotateWebhookSecret,
  deleteWebhookEndpoint,
];
