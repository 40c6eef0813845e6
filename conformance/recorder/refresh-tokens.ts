import type { JsonObject } from "svc-connectors";
import { createMemoryTokenStore, findRotatingField, type TokenStore } from "svc-connectors/host";
import { settingAt } from "./config-secrets.ts";
import type { Published } from "./subject.ts";

/**
 * The refresh token of an account through several verbs. Each verb of a recording begins without an
 * access token, as a replay does; but where the provider gives a new refresh token with every
 * refresh, the configured one serves only the first.
 */
export interface RefreshTokens {
  /** The store of one verb with the right configuration; undefined when the connector uses none. */
  store(config: JsonObject): TokenStore | undefined;
  /** Path of the setting that holds the first token. */
  readonly path: string;
  /** Tokens that came later: a recording shows the configured one in their place. */
  readonly later: readonly string[];
}

export function createRefreshTokens({ egress }: Pick<Published, "egress">): RefreshTokens {
  const oauth =
    egress?.kind === "http" ? egress.auth.find((auth) => auth.type === "oauth2") : undefined;
  const path = oauth?.refreshToken ?? (egress && findRotatingField({ egress })) ?? "";
  const later: string[] = [];
  return {
    path,
    later,
    store(config) {
      const configured = settingAt(config, path.split("."));
      if (path === "" || typeof configured !== "string") return undefined;
      const store = createMemoryTokenStore({ refreshToken: later.at(-1) ?? configured });
      return {
        ...store,
        async save(expectedVersion, tokens) {
          const { refreshToken } = tokens;
          const isNew = refreshToken !== undefined && refreshToken !== (later.at(-1) ?? configured);
          if (isNew) later.push(refreshToken);
          return await store.save(expectedVersion, tokens);
        },
      };
    },
  };
}
