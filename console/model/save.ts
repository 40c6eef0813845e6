/** Saves a source or a destination: its secrets first, which stay here only when all went well. */
import { api, ask, isProposal } from "../api/client.ts";
import type { schemas } from "../api/schema.ts";
import { type Endpoint, fromDestination, fromSource, type Kind } from "./queries.ts";
import { type Field, given, type Values } from "./spec.ts";

interface Form {
  readonly kind: Kind;
  readonly name: string;
  readonly connectorId: string;
  readonly fields: readonly Field[];
  readonly values: Values;
  /** Where the connector takes its secrets. */
  readonly startPath: string | null;
}

const mailerPath = "/credentials/mailer/api-token";

const secretsOf = ({ fields, values }: Form): Record<string, string> =>
  Object.fromEntries(
    fields.flatMap(({ name, isSecret }) => {
      const value = values[name];
      return isSecret && typeof value === "string" && value !== "" ? [[name, value]] : [];
    }),
  );

const configurationOf = ({ fields, values }: Form): Record<string, unknown> => {
  const secret = new Set(fields.flatMap(({ name, isSecret }) => (isSecret ? [name] : [])));
  return Object.fromEntries(Object.entries(given(values)).filter(([name]) => !secret.has(name)));
};

type Stored = Pick<schemas["Credential"], "credential_id" | "credential_handle">;

async function storeSecrets(form: Form, handle?: string): Promise<Stored | schemas["Approval"]> {
  const { startPath, connectorId, name, values } = form;
  if (startPath === mailerPath)
    return ask(
      api.POST("/credentials/mailer/api-token", {
        body: {
          api_token: String(values.api_token),
          base_url: String(values.base_url),
          connection_method: values.connection_method as schemas["ConnectionMethod"],
          name,
          credential_handle: handle,
        },
      }),
    );
  return ask(
    api.POST("/credentials", {
      body: { connector_id: connectorId, name, secrets: secretsOf(form) },
    }),
  );
}

/**
 * Tests and creates. Secrets of what was not saved are deleted again.
 * @throws Problem
 */
export async function create(form: Form): Promise<Endpoint | schemas["Approval"]> {
  const { kind, name, connectorId } = form;
  const configuration = configurationOf(form);
  const hasSecrets = Object.keys(secretsOf(form)).length > 0;
  const stored = hasSecrets ? await storeSecrets(form) : undefined;
  if (isProposal(stored)) return stored;
  const body = { name, connector_id: connectorId, configuration };
  const handle = stored?.credential_handle;
  try {
    if (kind === "source") {
      const made = await ask(
        api.POST("/sources", { body: { ...body, credential_handle: handle ?? "" } }),
      );
      return isProposal(made) ? made : fromSource(made);
    }
    const made = await ask(
      api.POST("/destinations", {
        body: handle === undefined ? body : { ...body, credential_handle: handle },
      }),
    );
    return isProposal(made) ? made : fromDestination(made);
  } catch (error) {
    if (stored)
      await api
        .DELETE("/credentials/{credential_id}", {
          params: { path: { credential_id: stored.credential_id } },
        })
        .catch(() => undefined);
    throw error;
  }
}

/**
 * Tests and changes what has the version that the form began with.
 * @throws Problem
 */
export async function update(
  form: Form,
  before: Endpoint,
): Promise<Endpoint | schemas["Approval"]> {
  const { kind, name } = form;
  const secrets = secretsOf(form);
  let handle: string | undefined;
  if (Object.keys(secrets).length > 0) {
    const stored = await replaceSecrets(form, before, secrets);
    if (isProposal(stored)) return stored;
    handle = stored.credential_handle;
  }
  const body = {
    name,
    configuration: configurationOf(form),
    ...(handle === undefined || handle === before.credentialHandle
      ? {}
      : { credential_handle: handle }),
  };
  const header = { "If-Match": `"v${before.version}"` };
  if (kind === "source") {
    const path = { source_id: before.id };
    const made = await ask(api.PATCH("/sources/{source_id}", { params: { path, header }, body }));
    return isProposal(made) ? made : fromSource(made);
  }
  const path = { destination_id: before.id };
  const made = await ask(
    api.PATCH("/destinations/{destination_id}", { params: { path, header }, body }),
  );
  return isProposal(made) ? made : fromDestination(made);
}

/** The handle stays: whatever uses it goes on with the new secrets. */
async function replaceSecrets(
  form: Form,
  { credentialHandle }: Endpoint,
  secrets: Record<string, string>,
): Promise<Stored | schemas["Approval"]> {
  if (credentialHandle === null || form.startPath === mailerPath)
    return storeSecrets(form, credentialHandle ?? undefined);
  const { items } = await ask(
    api.GET("/credentials", { params: { query: { connector_id: form.connectorId, limit: 200 } } }),
  );
  const found = items.find((one) => one.credential_handle === credentialHandle);
  if (!found) return storeSecrets(form);
  const path = { credential_id: found.credential_id };
  return ask(api.PATCH("/credentials/{credential_id}", { params: { path }, body: { secrets } }));
}
