/**
 * The secrets with which deliveries to an endpoint are signed. They are in the vault; a new one is
 * shown once, and the one before it counts for a while, so that a receiver has time to change.
 */
import { randomBytes } from "node:crypto";
import { signingKey } from "svc-connectors/host";
import type { Services } from "../services/services.ts";
import type { Db } from "../store/database.ts";
import type { SecretOwner } from "../vault/vault.ts";
import type { EndpointRow } from "./endpoints.ts";

interface SigningSecret {
  readonly secret: string;
  /** It counts until then; null: until another takes its place. */
  readonly until: string | null;
}

const keyBytes = 32;

/** `whsec_…`, as Standard Webhooks has it. */
export const newSigningSecret = (): string => `whsec_${randomBytes(keyBytes).toString("base64")}`;

const ownerOf = ({ id, workspace_id }: Pick<EndpointRow, "id" | "workspace_id">): SecretOwner => ({
  workspaceId: workspace_id,
  ownerId: id,
  kind: "webhook",
});

/**
 * Seals a secret as the one that counts from now on, in a transaction that holds the endpoint's
 * row.
 * @param previousUntil how long the one before it goes on to count
 */
export async function putSigningSecret(
  tx: Db,
  { vault }: Pick<Services, "vault">,
  endpoint: Pick<EndpointRow, "id" | "workspace_id">,
  secret: string,
  previousUntil?: Date,
): Promise<void> {
  const owner = ownerOf(endpoint);
  const opened = await vault.open(tx, owner);
  const [current] = secretsIn(opened?.value);
  const previous =
    current && previousUntil ? [{ ...current, until: previousUntil.toISOString() }] : [];
  const value = { secrets: [{ secret, until: null }, ...previous] };
  if (!(await vault.put(tx, owner, opened?.version ?? 0, value)))
    throw new Error("the secret of an endpoint was changed by somebody else");
}

/** The keys that count now, the newest first. */
export async function signingKeys(
  db: Db,
  { vault }: Pick<Services, "vault">,
  endpoint: Pick<EndpointRow, "id" | "workspace_id">,
  now: Date,
): Promise<readonly Buffer[]> {
  const opened = await vault.open(db, ownerOf(endpoint));
  return secretsIn(opened?.value)
    .filter(({ until }) => until === null || new Date(until) > now)
    .map(({ secret }) => signingKey(secret, "signing_secret"));
}

const secretsIn = (value: object | undefined): readonly SigningSecret[] =>
  (value as { readonly secrets?: readonly SigningSecret[] } | undefined)?.secrets ?? [];
