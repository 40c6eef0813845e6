/**
 * Accounts into one warehouse: each by a pipeline that is made with the Control API and runs as a
 * job.
 */
import { formatCount } from "svc-connectors/host";
import type { Account } from "./accounts.ts";
import { type Ask, type Data, DemoFailed, until } from "./client.ts";
import { queryFile } from "./duckdb-file.ts";
import type { Printer } from "./printer.ts";

/** A job that has been asked for. */
export interface Sync {
  readonly account: Account;
  readonly jobId: string;
  readonly streams: readonly { readonly name: string }[];
  readonly credentialHandle: string;
}

const nameOf = ({ title }: Account) => title.padEnd(20);

/** Credential, source, what there is to sync, pipeline, job. */
export async function startSync(
  print: Printer,
  ask: Ask,
  account: Account,
  destination_id: string,
): Promise<Sync> {
  const { title: name, connectorId: connector_id, configuration, prefix } = account;
  const credential_handle = await account.connect(ask);
  const { source_id } = await ask(201, "POST", "/sources", {
    name,
    connector_id,
    credential_handle,
    configuration,
  });
  const ends = { source_id, destination_id };
  const { prepare_id, suggested_configuration } = await ask(
    200,
    "POST",
    "/pipelines/prepare",
    ends,
  );
  const { streams } = suggested_configuration;
  const { pipeline_id } = await ask(201, "POST", "/pipelines", {
    ...ends,
    prepare_id,
    streams,
    prefix,
  });
  const { job } = await ask(202, "POST", `/pipelines/${pipeline_id}/sync`);
  await print.line(
    `${nameOf(account)} ${account.access}, ${streams.length} streams found, ${job.job_id}`,
  );
  return { account, jobId: job.job_id, streams, credentialHandle: credential_handle };
}

const finalStatuses = ["succeeded", "failed", "cancelled"];

/** Shows how a job goes on until it ends. @throws DemoFailed when it does not succeed */
export async function watchJob(
  print: Printer,
  ask: Ask,
  { account, jobId }: Sync,
  signal: AbortSignal,
): Promise<Data> {
  let shown = "";
  const job = await until("the job", signal, async () => {
    const now = await ask(200, "GET", `/jobs/${jobId}`);
    const done = now.stream_stats.filter(({ status }: Data) => status === "complete").length;
    const { length: total } = now.stream_stats;
    const line = `${now.status}, ${formatCount(now.records_synced)} rows, ${done} of ${total} streams`;
    if (line !== shown && total > 0) await print.line(`${nameOf(account)} ${line}`);
    shown = line;
    return finalStatuses.includes(now.status) ? now : undefined;
  });
  if (job.status !== "succeeded")
    throw new DemoFailed(`the job has ${job.status}: ${job.failure?.code} ${job.failure?.message}`);
  return job;
}

/**
 * Compares the tables with the accounts.
 * @throws DemoFailed when a row is missing, or there twice
 */
export async function proveRows(
  print: Printer,
  file: string,
  syncs: readonly Sync[],
): Promise<void> {
  const tables = syncs.flatMap(({ account, streams }) =>
    streams.map(({ name }) => ({ account, name })),
  );
  const counts = tables.map(
    ({ account, name }) => `(SELECT count(*) FROM "_svc_${account.prefix}${name}")`,
  );
  const [row = {}] = await queryFile(file, `SELECT ${counts.join(", ")}`);
  const found = Object.values(row).map(Number);
  for (const [index, { account, name }] of tables.entries()) {
    const expected = account.count(name);
    if (found[index] !== expected)
      throw new DemoFailed(
        `${account.prefix}${name} has ${found[index]} rows and should have ${expected}`,
      );
  }
  const total = found.reduce((sum, count) => sum + count, 0);
  await print.fact(
    `${formatCount(total)} rows in ${tables.length} tables: exactly those of the accounts`,
  );
}
