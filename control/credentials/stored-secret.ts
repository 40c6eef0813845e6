import type { JsonObject, SecretRegistry, Tokens } from "svc-connectors/host";
import type { SecretOwner } from "../vault/vault.ts";
import type { CredentialRow } from "./rows.ts";

/** The secret of a credential, as the vault holds it. */
export interface StoredSecret {
  /** Secret settings by their names, as the user entered them. */
  readonly fields: JsonObject;
  /** Tokens of an account that was connected, or that have rotated since. */
  readonly tokens?: Tokens | undefined;
}

export const secretOwner = ({
  id,
  workspace_id,
}: Pick<CredentialRow, "id" | "workspace_id">): SecretOwner => ({
  workspaceId: workspace_id,
  ownerId: id,
  kind: "credential",
});

/**
 * From now on the answer is searched for every text of a secret. Plain words are left out: a
 * password like "postgres" stands in honest answers, and an answer without it would hide nothing.
 */
export function noteSecrets(secrets: SecretRegistry, value: unknown): void {
  for (const text of textsOf(value)) if (!/^\p{L}{1,11}$/u.test(text)) secrets.add(text);
}

function textsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : [];
}
