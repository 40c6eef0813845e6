/** Rewrites what is generated from the code and the connectors' cards; tests hold it to them. */
import { readFileSync, writeFileSync } from "node:fs";
import { loadDestinationRules, loadRules } from "svc-connectors/conformance";
import { renderConformancePage } from "./conformance-page.ts";
import { renderConnectorTables, renderExecutables } from "./connector-lists.ts";
import { renderConsoleActions, renderConsoleTypes } from "./console-types.ts";
import { renderErrorPage } from "./error-page.ts";
import { renderSecurityPage } from "./security-page.ts";
import { renderWorkspaceSchema } from "./workspace-schema.ts";

writeFileSync(new URL("errors.md", import.meta.url), renderErrorPage());
writeFileSync(
  new URL("conformance.md", import.meta.url),
  renderConformancePage(await loadRules(), await loadDestinationRules()),
);

writeFileSync(new URL("workspace.schema.json", import.meta.url), renderWorkspaceSchema());
writeFileSync(new URL("../console/api/schema.ts", import.meta.url), renderConsoleTypes());
writeFileSync(new URL("../console/api/actions.ts", import.meta.url), renderConsoleActions());

for (const [name, render] of [
  ["README.md", renderConnectorTables],
  ["package.json", renderExecutables],
  ["docs/security.md", renderSecurityPage],
] as const) {
  const url = new URL(`../${name}`, import.meta.url);
  writeFileSync(url, render(readFileSync(url, "utf8")));
}
