import type { CheckResult } from "../contract/host.ts";
import type { Run } from "./run.ts";

/**
 * Runs the connector's check; resolves when the configuration works.
 * @throws ConnectorError that says why not
 */
export async function check(run: Run): Promise<CheckResult> {
  await run.execute({ verb: "check" }, {});
  return { status: "succeeded" };
}
