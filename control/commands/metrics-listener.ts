import { once } from "node:events";
import { printable } from "svc-connectors/host";
import { createMetricsServer } from "../http/metrics.ts";
import type { Services } from "../services/services.ts";
import { failedListen } from "./failures.ts";
import type { MetricsSettings } from "./settings-file.ts";

/**
 * Serves the metrics of this process where the operator wants them; nowhere without the setting.
 * @throws UsageError, CommandFailed
 */
export async function listenForScrapes(
  { telemetry, log }: Pick<Services, "telemetry" | "log">,
  settings: MetricsSettings | undefined,
): Promise<AsyncDisposable> {
  if (!settings) return { async [Symbol.asyncDispose]() {} };
  const { host, port } = settings;
  const server = createMetricsServer({ telemetry });
  try {
    server.listen({ host, port });
    await once(server, "listening");
  } catch (error) {
    throw failedListen(error, host, port, "set another telemetry.metrics.port in svc.config.yaml");
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
