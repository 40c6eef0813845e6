/** The forms of a report, by the name that `--report` takes. Each gives a whole file. */
import type { ConformanceReport } from "../contract/report.ts";
import { renderGithub } from "./github.ts";
import { renderHtml } from "./html.ts";
import { renderJson } from "./json.ts";
import { renderJunit } from "./junit.ts";
import { renderText } from "./text.ts";

export const forms = {
  text: (report) => renderText(report),
  json: renderJson,
  junit: renderJunit,
  github: renderGithub,
  html: renderHtml,
} as const satisfies Readonly<Record<string, (report: ConformanceReport) => string>>;

export type Form = keyof typeof forms;
