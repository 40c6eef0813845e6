/**
 * Clients that generators of other people make of the OpenAPI document; that of TypeScript is
 * fetched by npm, outside of the repository.
 */
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

export const run = promisify(execFile);

/** Of which it is known that they read this document. */
const npmPackages = ["openapi-typescript@7.13.0", "openapi-fetch@0.17.0", "typescript@5.9.3"];

/** The reason why a tool is missing here; undefined: everything is there. */
type Lack = string | undefined;

/** Fetches the TypeScript generator into a folder. */
export async function installTypeScript(folder: string): Promise<Lack> {
  await writeFile(join(folder, "package.json"), '{"private":true,"type":"module"}');
  const args = ["install", "--silent", "--no-audit", ...npmPackages];
  try {
    await run("npm", args, { cwd: folder, timeout: 600_000 });
    return undefined;
  } catch {
    return `npm ${args.join(" ")} does not work here`;
  }
}

/** A program with the client that openapi-fetch makes of the types. */
export const typeScriptProgram = `
import createClient from "openapi-fetch";
import type { components, paths } from "./types.ts";

const [baseUrl = "", token = "", mailer = "", apiToken = ""] = process.argv.slice(2);
const api = createClient<paths>({ baseUrl, headers: { authorization: "Bearer " + token } });

const stored = await api.POST("/credentials/mailer/api-token", {
  params: { header: { "Idempotency-Key": "one" } },
  body: { base_url: mailer, api_token: apiToken },
});
if (stored.response.status !== 201 || !stored.data) throw new Error(stored.error?.details.reason);
const account = stored.data.data as components["schemas"]["StoredMailerToken"];
const made = await api.POST("/sources", {
  body: {
    name: "Typed",
    connector_id: account.connector_id,
    credential_handle: account.credential_handle,
    configuration: { base_url: mailer },
  },
});
if (!made.data) throw new Error(made.error.message);
const source = made.data.data as components["schemas"]["Source"];
const listed = await api.GET("/sources", { params: { query: { limit: 10 } } });
const names: string[] = (listed.data?.data.items ?? []).map(({ name }) => name);
const missing = await api.GET("/sources/{source_id}", { params: { path: { source_id: "nothing" } } });
const reason: string | undefined = missing.error?.details.reason;
console.log(JSON.stringify({ version: source.version, names, reason }));

export const mistakes = async () => {
  // @ts-expect-error a required field is missing
  await api.POST("/sources", { body: { name: "x" } });
  // @ts-expect-error a parameter of the wrong type
  await api.GET("/sources", { params: { query: { limit: "ten" } } });
  // @ts-expect-error a path that does not exist
  await api.GET("/sauces");
};
`;

/** The same with the package that openapi-python-client makes. */
export const pythonProgram = `
import json, sys
from svc_control_api_client import AuthenticatedClient
from svc_control_api_client.api.mailer import create_credential_mailer_token
from svc_control_api_client.api.sources import create_source, get_source, list_sources
from svc_control_api_client.models import (
    CreateCredentialMailerTokenRequest,
    CreateSourceRequest,
    CreateSourceRequestConfiguration,
    Error,
)

base_url, token, mailer, api_token = sys.argv[1:]
client = AuthenticatedClient(base_url=base_url, token=token)
stored = create_credential_mailer_token.sync(
    client=client,
    idempotency_key="two",
    body=CreateCredentialMailerTokenRequest(base_url=mailer, api_token=api_token),
)
made = create_source.sync(
    client=client,
    body=CreateSourceRequest(
        name="Typed",
        connector_id=stored.data.connector_id,
        credential_handle=stored.data.credential_handle,
        configuration=CreateSourceRequestConfiguration.from_dict({"base_url": mailer}),
    ),
)
listed = list_sources.sync(client=client, limit=10)
missing = get_source.sync("nothing", client=client)
assert isinstance(missing, Error)
print(json.dumps({
    "version": made.data.version,
    "names": [one.name for one in listed.data.items],
    "reason": missing.details.reason,
}))
`;
