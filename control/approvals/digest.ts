import { createHash } from "node:crypto";
import { canonicalize } from "svc-connectors/host";

/** The parts of a proposal that its digest covers. */
export interface DigestedPayload {
  readonly method: string;
  /** Below the base path, with its query. */
  readonly path: string;
  readonly workspace_id: string;
  /** Secrets replaced by where they are in the vault. */
  readonly body: unknown;
}

/**
 * `sha256:` and the hash of the payload's canonical JSON, hex: who approves can say with it which
 * payload they have read.
 */
export const digestOf = (payload: DigestedPayload): string =>
  `sha256:${createHash("sha256").update(canonicalize(payload, "ecmascript")).digest("hex")}`;
