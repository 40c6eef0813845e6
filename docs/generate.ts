/** Rewrites the pages that are generated from the code; a test holds them to it. */
import { writeFileSync } from "node:fs";
import { renderErrorPage } from "./error-page.ts";

writeFileSync(new URL("errors.md", import.meta.url), renderErrorPage());
