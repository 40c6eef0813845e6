import { once } from "node:events";
import { printable, wholeNumber } from "svc-connectors/host";
import { createMetricsServer } from "../http/metrics.ts";
import type { Services } from "../services/services.ts";
import { failedListen } from "./failures.ts";
import type { MetricsSettings } from "./settings-file.ts";

/** The flag of commands that run for long: processes of one host share their settings' file. */
export const metricsPortFlag = () =>
  [
    "--metrics-port <N>",
    "port for metrics; default telemetry.metrics.port of the settings, or none; 0 takes a free one",
    wholeNumber("metrics-port", 0, 65_535),
  ] as const;

/**
 * Serves the metrics of this process where the operator wants them; nowhere without the setting and
 * without a port of the command line, which goes before it.
 * @throws UsageError, CommandFailed
 */
export async function listenForScrapes(
  { telemetry, log }: Pick<Services, "telemetry" | "log">,
  settings: MetricsSettings | undefined,
  ownPort: number | undefined,
): Promise<AsyncDisposable> {
  const port = ownPort ?? settings?.port;
  if (port === undefined) return { async [Symbol.asyncDispose]() {} };
  const host = settings?.host ?? "127.0.0.1";
  const server = createMetricsServer({ telemetry });
  try {
    server.listen({ host, port });
    await once(server, "listening");
  } catch (error) {
    throw failedListen(error, host, port, "pass another --metrics-port");
  }
  const address = server.address();
  log.info("metrics", {
    host: printable(host),
    port: typeof address === "object" ? address?.port : port,
  });
  return {
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
