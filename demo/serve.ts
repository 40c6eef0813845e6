/** `svc demo --serve`: the demo stays up for tests and for who explores, and says on one line of JSON where everything is. */
import { basePath } from "svc-connectors/control";
import type { Terminal } from "svc-connectors/host";
import type { DemoService } from "./service.ts";
import type { Simulators } from "./simulators.ts";
import { serveSimulators } from "./simulators-server.ts";

export async function serveDemo(
  { out, signal }: Terminal,
  service: DemoService,
  simulators: Simulators,
): Promise<void> {
  await using remote = await serveSimulators(simulators);
  const description = {
    base_url: `${service.url}${basePath}`,
    openapi_url: `${service.url}${basePath}/openapi.json`,
    mcp_url: `${service.url}/mcp`,
    simulators_url: remote.url,
    workspaces: service.workspaces,
    demo: describe(simulators, remote.url),
  };
  await out.line(JSON.stringify(description));
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => resolve(), { once: true });
  await promise;
}

/** Of each provider, bodies as POST /credentials and POST /sources take them, without name and handle. */
function describe({ mailer, cloudMailer, social, bankdata, taskapp, postgres }: Simulators, remoteUrl: string) {
  const oauth = (start: string, redirect_uri: string) => ({
    start_path: `${start}/start`,
    callback_path: `${start}/callback`,
    redirect_uri,
    consent: `POST ${remoteUrl}/consent {"authorization_url": "…"} gives {"callback_url": "…"}: what the browser would bring back`,
  });
  const portal_id = social.portalId;
  const brand_ids = social.truth.brands().map(({ brand_id }) => brand_id);
  return {
    mailer: {
      connector_id: "conn_mailer_product_edm",
      base_url: mailer.baseUrl,
      api_token: mailer.token,
      bad_token: mailer.badToken,
      send_only_token: mailer.sendOnlyToken,
      source: { configuration: { base_url: mailer.baseUrl } },
      cloud: { base_url: cloudMailer.baseUrl, connection_method: "cloud", api_token: cloudMailer.token },
    },
    social: {
      connector_id: "conn_social",
      portal_id,
      brand_ids,
      channel_ids: social.truth.channels().map(({ channel_id }) => channel_id),
      source: { configuration: { portal_id, brand_ids } },
      credential: {
        auth_type: "custom",
        secrets: { client_secret: social.clientSecret, refresh_token: social.refreshToken },
        metadata: { client_id: social.clientId },
      },
      oauth: oauth("/credentials/source/oauth", social.redirectUri),
    },
    bankdata: {
      connector_id: "conn_bankdata",
      source: { configuration: {} },
      credential: {
        auth_type: "api_key",
        secrets: { api_key: bankdata.secret, access_token: bankdata.accessToken },
        metadata: { client_id: bankdata.clientId, environment: "sandbox" },
      },
      bad_secret: bankdata.badSecret,
      bad_access_token: bankdata.badAccessToken,
    },
    taskapp: {
      connector_id: "conn_taskapp",
      source: { configuration: {} },
      credential: { auth_type: "api_key", secrets: { access_token: taskapp.token } },
      bad_token: taskapp.badToken,
      oauth: oauth("/credentials/taskapp/oauth", taskapp.client.redirectUri),
    },
    ...(postgres ? { postgres: describePostgres(postgres.config) } : {}),
  };
}

function describePostgres({ password, ...configuration }: NonNullable<Simulators["postgres"]>["config"]) {
  return {
    connector_id: "conn_postgres",
    source: { configuration },
    credential: { auth_type: "basic", secrets: { password } },
  };
}
