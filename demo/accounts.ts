/** The simulated accounts: the requests that set each up in the Control API, and its true rows. */
import type { Ask } from "./client.ts";
import type { Simulators } from "./simulators.ts";

export interface Account {
  /** In words. */
  readonly title: string;
  /** How its secrets come in. */
  readonly access: string;
  readonly connectorId: string;
  readonly configuration: object;
  /** Its tables are called `_svc_<prefix><stream>`. */
  readonly prefix: string;
  /** Puts its secrets in. Gives the handle, which is none. */
  connect(ask: Ask): Promise<string>;
  /** Rows of a stream. */
  count(stream: string): number;
}

type Rows = (...args: never[]) => readonly unknown[];

const countIn = (truth: object) => (stream: string) =>
  (truth as Readonly<Record<string, () => []>>)[stream]?.().length ?? 0;

export function mailerAccount({ mailer }: Simulators): Account {
  const { baseUrl: base_url, token: api_token } = mailer;
  return {
    title: "newsletters",
    access: "an API token",
    connectorId: "conn_mailer_product_edm",
    configuration: { base_url, include_personal_data: true },
    prefix: "mailer_",
    async connect(ask) {
      return (await ask(201, "POST", "/credentials/mailer/api-token", { base_url, api_token }))
        .credential_handle;
    },
    count: countIn(mailer.truth),
  };
}

/** All others. */
export function otherAccounts({
  social,
  bankdata,
  taskapp,
  postgres,
  consent,
}: Simulators): Account[] {
  const [brand] = social.truth.brands();
  const brandIds = [String(brand?.brand_id)];
  /** The person's way through the browser. */
  const authorize = async (ask: Ask, path: string, body: object): Promise<string> => {
    const { authorization_url } = await ask(200, "POST", `${path}/start`, body);
    const callback = new URL(consent(authorization_url, "grant"));
    const query_params = Object.fromEntries(callback.searchParams);
    return (await ask(201, "POST", `${path}/callback`, { query_params })).credential_handle;
  };
  const store = async (ask: Ask, body: object): Promise<string> =>
    (await ask(201, "POST", "/credentials", body)).credential_handle;
  return [
    {
      title: "social posts",
      access: "consent in the browser",
      connectorId: "conn_social",
      configuration: { portal_id: social.portalId, brand_ids: brandIds },
      prefix: "social_",
      connect: (ask) =>
        authorize(ask, "/credentials/source/oauth", {
          connector_id: "conn_social",
          redirect_uri: social.redirectUri,
        }),
      count: (stream) =>
        (social.truth as Readonly<Record<string, Rows>>)[stream]?.({ brandIds } as never).length ??
        0,
    },
    {
      title: "tasks",
      access: "consent in the browser",
      connectorId: "conn_taskapp",
      configuration: {},
      prefix: "tasks_",
      connect: (ask) =>
        authorize(ask, "/credentials/taskapp/oauth", { redirect_uri: taskapp.client.redirectUri }),
      count: countIn(taskapp.truth),
    },
    {
      title: "a bank account",
      access: "an API key and a token",
      connectorId: "conn_bankdata",
      configuration: {},
      prefix: "bank_",
      connect: (ask) => {
        const secrets = { api_key: bankdata.secret, access_token: bankdata.accessToken };
        const metadata = { client_id: bankdata.clientId, environment: "sandbox" };
        return store(ask, {
          connector_id: "conn_bankdata",
          name: "Bank",
          auth_type: "api_key",
          secrets,
          metadata,
        });
      },
      count: countIn(bankdata.truth),
    },
    ...(postgres
      ? [
          {
            title: "a shop's PostgreSQL",
            access: "a password",
            connectorId: "conn_postgres",
            configuration: { ...postgres.configuration, schemas: ["public"] },
            prefix: "shop_",
            connect: (ask: Ask) => {
              const secrets = { password: postgres.password };
              return store(ask, {
                connector_id: "conn_postgres",
                name: "Shop",
                auth_type: "basic",
                secrets,
              });
            },
            count: (stream: string) => postgres.rowCounts[stream] ?? 0,
          },
        ]
      : []),
  ];
}
