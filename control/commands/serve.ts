/** `svc serve`: the Control API until a signal comes. */

import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import {
  type CommandBuilder,
  findConnector,
  oneOf,
  packageVersion,
  printable,
  type Terminal,
  UsageError,
  wholeNumber,
} from "svc-connectors/host";
import { basePath } from "../door/base-path.ts";
import type { Control } from "../door/control.ts";
import { createServer } from "../http/server.ts";
import { signInUrl } from "../members/sign-in-link.ts";
import { firstUser } from "../operations/instance-setup.ts";
import { askInstance } from "../operator/ask.ts";
import { serveOperator, socketPath } from "../operator/channel.ts";
import { createOperator } from "../operator/operator.ts";
import { createLog, type Log } from "../services/log.ts";
import type { Services } from "../services/services.ts";
import type { ControlSettings } from "../services/settings.ts";
import { failedListen, failingInOneLine } from "./failures.ts";
import {
  addInstanceOptions,
  type Instance,
  type InstanceValues,
  locate,
  openInstance,
  sandboxLevels,
} from "./instance.ts";
import { listenForScrapes, metricsPortFlag } from "./metrics-listener.ts";
import { createPrettyLog } from "./pretty-log.ts";
import { untilAborted } from "./until-aborted.ts";

/** Running requests have so long to end. */
const graceMs = 10_000;

export const buildServe: CommandBuilder = (command, terminal) => {
  addInstanceOptions(command)
    .option("--host <ADDRESS>", "where to listen; default 127.0.0.1")
    .option("--port <N>", "default 8080; 0 takes a free one", wholeNumber("port", 0, 65_535))
    .option(
      "--sandbox <LEVEL>",
      "wall around connectors: process (default) or bubblewrap",
      oneOf("sandbox", sandboxLevels),
    )
    .option(...metricsPortFlag())
    .option("--no-jobs", "leave jobs to svc worker: PostgreSQL only")
    .option("--insecure-public", "listen to other machines without TLS, behind a proxy that has it")
    .addHelpText("after", "\nExample: svc serve --data /var/lib/svc --port 8443")
    .action(failingInOneLine((options) => serve(options, terminal)));
};

interface ServeOptions extends InstanceValues {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly sandbox?: (typeof sandboxLevels)[number] | undefined;
  readonly metricsPort?: number | undefined;
  readonly jobs: boolean;
  readonly insecurePublic?: true | undefined;
}

/** @throws UsageError */
async function serve(options: ServeOptions, terminal: Terminal): Promise<void> {
  const located = await locate(terminal, options);
  if (!options.jobs && !("url" in located.database))
    throw new UsageError(
      "--no-jobs needs workers, and they need a PostgreSQL database: nobody else can run the jobs",
    );
  const { server: configured, control: settings } = located.settings;
  const host = options.host ?? configured.host ?? "127.0.0.1";
  const port = options.port ?? configured.port ?? 8080;
  const { tls, trustProxy } = configured;
  if (!isLoopback(host) && !tls && !options.insecurePublic)
    throw new UsageError(
      `other machines can reach ${printable(host)}, and access tokens must not travel in the clear: set server.tls in svc.config.yaml, or pass --insecure-public behind a proxy that has TLS`,
    );
  const log = terminal.isTTY
    ? createPrettyLog(terminal.stderr, Date.now)
    : createLog(terminal.stderr);
  const instance = {
    ...located,
    settings: {
      ...located.settings,
      control: { ...withOutbox(settings, located), ownUrl: ownUrl(host, port, tls !== undefined) },
    },
  };
  await using control = await openInstance(instance, {
    log,
    jobs: options.jobs ? "run" : "announce",
    sandbox: options.sandbox,
    connectors: located.settings.connectors,
  });
  // Who asked for a wall does not want to hear of its absence from the first run.
  if (options.sandbox !== undefined) await control.services.host.spec(findConnector("mailer", "."));
  await using _channel = await openChannel(control.services, instance, log);
  await using _metrics = await listenForScrapes(
    control.services,
    located.settings.metrics,
    options.metricsPort,
  );
  const server = createServer(control, { tls, trustProxy });
  try {
    const url = await listen(server, host, port, tls !== undefined);
    const isForOne = terminal.isTTY || isLoopback(host);
    await introduce(terminal, control, instance, settings.publicUrl ?? url, isForOne);
    log.info("listening", {
      url,
      database: control.services.database.kind,
      sandbox: control.services.sandbox,
    });
    await untilAborted(terminal.signal);
    log.info("stopping");
  } finally {
    await close(server);
  }
  log.info("stopped");
}

/** Without settings for mail, invitations go into files beside the database. */
const withOutbox = (settings: ControlSettings, { folder }: Instance): ControlSettings =>
  settings.mail ? settings : { ...settings, mail: { outbox: join(folder, "outbox") } };

/** Commands ask a server that has the embedded database open; PostgreSQL they open themselves. */
async function openChannel(
  services: Services,
  { folder, database }: Instance,
  log: Log,
): Promise<AsyncDisposable> {
  if (!("folder" in database)) return { async [Symbol.asyncDispose]() {} };
  const path = socketPath(folder);
  if (path !== undefined) return serveOperator(path, askInstance(services));
  log.warn(
    "the path of the data folder is too long for a socket: svc token and its siblings need the server stopped",
  );
  return { async [Symbol.asyncDispose]() {} };
}

/** @throws UsageError, CommandFailed */
async function listen(
  server: FastifyInstance,
  host: string,
  port: number,
  isSecure: boolean,
): Promise<string> {
  try {
    await server.listen({ host, port });
  } catch (error) {
    throw failedListen(error, host, port, "pass a --port");
  }
  const address = server.server.address();
  const actual = typeof address === "object" && address ? address.port : port;
  return toUrl(host, actual, isSecure);
}

const toUrl = (host: string, port: number, isSecure: boolean): string =>
  `${isSecure ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${port}`;

/** Its address, as far as it is known before it listens: of any host or port, nothing is. */
const ownUrl = (host: string, port: number, isSecure: boolean): string | undefined =>
  port === 0 || !isLoopback(host) ? undefined : toUrl(host, port, isSecure);

/** Tells a person where the service is. The first token is shown here and nowhere else. */
async function introduce(
  { out }: Terminal,
  control: Control,
  { database }: Instance,
  url: string,
  isForOne: boolean,
): Promise<void> {
  const operator = createOperator(askInstance(control.services));
  const { token } = await operator.run("instance.bootstrap", {});
  // Where output is kept for others to read, only the first start says who comes in.
  const { code } =
    token !== null || isForOne ? await operator.run("session.link", {}) : { code: undefined };
  await out.line(`svc ${packageVersion}`);
  await out.line(`  console      ${url}/`);
  await out.line(`  Control API  ${url}${basePath}`);
  await out.line(`  documents    ${url}${basePath}/docs`);
  if ("folder" in database)
    await out.line(`  data         ${printable(database.folder ?? "", 300)}`);
  if (code !== undefined)
    await out.line(
      `\nOpen this link to sign in. It is good once, for a quarter of an hour:\n\n  ${signInUrl(url, code)}\n`,
    );
  if (token === null) return;
  await out.line(
    `\nThe first access token, of ${firstUser.email}. It is not shown again:\n\n  ${token}\n`,
  );
  await out.line(`  curl -H "Authorization: Bearer <token>" ${url}${basePath}/me`);
}

async function close(server: FastifyInstance): Promise<void> {
  const timer = setTimeout(() => server.server.closeAllConnections(), graceMs);
  await server.close();
  clearTimeout(timer);
}

const isLoopback = (host: string) =>
  host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
