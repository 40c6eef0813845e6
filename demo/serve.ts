/**
 * `svc demo --serve`: the demo stays up for tests and for people who explore, and prints on one
 * line of JSON where everything is.
 */
import { basePath, signInUrl } from "svc-connectors/control";
import type { Terminal } from "svc-connectors/host";
import { mailerAccount } from "./accounts.ts";
import { keenestReaders, readerMappings } from "./reverse-etl.ts";
import type { DemoService } from "./service.ts";
import type { Simulators } from "./simulators.ts";
import { serveSimulators } from "./simulators-server.ts";

export async function serveDemo(
  { out, signal }: Terminal,
  service: DemoService,
  simulators: Simulators,
): Promise<void> {
  const [acme] = service.workspaces;
  await using remote = await serveSimulators(simulators);
  const description = {
    base_url: `${service.url}${basePath}`,
    openapi_url: `${service.url}${basePath}/openapi.json`,
    mcp_url: `${service.url}/mcp`,
    // Signs in, once, as Acme's administrator; any of the tokens does as often as one likes.
    console_url: signInUrl(service.url, acme.link_code),
    simulators_url: remote.url,
    workspaces: service.workspaces,
    demo: {
      ...describeSources(simulators, remote.url),
      destinations: describeDestinations(simulators),
      pipelines: describePipelines(simulators),
      reverse_etl: describeReverseEtl(simulators),
    },
  };
  await out.line(JSON.stringify(description));
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => resolve(), { once: true });
  await promise;
}

/**
 * Bodies for each provider as POST /credentials and POST /sources take them, without name and
 * handle.
 */
function describeSources(
  { mailer, cloudMailer, social, bankdata, taskapp, postgres }: Simulators,
  remoteUrl: string,
) {
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
      cloud: {
        base_url: cloudMailer.baseUrl,
        connection_method: "cloud",
        api_token: cloudMailer.token,
      },
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
    ...(postgres
      ? {
          postgres: {
            ...postgresPlace(postgres),
            source: { configuration: postgres.configuration },
          },
        }
      : {}),
  };
}

const postgresPlace = (
  { password }: NonNullable<Simulators["postgres"]>,
  connector_id = "conn_postgres",
) => ({
  connector_id,
  credential: { auth_type: "basic", secrets: { password } },
});

/** Bodies as POST /destinations takes them, without name and handle. */
function describeDestinations({ postgres }: Simulators) {
  return {
    duckdb: { connector_id: "conn_duckdb", destination: { configuration: { file: "warehouse" } } },
    ...(postgres
      ? {
          postgres: {
            ...postgresPlace(postgres, "conn_postgres_destination"),
            destination: { configuration: postgres.warehouse },
          },
        }
      : {}),
  };
}

/** Bodies as POST /pipelines takes them, without the ids of source and destination. */
function describePipelines(simulators: Simulators) {
  const { connectorId, configuration, prefix } = mailerAccount(simulators);
  const streams = [
    { name: "campaigns", sync_mode: "incremental", destination_sync_mode: "append_dedup" },
    { name: "campaign_opens" },
    { name: "subscribers" },
  ];
  return {
    mailer: { connector_id: connectorId, source: { configuration }, pipeline: { prefix, streams } },
    everything: {
      pipeline: { select_all: true, schedule: { type: "basic", units: 1, time_unit: "hours" } },
    },
  };
}

/**
 * Bodies as the paths of reverse ETL take them, without names and ids. The model reads what
 * `pipelines.mailer` has written into `destinations.duckdb`.
 */
function describeReverseEtl({ mailer, webhook, postgres }: Simulators) {
  const [list] = mailer.truth.email_lists();
  const plain = readerMappings.slice(0, 2).map(({ from }) => ({ from, to: from }));
  return {
    model: {
      queryType: "raw_sql",
      raw: { sql: keenestReaders(String(list?.uuid)) },
      primaryKey: "email",
    },
    mailer: {
      destination: { type: "mailer", configuration: { base_url: mailer.baseUrl } },
      activation: { object: list?.name, operation: "update", mappings: readerMappings },
    },
    webhook: {
      connector_id: "conn_webhook",
      credential: { auth_type: "custom", secrets: { signing_secret: webhook.secret } },
      destination: { type: "webhook", configuration: { url: webhook.url } },
      activation: { object: "rows", operation: "upsert", mappings: identified(plain) },
    },
    ...(postgres
      ? {
          postgres: {
            ...postgresPlace(postgres),
            destination: { type: "postgres", configuration: postgres.warehouse },
            activation: {
              object: "public.readers",
              operation: "mirror",
              mappings: identified(plain),
            },
          },
        }
      : {}),
  };
}

const identified = (mappings: readonly { readonly from: string; readonly to: string }[]) =>
  mappings.map((mapping, index) => ({ ...mapping, isPrimaryIdentifier: index === 0 }));
