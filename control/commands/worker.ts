/**
 * `svc worker`: runs jobs beside the servers of one PostgreSQL, on this host or another, until a
 * signal comes.
 */
import {
  type CommandBuilder,
  findConnector,
  oneOf,
  type Terminal,
  UsageError,
  wholeNumber,
} from "svc-connectors/host";
import { createLog } from "../services/log.ts";
import { failingInOneLine } from "./failures.ts";
import {
  addInstanceOptions,
  type InstanceValues,
  locate,
  openInstance,
  sandboxLevels,
} from "./instance.ts";
import { listenForScrapes, metricsPortFlag } from "./metrics-listener.ts";
import { createPrettyLog } from "./pretty-log.ts";
import { untilAborted } from "./until-aborted.ts";

export const buildWorker: CommandBuilder = (command, terminal) => {
  addInstanceOptions(command)
    .option(
      "--concurrency <N>",
      "jobs at a time; default jobs.concurrency of the settings, or 2",
      wholeNumber("concurrency", 1, 64),
    )
    .option(
      "--sandbox <LEVEL>",
      "wall around connectors: process (default) or bubblewrap",
      oneOf("sandbox", sandboxLevels),
    )
    .option(...metricsPortFlag())
    .action(failingInOneLine((options) => work(options, terminal)));
};

interface WorkerOptions extends InstanceValues {
  readonly concurrency?: number | undefined;
  readonly sandbox?: (typeof sandboxLevels)[number] | undefined;
  readonly metricsPort?: number | undefined;
}

/** @throws UsageError */
async function work(options: WorkerOptions, terminal: Terminal): Promise<void> {
  const located = await locate(terminal, options);
  if (!("url" in located.database))
    throw new UsageError(
      "workers share a PostgreSQL database: name it in svc.config.yaml (database_url) or DATABASE_URL. An embedded database is opened by one process: svc serve runs its jobs itself",
    );
  const { control: settings } = located.settings;
  const concurrency = options.concurrency ?? settings.jobs.concurrency;
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
      sandbox: options.sandbox,
      connectors: located.settings.connectors,
    });
    // Who asked for a wall does not want to hear of its absence from the first job.
    if (options.sandbox !== undefined)
      await control.services.host.spec(findConnector("mailer", "."));
    await using _metrics = await listenForScrapes(
      control.services,
      located.settings.metrics,
      options.metricsPort,
    );
    log.info("working", { concurrency, sandbox: control.services.sandbox });
    await untilAborted(terminal.signal);
    log.info("stopping");
  }
  log.info("stopped");
}
