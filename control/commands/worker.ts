/**
 * `svc worker`: runs jobs beside the servers of one PostgreSQL, on this host or another, until a
 * signal comes.
 */
import {
  exitCode,
  type Flags,
  findConnector,
  oneOf,
  parseOptions,
  printable,
  UsageError,
  wholeNumber,
} from "svc-connectors/host";
import { createLog } from "../log.ts";
import { failingInOneLine } from "./failures.ts";
import { instanceFlags, locate, openInstance } from "./instance.ts";
import { listenForScrapes } from "./metrics-listener.ts";
import { createPrettyLog } from "./pretty-log.ts";
import { untilAborted } from "./until-aborted.ts";

export const workerFlags = {
  ...instanceFlags,
  concurrency: {
    value: "N",
    help: "jobs at a time; default jobs.concurrency of the settings, or 2",
  },
  sandbox: { value: "LEVEL", help: "wall around connectors: process (default) or bubblewrap" },
} as const satisfies Flags;

/** @throws UsageError */
export const workerCommand = failingInOneLine(async (args, terminal) => {
  const { values, positionals } = parseOptions(args, workerFlags);
  if (positionals[0] !== undefined)
    throw new UsageError(`unexpected "${printable(positionals[0])}"`);
  const located = await locate(terminal, values);
  if (!("url" in located.database))
    throw new UsageError(
      "workers share a PostgreSQL database: name it in svc.config.yaml (database_url) or DATABASE_URL. An embedded database is opened by one process: svc serve runs its jobs itself",
    );
  const { control: settings } = located.settings;
  const concurrency =
    values.concurrency === undefined
      ? settings.jobs.concurrency
      : wholeNumber("concurrency", values.concurrency, 1, 64);
  const instance = {
    ...located,
    settings: {
      ...located.settings,
      control: { ...settings, jobs: { ...settings.jobs, concurrency } },
    },
  };
  const log = terminal.isTTY
    ? createPrettyLog(terminal.stderr, Date.now)
    : createLog(terminal.stderr);
  {
    await using control = await openInstance(instance, {
      log,
      jobs: "run",
      ...(values.sandbox === undefined
        ? {}
        : { sandbox: oneOf("sandbox", values.sandbox, ["process", "bubblewrap"] as const) }),
    });
    // Who asked for a wall does not want to hear of its absence from the first job.
    if (values.sandbox !== undefined)
      await control.services.host.spec(findConnector("mailer", "."));
    await using _metrics = await listenForScrapes(control.services, located.settings.metrics);
    log.info("working", { concurrency, sandbox: control.services.sandbox });
    await untilAborted(terminal.signal);
    log.info("stopping");
  }
  log.info("stopped");
  return exitCode.ok;
});
