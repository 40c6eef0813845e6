import type { StoredTokens, TokenStore, Tokens } from "svc-connectors/host";
import type { Services } from "../services/services.ts";
import { lostAuthorization } from "./outcome.ts";
import type { CredentialRow } from "./rows.ts";
import { type StoredSecret, secretOwner } from "./stored-secret.ts";

/**
 * The tokens of a credential in the vault. Each rotation is a new version, written before the new
 * token is used; who refreshes holds the database's lock of this credential, on whatever server it
 * is.
 * @param refreshTokenField the secret setting with the first refresh token, for credentials that
 * were entered by hand
 */
export function createTokenStore(
  { database, vault, clock }: Services,
  credential: CredentialRow,
  refreshTokenField: string,
): TokenStore {
  const owner = secretOwner(credential);
  const open = async () => {
    const opened = await vault.open(database.db, owner);
    if (!opened) throw new Error("the credential has no secret");
    return { version: opened.version, secret: opened.value as unknown as StoredSecret };
  };
  return {
    async load(): Promise<StoredTokens> {
      const { version, secret } = await open();
      const entered = secret.fields[refreshTokenField];
      return {
        version,
        tokens: secret.tokens ?? (typeof entered === "string" ? { refreshToken: entered } : {}),
      };
    },
    async save(expectedVersion: number, tokens: Tokens): Promise<boolean> {
      const { secret } = await open();
      const next = { fields: secret.fields, tokens };
      const now = new Date(clock.now());
      return await database.db.transaction().execute(async (tx) => {
        if (!(await vault.put(tx, owner, expectedVersion, { ...next }))) return false;
        const isRefused = tokens.refusedAtMs !== undefined;
        const lost = {
          status: "needs_reauth",
          last_error: JSON.stringify({ reason: lostAuthorization, at: now.toISOString() }),
        } as const;
        await tx
          .updateTable("credentials")
          .set({
            updated_at: now,
            expires_at: toDate(tokens.expiresAtMs),
            ...(isRefused ? lost : {}),
          })
          .where("id", "=", credential.id)
          .where("workspace_id", "=", credential.workspace_id)
          .execute();
        return true;
      });
    },
    exclusively: (work) => database.exclusively(`credential:${credential.id}`, work),
  };
}

const toDate = (ms: number | undefined) => (ms === undefined ? null : new Date(ms));
