/**
 * `svc jobs list|watch|cancel`: what runs, has run or waits, from the machine on which the instance
 * lives.
 */
import {
  exitCode,
  type Flags,
  formatTable,
  oneOf,
  parseOptions,
  printable,
  suggestion,
  type Terminal,
  UsageError,
} from "svc-connectors/host";
import type { Admin } from "../admin/actions.ts";
import { isFinal } from "../jobs/transitions.ts";
import { jobStatuses } from "../store/tables.ts";
import { failingInOneLine } from "./failures.ts";
import { instanceFlags, openAdmin } from "./instance.ts";
import { createJobView } from "./job-view.ts";

export const jobsFlags = {
  workspace: { value: "ID", help: "list: only this workspace, by id or slug" },
  status: { value: "STATUS", help: `list: only jobs that are ${jobStatuses.join(", ")}` },
  ...instanceFlags,
} as const satisfies Flags;

const verbs = ["list", "watch", "cancel"] as const;

/** How often a job is looked at. */
const lookEveryMs = 1_000;

/** @throws UsageError */
export const jobsCommand = failingInOneLine(async (args, terminal) => {
  const { values, positionals } = parseOptions(args, jobsFlags);
  const [verb, job, ...rest] = positionals;
  const wanted = verbs.find((one) => one === verb);
  if (!wanted)
    throw new UsageError(`say what to do: ${verbs.join(", ")}${suggestion(verb ?? "", verbs)}`);
  const unexpected = wanted === "list" ? job : rest[0];
  if (unexpected !== undefined)
    throw new UsageError(`unexpected "${printable(unexpected)}" after ${wanted}`);
  if (wanted !== "list" && job === undefined)
    throw new UsageError(`name the job to ${wanted}; svc jobs list shows them`);
  await using admin = await openAdmin(terminal, values);
  if (wanted === "watch") return await watch(admin, job ?? "", terminal);
  if (wanted === "cancel") {
    const { outcome } = await admin.run("job.cancel", { job: job ?? "" });
    await terminal.out.line(`${printable(job ?? "")} ${outcomes[outcome]}`);
    return outcome === "ended" ? exitCode.failed : exitCode.ok;
  }
  const { jobs } = await admin.run("job.list", {
    ...(values.workspace === undefined ? {} : { workspace: values.workspace }),
    ...(values.status === undefined ? {} : { status: oneOf("status", values.status, jobStatuses) }),
  });
  const rows = jobs.map((one) => [
    one.job_id,
    one.kind,
    one.status,
    String(one.attempt),
    String(one.records_synced),
    one.trigger,
    one.created_at.slice(0, 19),
    one.failure?.code ?? "",
  ]);
  const headings = ["job", "kind", "status", "attempt", "rows", "trigger", "made (UTC)", "failure"];
  await terminal.out.line(formatTable(headings, rows));
  return exitCode.ok;
});

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
