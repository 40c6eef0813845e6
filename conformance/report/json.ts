import { canonicalize } from "svc-connectors/host";
import type { ConformanceReport } from "../contract/report.ts";

/**
 * The whole report as JSON. Keys are sorted, so that two reports differ only where their runs do.
 * Ends with a line end.
 */
export function renderJson(report: ConformanceReport): string {
  return `${JSON.stringify(JSON.parse(canonicalize(report, "ecmascript")), null, 2)}\n`;
}
