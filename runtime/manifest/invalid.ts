import { ConnectorError } from "../contract/errors.ts";

/** A fault of a manifest, with its place in the document. */
export const invalid = (path: string, problem: string): ConnectorError =>
  new ConnectorError("CONNECTOR_INVALID", { path, problem });
