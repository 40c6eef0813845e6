/**
 * `svc jobs list|watch|cancel`: what runs, has run or waits, from the machine on which the instance
 * lives.
 */
import {
  type CommandBuilder,
  exitCode,
  formatTable,
  oneOf,
  printable,
  type Terminal,
} from "svc-connectors/host";
import type { ActionResult, Admin } from "../admin/actions.ts";
import { isFinal } from "../jobs/transitions.ts";
import { jobStatuses } from "../store/tables.ts";
import { failingInOneLine } from "./failures.ts";
import { addInstanceOptions, openAdmin } from "./instance.ts";
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
    .action(
      failingInOneLine(terminal, async (options) => {
        await using admin = await openAdmin(terminal, options);
        const { workspace, status } = options;
        const { jobs } = await admin.run("job.list", { workspace, status });
        await terminal.out.line(tableOf(jobs));
      }),
    );
  addInstanceOptions(command.command("watch"))
    .description("show how a job goes on until it ends")
    .argument("<job>", "the job to watch; svc jobs list shows them")
    .action(
      failingInOneLine(terminal, async (job, options) => {
        await using admin = await openAdmin(terminal, options);
        terminal.exitCode = await watch(admin, job, terminal);
      }),
    );
  addInstanceOptions(command.command("cancel"))
    .description("stop a job")
    .argument("<job>", "the job to cancel; svc jobs list shows them")
    .action(
      failingInOneLine(terminal, async (job, options) => {
        await using admin = await openAdmin(terminal, options);
        const { outcome } = await admin.run("job.cancel", { job });
        if (outcome === "ended") terminal.exitCode = exitCode.failed;
        await terminal.out.line(`${printable(job)} ${outcomes[outcome]}`);
      }),
    );
};

function tableOf(jobs: ActionResult<"job.list">["jobs"]): string {
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

/** Shows how a job goes on until it ends. 0: it succeeded. */
async function watch(admin: Admin, id: string, terminal: Terminal): Promise<number> {
  const view = createJobView(terminal);
  for (;;) {
    const { job, streams } = await admin.run("job.get", { job: id });
    await view.show(job, streams);
    if (isFinal(job.status)) {
      await view.end(job);
      return job.status === "succeeded" ? exitCode.ok : exitCode.failed;
    }
    try {
      await terminal.clock.sleep(lookEveryMs, terminal.signal);
    } catch {
      await view.end(undefined);
      return exitCode.interrupted;
    }
  }
}
