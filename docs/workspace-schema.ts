/** The JSON Schema of a workspace file, for editors. */
import { WorkspaceFile } from "svc-connectors/control";

export const renderWorkspaceSchema = () =>
  `${JSON.stringify({ $schema: "https://json-schema.org/draft/2020-12/schema", ...WorkspaceFile }, null, 2)}\n`;
