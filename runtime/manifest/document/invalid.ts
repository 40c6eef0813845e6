import { ConnectorError } from "../../contract/errors.ts";

/** A fault of a manifest, with its place in the document. */
export const invalid = (path: string, problem: string): ConnectorError =>
  new ConnectorError("CONNECTOR_INVALID", { path, problem });

/** A lack of the runtime: the streams that need the feature cannot be read, the others can. */
export class Unsupported extends ConnectorError {
  constructor(path: string, problem: string) {
    super("CONNECTOR_INVALID", { path, problem });
  }
}
