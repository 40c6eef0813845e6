import { bearer, http, oauth2 } from "svc-connectors";
import type { Manifest } from "svc-connectors/host";
import { expect, test } from "vitest";
import { createRefreshTokens } from "./refresh-tokens.ts";

const manifestWith = (auth: Parameters<typeof http>[0]["auth"]): Manifest => ({
  id: "conn_x",
  version: "1.0.0",
  title: "X",
  spec: {},
  egress: http({ baseUrl: "https://api.example.com", auth }),
});
const oauth = oauth2({
  tokenUrl: "https://login.example.com/token",
  clientId: "id",
  clientSecret: "secret",
  refreshToken: "login.refresh",
});
const config = { login: { refresh: "first" } };

test("each verb begins with the newest refresh token and no access token", async () => {
  const tokens = createRefreshTokens(manifestWith(oauth));
  const first = tokens.store(config);
  expect((await first?.load())?.tokens).toEqual({ refreshToken: "first" });
  expect(await first?.save(1, { accessToken: "a", refreshToken: "second" })).toBe(true);
  expect((await tokens.store(config)?.load())?.tokens).toEqual({ refreshToken: "second" });
  expect(tokens).toMatchObject({ path: "login.refresh", later: ["second"] });
});

test("a refresh token that stays is none that came later", async () => {
  const tokens = createRefreshTokens(manifestWith(oauth));
  await tokens.store(config)?.save(1, { accessToken: "a", refreshToken: "first" });
  expect(tokens.later).toEqual([]);
});

test("a connector without OAuth has no tokens", () => {
  expect(createRefreshTokens(manifestWith(bearer("token"))).store({ token: "x" })).toBeUndefined();
});
