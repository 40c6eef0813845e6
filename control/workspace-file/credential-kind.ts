import { type Kind, notEmpty, only, patch, said } from "./kind.ts";
import type { Entries } from "./schema.ts";

export const credentials: Kind<"credentials"> = {
  section: "credentials",
  noun: "credential",
  path: "/credentials",
  idField: "credential_id",
  handleField: "credential_handle",
  names: {},
  fixed: ["connector", "metadata"],
  entryOf: (there) =>
    said({
      connector: there.connector_id,
      metadata: notEmpty(there.metadata),
      secrets_expire_at: there.secrets_expire_at ?? undefined,
    }) as Entries["credentials"],
  async create(name, entry, hands) {
    const path = await hands.secretsPath(entry.connector);
    const body = { name, ...said({ secrets_expire_at: entry.secrets_expire_at }) };
    const { metadata, connector: connector_id } = entry;
    const secrets = await hands.secretsOf(entry);
    return hands.api.write(
      "POST",
      path,
      isOwn(path)
        ? { ...body, connector_id, ...metadata, ...secrets }
        : { ...body, connector_id, secrets, ...said({ metadata }) },
    );
  },
  async change(change, hands) {
    const { there, entry, name, fields } = change;
    const body = only(entry, new Set([...fields].filter((field) => field !== "secrets")));
    if (!fields.has("secrets")) return void (await patch(credentials, change, body, hands));
    const path = await hands.secretsPath(entry.connector);
    const secrets = await hands.secretsOf(entry);
    if (!isOwn(path)) return void (await patch(credentials, change, { ...body, secrets }, hands));
    const { credential_handle, version } = there;
    const request = { credential_handle, ...said({ name }), ...body, ...secrets };
    await hands.api.write("POST", path, request, { version });
  },
};

/** Whether the secrets of a connector have a place of their own, with its settings beside them. */
const isOwn = (path: string) => path !== credentials.path;
