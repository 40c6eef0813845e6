/**
 * Everything that a reverse ETL run needs: a control layer that runs jobs, a DuckDB warehouse, a
 * mailer and a webhook receiver.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import type { ControlOptions } from "../control/create-control.ts";
import { sharedAuthority } from "../simulators/certificates.ts";
import { type MailerSimulator, startMailer } from "../simulators/mailer/mailer.ts";
import {
  startWebhook,
  type WebhookOptions,
  type WebhookSimulator,
} from "../simulators/webhook/webhook.ts";
import { startTestControl, type TestControl } from "./control.ts";
import { addCredential } from "./control-rows.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests read what they expect
export type Data = any;

export interface ReverseEtl extends AsyncDisposable {
  readonly api: TestControl;
  readonly mailer: MailerSimulator;
  readonly webhook: WebhookSimulator;
  /** Id of the warehouse. */
  readonly warehouse: string;
  /** Runs SQL in the warehouse. */
  sql(text: string): Promise<void>;
  /** The data of a request that must succeed. @throws Error with the answer */
  must(method: "GET" | "POST" | "PATCH" | "DELETE", path: string, body?: object): Promise<Data>;
  /** Ids. */
  model(sql: string, primaryKey?: string): Promise<string>;
  webhookDestination(): Promise<string>;
  mailerDestination(configuration?: object): Promise<string>;
  activation(body: object): Promise<string>;
  /** Starts a run and waits for its end. */
  run(activationId: string, body?: object): Promise<Data>;
}

export interface ReverseEtlOptions extends Pick<ControlOptions, "database" | "jobs" | "runners"> {
  readonly webhook?: WebhookOptions;
}

export async function startReverseEtl(
  options: Partial<ReverseEtlOptions> = {},
): Promise<ReverseEtl> {
  const authority = await sharedAuthority();
  const mailer = await startMailer({ seed: 5, lists: 2, subscribersPerList: 3, authority });
  const webhook = await startWebhook({ authority, ...options.webhook });
  const warehouses = await mkdtemp(join(tmpdir(), "svc-test-"));
  const providerOf = (host: string) => (host === mailer.hostname ? mailer : webhook);
  const { webhook: _, ...control } = options;
  const api = await startTestControl({
    jobs: "run",
    ...control,
    sandbox: "inline",
    seams: {
      resolve: (host) => providerOf(host).seams.resolve(host),
      dial: (target) => providerOf(target.host).seams.dial(target),
      ca: authority.caPem,
    },
    settings: {
      warehouses,
      network: { approvedHosts: [mailer.hostname], allowNetworks: ["127.0.0.1/32"] },
    },
  });

  const must: ReverseEtl["must"] = async (method, path, body) => {
    const answer = await api.call(method, path, body === undefined ? {} : { body });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body.data;
  };
  const file = "warehouse";
  const created = await must("POST", "/destinations", {
    name: "Warehouse",
    connector_id: "conn_duckdb",
    configuration: { file },
  });
  const warehouse: string = created.destination_id;

  return {
    api,
    mailer,
    webhook,
    warehouse,
    must,
    async sql(text) {
      // A run that is under way has the file open: it would not see what another one writes.
      const open = () =>
        api.db.selectFrom("jobs").select("id").where("status", "=", "running").execute();
      while ((await open()).length > 0) await new Promise((resolve) => setTimeout(resolve, 20));
      const instance = await DuckDBInstance.create(
        join(warehouses, api.first.id, `${file}.duckdb`),
      );
      const connection = await instance.connect();
      await connection.run(text);
      connection.closeSync();
      instance.closeSync();
    },
    async model(sql, primaryKey = "id") {
      const body = {
        name: "Model",
        warehouseId: warehouse,
        queryType: "raw_sql",
        raw: { sql },
        primaryKey,
      };
      return (await must("POST", "/reverse-etl/models", body)).modelId;
    },
    async webhookDestination() {
      const { handle } = await addCredential(
        api,
        { signing_secret: webhook.secret },
        { connectorId: "conn_webhook" },
      );
      const body = {
        name: "Hook",
        type: "webhook",
        credentialHandle: handle,
        configuration: { url: webhook.url },
      };
      return (await must("POST", "/reverse-etl/destinations", body)).destinationId;
    },
    async mailerDestination(configuration = {}) {
      const { handle } = await addCredential(api, { api_token: mailer.token });
      const body = {
        name: "Mailer",
        type: "mailer",
        credentialHandle: handle,
        configuration: { base_url: mailer.baseUrl, ...configuration },
      };
      return (await must("POST", "/reverse-etl/destinations", body)).destinationId;
    },
    async activation(body) {
      return (await must("POST", "/reverse-etl/activations", { name: "Activation", ...body }))
        .activationId;
    },
    async run(activationId, body = {}) {
      const { runId } = await must("POST", `/reverse-etl/activations/${activationId}/run`, body);
      for (;;) {
        const run = await must("GET", `/reverse-etl/runs/${runId}`);
        const isOver = run.finishedAt !== null;
        const open = await api.db
          .selectFrom("jobs")
          .select("id")
          .where("subject_id", "=", activationId)
          .where("ended_at", "is", null)
          .execute();
        if (isOver && open.length === 0) return run;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    async [Symbol.asyncDispose]() {
      await api[Symbol.asyncDispose]();
      await Promise.all([mailer.close(), webhook.close()]);
      await rm(warehouses, { recursive: true, force: true });
    },
  };
}
