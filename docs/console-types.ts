import { renderPaths } from "../console/api/paths.ts";
import { createOpenApi } from "../control/openapi/document.ts";
import { operations } from "../control/operations/index.ts";

/** What the audit log calls actions, and how they are said: console/api/actions.ts. */
export function renderConsoleActions(): string {
  const written = operations
    .filter(({ effect }) => effect === "write")
    .map(({ id, summary }) => [id, summary] as const)
    .toSorted(([, left], [, right]) => left.localeCompare(right, "en"));
  return [
    "/** Made from the registry of operations by `npm run docs`: what the audit log tells of. */",
    "export const actions: readonly (readonly [action: string, said: string])[] = [",
    ...written.map((one) => `  [${one.map((text) => JSON.stringify(text)).join(", ")}],`),
    "];",
    "",
  ].join("\n");
}

/** The types of the API, for the console: console/api/schema.ts. */
export const renderConsoleTypes = (): string => renderPaths(createOpenApi(operations));
