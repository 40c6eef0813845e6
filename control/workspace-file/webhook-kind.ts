import { type Kind, only, patch, said } from "./kind.ts";

export const webhooks: Kind<"webhooks"> = {
  section: "webhooks",
  noun: "webhook",
  path: "/webhook-endpoints",
  idField: "webhook_endpoint_id",
  names: {},
  fixed: [],
  unseen: ["signing_secret_file"],
  entryOf: ({ url, event_types, format, status }) => ({
    url,
    event_types,
    format,
    enabled: status === "enabled",
  }),
  async create(
    name,
    { url, event_types, format, enabled = true, signing_secret_file: file },
    hands,
  ) {
    const body = { name, url, ...said({ event_types, format }) };
    const made = await hands.api.write("POST", webhooks.path, body);
    if (file !== undefined) await hands.keepSecret(file, made.signing_secret);
    if (!enabled)
      await patch(webhooks, { there: made, name: undefined }, { status: "disabled" }, hands);
    return made;
  },
  async change(change, hands) {
    const { url, event_types, format, enabled } = only(change.entry, change.fields);
    const status = enabled === undefined ? undefined : enabled ? "enabled" : "disabled";
    await patch(webhooks, change, { url, event_types, format, status }, hands);
  },
};
