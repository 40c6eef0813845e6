/** Rewrites the pages that are generated from the code; a test holds them to it. */
import { writeFileSync } from "node:fs";
import { loadDestinationRules, loadRules } from "svc-connectors/conformance";
import { renderConformancePage } from "./conformance-page.ts";
import { renderErrorPage } from "./error-page.ts";

writeFileSync(new URL("errors.md", import.meta.url), renderErrorPage());
writeFileSync(
  new URL("conformance.md", import.meta.url),
  renderConformancePage(await loadRules(), await loadDestinationRules()),
);
