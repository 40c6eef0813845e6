/**
 * Saves a source, a destination or a webhook: its secrets first, which stay here only when all went
 * well.
 */
import { api, ask, isProposal } from "../api/client.ts";
import { Problem, toProblem } from "../api/problem.ts";
import type { schemas } from "../api/schema.ts";
import { all, type Endpoint, fromDestination, fromSource, type Kind, limit } from "./queries.ts";
import { fromReceiver } from "./reverse-etl.ts";
import type { Field, Values } from "./spec.ts";
import { changeOf, secretsOf, settingsOf } from "./spec-values.ts";
import { ifMatch } from "./use-saving.ts";

export interface Form {
  readonly kind: Kind | "webhook";
  readonly name: string;
  readonly connectorId: string;
  readonly fields: readonly Field[];
  readonly values: Values;
  /** Where the connector takes its secrets. */
  readonly startPath: string | null;
  /** An account that was connected: no secret is stored then. */
  readonly account?: schemas["ConnectedAccount"] | undefined;
}

const mailerPath = "/credentials/mailer/api-token";

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
      body: { connector_id: connectorId, name, secrets: secretsOf(form.fields, form.values) },
    }),
  );
}

/**
 * Tests and creates. Secrets of what was not saved are deleted again.
 * @throws Problem
 */
export async function create(form: Form): Promise<Endpoint | schemas["Approval"]> {
  const { kind, name, connectorId } = form;
  const configuration = settingsOf(form.fields, form.values);
  const hasSecrets =
    form.account === undefined && Object.keys(secretsOf(form.fields, form.values)).length > 0;
  const stored = hasSecrets ? await storeSecrets(form) : undefined;
  if (isProposal(stored)) return stored;
  const body = { name, connector_id: connectorId, configuration };
  const handle = (form.account ?? stored)?.credential_handle;
  try {
    if (kind === "source") {
      const made = await ask(
        api.POST("/sources", { body: { ...body, credential_handle: handle ?? "" } }),
      );
      return isProposal(made) ? made : fromSource(made);
    }
    if (kind === "webhook") {
      const made = await ask(
        api.POST("/reverse-etl/destinations", {
          body: { name, type: kind, credentialHandle: handle ?? "", configuration },
        }),
      );
      return isProposal(made) ? made : fromReceiver(made);
    }
    const made = await ask(
      api.POST("/destinations", {
        body: handle === undefined ? body : { ...body, credential_handle: handle },
      }),
    );
    return isProposal(made) ? made : fromDestination(made);
  } catch (error) {
    if (stored) await forget(stored.credential_id);
    throw error;
  }
}

/** Deletes a credential that nothing uses; one that something uses is kept by the API. */
const forget = (id: string): Promise<unknown> =>
  api
    .DELETE("/credentials/{credential_id}", { params: { path: { credential_id: id } } })
    .catch(() => undefined);

/** The test has failed, and what was typed is stored all the same. */
export class StoredAnyway extends Problem {
  constructor({ status, message, details, requestId }: Problem) {
    super(status, {
      message,
      details: details as schemas["Error"]["details"],
      ...(requestId === undefined ? {} : { request_id: requestId }),
    });
  }
}

/**
 * Tests and changes what has the version that the form began with. New secrets are a new credential
 * at first, which takes the place of the old one when the test has passed; where that cannot be,
 * because others use the old one or only one of its secrets is new, it is changed itself.
 * @throws Problem, and StoredAnyway of them
 */
export async function update(
  form: Form,
  before: Endpoint,
): Promise<Endpoint | schemas["Approval"]> {
  const secrets = Object.keys(secretsOf(form.fields, form.values));
  if (secrets.length === 0) return change(form, before, undefined);
  const old = await credentialOf(form, before);
  if (old && !(await canReplace(secrets, old, before))) {
    const stored = await changeSecrets(form, old);
    if (isProposal(stored)) return stored;
    try {
      return await change(form, before, undefined);
    } catch (error) {
      throw new StoredAnyway(toProblem(error));
    }
  }
  const stored = await storeSecrets(form);
  if (isProposal(stored)) return stored;
  try {
    const made = await change(form, before, stored.credential_handle);
    // A change that waits for an approval still needs both.
    if (old && !isProposal(made)) await forget(old.credential_id);
    return made;
  } catch (error) {
    await forget(stored.credential_id);
    throw error;
  }
}

async function change(
  form: Form,
  before: Endpoint,
  handle: string | undefined,
): Promise<Endpoint | schemas["Approval"]> {
  const { kind, name } = form;
  const configuration = settingsOf(form.fields, form.values);
  // A setting that was taken out is taken out there too.
  const settings = { name, configuration: changeOf(before.configuration, configuration) };
  const header = ifMatch(before);
  if (kind === "webhook") {
    const made = await ask(
      api.PATCH("/reverse-etl/destinations/{destinationId}", {
        params: { path: { destinationId: before.id }, header },
        body: handle === undefined ? settings : { ...settings, credentialHandle: handle },
      }),
    );
    return isProposal(made) ? made : fromReceiver(made);
  }
  const body = handle === undefined ? settings : { ...settings, credential_handle: handle };
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

async function credentialOf(
  { connectorId }: Form,
  { credentialHandle }: Endpoint,
): Promise<schemas["Credential"] | undefined> {
  if (credentialHandle === null) return undefined;
  const items = await all((cursor) =>
    ask(
      api.GET("/credentials", {
        params: { query: { connector_id: connectorId, limit, cursor } },
      }),
    ),
  );
  return items.find((one) => one.credential_handle === credentialHandle);
}

/** Whether all its secrets are typed anew, and nothing else uses it. */
async function canReplace(
  secrets: readonly string[],
  { secret_fields: stored, credential_handle: handle }: schemas["Credential"],
  before: Endpoint,
): Promise<boolean> {
  if (!stored.every((name) => secrets.includes(name))) return false;
  const lists = await Promise.all([
    all((cursor) => ask(api.GET("/sources", { params: { query: { limit, cursor } } }))),
    all((cursor) => ask(api.GET("/destinations", { params: { query: { limit, cursor } } }))),
    all((cursor) =>
      ask(api.GET("/reverse-etl/destinations", { params: { query: { limit, cursor } } })),
    ),
  ]);
  const [sources, destinations, reverse] = lists;
  const users = [
    ...sources.map((one) => [one.source_id, one.credential_handle]),
    ...destinations.map((one) => [one.destination_id, one.credential_handle]),
    ...reverse.map((one) => [one.destinationId, one.credentialHandle]),
  ];
  return users.every(([id, used]) => id === before.id || used !== handle);
}

/** The handle stays: whatever uses it goes on with the new secrets. */
const changeSecrets = (
  form: Form,
  { credential_id: id, credential_handle: handle }: schemas["Credential"],
): Promise<Stored | schemas["Approval"]> =>
  form.startPath === mailerPath
    ? storeSecrets(form, handle)
    : ask(
        api.PATCH("/credentials/{credential_id}", {
          params: { path: { credential_id: id } },
          body: { secrets: secretsOf(form.fields, form.values) },
        }),
      );
