/** Rows of the warehouse back into the mailer: who reads most gets a tag there. */
import { type Ask, type Data, DemoFailed, until } from "./client.ts";
import type { Printer } from "./printer.ts";
import type { Simulators } from "./simulators.ts";

export interface Warehouse {
  readonly warehouseId: string;
  /** Of the mailer. */
  readonly credentialHandle: string;
}

/** One row a reader of a list, with a number that the mailer does not have. */
export const keenestReaders = (list: string) => `
  SELECT s.email, count(*) AS opens, 'keen reader' AS tags
  FROM _svc_mailer_subscribers s JOIN _svc_mailer_campaign_opens o ON o.subscriber_uuid = s.uuid
  WHERE s.email_list_uuid = '${list}' AND s.unsubscribed_at IS NULL
  GROUP BY s.email ORDER BY opens DESC, s.email LIMIT 20`;

/** Columns of {@link keenestReaders} to fields of a subscriber. */
export const readerMappings = [
  { from: "email", to: "email", isPrimaryIdentifier: true },
  { from: "opens", to: "campaigns_opened" },
  { from: "tags", to: "tags" },
] as const;

export async function sendBack(
  print: Printer,
  ask: Ask,
  { mailer }: Simulators,
  { warehouseId, credentialHandle }: Warehouse,
  signal: AbortSignal,
): Promise<void> {
  const [list] = mailer.truth.email_lists();
  const sql = keenestReaders(String(list?.uuid));
  const model = {
    name: "Keenest readers",
    warehouseId,
    raw: { sql },
    primaryKey: "email",
  };
  const { modelId } = await ask(201, "POST", "/reverse-etl/models", {
    ...model,
    queryType: "raw_sql",
  });
  const place = {
    name: "Mailer",
    type: "mailer",
    credentialHandle,
    configuration: { base_url: mailer.baseUrl },
  };
  const { destinationId } = await ask(201, "POST", "/reverse-etl/destinations", place);
  const plan = {
    modelId,
    destinationId,
    object: list?.name,
    operation: "update",
    mappings: readerMappings,
  };
  const prepared = await ask(200, "POST", "/reverse-etl/prepare", plan);
  await print.line(`prepared: ${planned(prepared.preview.plannedRows)}`);
  const { activationId } = await ask(201, "POST", "/reverse-etl/activations", {
    name: "Keen readers",
    ...plan,
  });
  for (const turn of ["first run", "second run"]) {
    const run = await runOnce(ask, activationId, signal);
    const { successfulRows: done, failedRows: failed } = run;
    await print.line(
      `${turn}: ${planned(run.plannedRows)}, ${sum(done)} taken, ${sum(failed)} refused`,
    );
    if (sum(failed) > 0 || run.status !== "succeeded")
      throw new DemoFailed(`the run has ${run.status}`);
  }
  const marked = mailer.truth
    .subscribers()
    .filter(({ tags }) => (tags as string[]).includes("keen reader"));
  const [{ email, extra_attributes: attributes } = {}] = marked;
  await print.fact(
    `the mailer has ${marked.length} of them, like ${email} with ${JSON.stringify(attributes)}`,
  );
}

const sum = ({ addedCount, changedCount, removedCount }: Data) =>
  addedCount + changedCount + removedCount;
const planned = (counts: Data) => `${sum(counts)} rows to send`;

async function runOnce(ask: Ask, activationId: string, signal: AbortSignal): Promise<Data> {
  const { runId } = await ask(202, "POST", `/reverse-etl/activations/${activationId}/run`, {});
  return until("the run", signal, async () => {
    const run = await ask(200, "GET", `/reverse-etl/runs/${runId}`);
    return run.finishedAt === null ? undefined : run;
  });
}
