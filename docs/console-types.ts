import { renderPaths } from "../console/api/paths.ts";
import { createOpenApi } from "../control/openapi/document.ts";
import { operations } from "../control/operations/index.ts";

/** The types of the API, for the console: console/api/schema.ts. */
export const renderConsoleTypes = (): string => renderPaths(createOpenApi(operations));
