/**
 * `svc jobs list|watch|cancel`: what runs, has run or waits, from the machine on which the instance
 * lives.
 */
import {
  answer,
  type CommandBuilder,
  exitCode,
  formatTable,
  jsonFlag,
  oneOf,
  printable,
  type Terminal,
} from "svc-connectors/host";
import { isFinal } from "../jobs/transitions.ts";
import type { Operator, OperatorData } from "../operator/operator.ts";
import { jobStatuses } from "../store/tables.ts";
import { failingInOneLine } from "./failures.ts";
import { addInstanceOptions, openOperator } from "./instance.ts";
import { createJobView } from "./job-view.ts";

/** How often a job is looked at. */
const lookEveryMs = 1_000;

export const buildJobs: CommandBuilder = (command, terminal) => {
  addInstanceOptions(command.command("list"))
    .description("show the newest jobs")
    .option("--workspace <ID>", "only this workspace, by id or slug")
    .option(
      "--status <STATUS>",
      `only jobs that are ${jobStatuses.join(", ")}`,
      oneOf("status", jobStatuses),
    )
    .option(...jsonFlag)
    .action(
      failingInOneLine(async ({ json, ...options }) => {
        await using operator = await openOperator(terminal, options);
        const { workspace, status } = options;
        const { jobs } = await operator.run("job.list", { query: { workspace, status } });
        await answer(terminal, json, { jobs }, () => tableOf(jobs));
      }),
    );
  addInstanceOptions(command.command("watch"))
    .description("show how a job goes on until it ends")
    .argument("<job>", "the job to watch; svc jobs list shows them")
    .option(...jsonFlag)
    .action(
      failingInOneLine(async (job, { json, ...options }) => {
        await using operator = await openOperator(terminal, options);
        terminal.exitCode = await watch(operator, job, terminal, json);
      }),
    );
  addInstanceOptions(command.command("cancel"))
    .description("stop a job")
    .argument("<job>", "the job to cancel; svc jobs list shows them")
    .option(...jsonFlag)
    .action(
      failingInOneLine(async (job, { json, ...options }) => {
        await using operator = await openOperator(terminal, options);
        const outcome = await cancel(operator, job);
        if (outcome === "ended") terminal.exitCode = exitCode.failed;
        await answer(
          terminal,
          json,
          { job_id: job, outcome },
          () => `${printable(job)} ${outcomes[outcome]}`,
        );
      }),
    );
};

function tableOf(jobs: OperatorData<"job.list">["jobs"]): string {
  const headings = ["job", "kind", "status", "attempt", "rows", "trigger", "made (UTC)", "failure"];
  const rows = jobs.map((job) => [
    job.job_id,
    job.kind,
    job.status,
    String(job.attempt),
    String(job.records_synced),
    job.trigger,
    job.created_at.slice(0, 19),
    job.failure?.code ?? "",
  ]);
  return formatTable(headings, rows);
}

const outcomes = {
  ended: "has ended already",
  cancelled: "is cancelled",
  requested: "is being cancelled: its worker stops within seconds",
} as const;

/** Asks for the end of a job. One that has ended, cancelled or not, stays as it is. */
async function cancel(operator: Operator, id: string): Promise<keyof typeof outcomes> {
  const params = { job_id: id };
  const before = await operator.run("job.get", { params, query: { include: "" } });
  if (isFinal(before.status)) return "ended";
  const { status } = await operator.run("job.cancel", { params });
  return status === "cancelled" ? "cancelled" : isFinal(status) ? "ended" : "requested";
}

/**
 * Shows how a job goes on until it ends; as JSON the job as it is then, also when the watching is
 * interrupted. 0: it succeeded.
 */
async function watch(
  operator: Operator,
  id: string,
  terminal: Terminal,
  isJson: boolean | undefined,
): Promise<number> {
  const view = createJobView(terminal);
  for (;;) {
    const { stream_stats: streams = [], ...job } = await operator.run("job.get", {
      params: { job_id: id },
      query: { include: "stream_stats" },
    });
    const document = { ...job, stream_stats: streams };
    if (!isJson) await view.show(job, streams);
    if (isFinal(job.status)) {
      if (isJson) await answer(terminal, isJson, document, () => "");
      else await view.end(job);
      return job.status === "succeeded" ? exitCode.ok : exitCode.failed;
    }
    try {
      await terminal.clock.sleep(lookEveryMs, terminal.signal);
    } catch {
      if (isJson) await answer(terminal, isJson, document, () => "");
      else await view.end(undefined);
      return exitCode.interrupted;
    }
  }
}
