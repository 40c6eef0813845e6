import { describe, expect, test } from "vitest";
import { createCertificateAuthority } from "../../simulators/certificates.ts";
import { answerJson, createInstantClock, startProvider } from "../../simulators/loopback.ts";
import type { HostOptions } from "../contract/host.ts";
import { createMemoryTokenStore, type Tokens } from "../contract/token-store.ts";
import { createHost } from "./create-host.ts";

const connector = {
  name: "reference-oauth",
  url: new URL("../../fixtures/reference-oauth/connector/index.ts", import.meta.url).href,
};
const config = {
  client_id: "client-1",
  client_secret: "client-secret-canary",
  refresh_token: "refresh-of-the-config",
};
const loginName = "login.notes.example.com";
const authority = await createCertificateAuthority();
const certificate = await authority.issue(["api.notes.example.com", loginName]);

/** Rotates the refresh token with every refresh; knows every access token. */
async function startLogin() {
  const provider = await startProvider(
    (request, response) => {
      if (request.host !== loginName) return answerJson(response, 200, { folders: [] });
      answerJson(response, 200, {
        access_token: "access-canary",
        expires_in: 3_600,
        refresh_token: "rotated-canary",
      });
    },
    { certificate },
  );
  const refreshTokens = () =>
    provider.received.flatMap(({ host, body }) =>
      host === loginName ? [new URLSearchParams(body).get("refresh_token")] : [],
    );
  return Object.assign(provider, { refreshTokens });
}

const open = (provider: Awaited<ReturnType<typeof startLogin>>, tokens?: HostOptions["tokens"]) =>
  createHost({
    sandbox: "inline",
    clock: createInstantClock(Date.UTC(2026, 0, 15)),
    seams: { ...provider.seams, ca: authority.caPem },
    ...(tokens ? { tokens } : {}),
  });

describe("where the tokens of a run are kept", () => {
  test("a host asks for the store of each run, with the connector, the whole configuration and its defaults", async () => {
    await using provider = await startLogin();
    const asked: unknown[] = [];
    const saved: Tokens[] = [];
    const store = createMemoryTokenStore({ refreshToken: "refresh-of-the-store" });
    await using host = open(provider, (...of) => {
      asked.push(of);
      return {
        ...store,
        async save(version, tokens) {
          saved.push(tokens);
          return await store.save(version, tokens);
        },
      };
    });
    expect(await host.check(connector, config)).toEqual({ status: "succeeded" });
    expect(asked).toEqual([[connector, { ...config, page_size: 2 }]]);
    expect(provider.refreshTokens()).toEqual(["refresh-of-the-store"]);
    expect(saved.map(({ refreshToken }) => refreshToken)).toEqual(["rotated-canary"]);
  });

  test("what one run saved, the next one begins with", async () => {
    await using provider = await startLogin();
    const store = createMemoryTokenStore({ refreshToken: "refresh-of-the-store" });
    await using host = open(provider, () => store);
    for (const _ of [1, 2])
      expect(await host.check(connector, config)).toEqual({ status: "succeeded" });
    expect(provider.refreshTokens()).toEqual(["refresh-of-the-store"]);
  });

  test.each([
    ["without the option", undefined],
    ["when it gives none", () => undefined],
  ] as const)("%s, each run begins with the refresh token of its configuration", async (_, tokens) => {
    await using provider = await startLogin();
    await using host = open(provider, tokens);
    for (const _ of [1, 2])
      expect(await host.check(connector, config)).toEqual({ status: "succeeded" });
    expect(provider.refreshTokens()).toEqual([config.refresh_token, config.refresh_token]);
  });
});
