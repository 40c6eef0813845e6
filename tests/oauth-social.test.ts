import { connect } from "node:net";
import { findConnector } from "svc-connectors/host";
import { expect, test } from "vitest";
import {
  createHost,
  createMemoryPendingStore,
  createSecretRegistry,
  finishAuthorization,
  isAuthorizable,
  startAuthorization,
} from "../runtime/host.ts";
import { sharedAuthority } from "../simulators/certificates.ts";
import { answerJson, createInstantClock, startProvider } from "../simulators/loopback.ts";

const redirectUri = "https://svc.example.net/oauth/callback/conn_social";
const context = { workspace: "w1", connector: "conn_social", user: "u1", session: "s1" };
const config = { client_id: "1000.CLIENT", client_secret: "client-secret-canary" };

async function readManifest(name: string) {
  await using host = createHost({ sandbox: "inline" });
  return await host.spec(findConnector(name, process.cwd()));
}

test("an account of the social provider is connected in the region where it lives", async () => {
  const manifest = await readManifest("social");
  expect(isAuthorizable(manifest)).toBe(true);
  const authority = await sharedAuthority();
  const certificate = await authority.issue(["accounts.zoho.in"]);
  const answer = {
    access_token: "access-canary",
    refresh_token: "refresh-canary",
    expires_in: 3_600,
    api_domain: "x",
  };
  await using accounts = await startProvider(
    (_request, response) => answerJson(response, 200, answer),
    {
      certificate,
    },
  );
  const clock = createInstantClock(0);
  const pendings = createMemoryPendingStore(clock.now);
  const dialled: string[] = [];
  const seams = {
    ...accounts.seams,
    ca: authority.caPem,
    dial: ({ host }: { readonly host: string }) => {
      dialled.push(host);
      return connect(accounts.port, "127.0.0.1");
    },
  };
  const comeBack = async (accountsServer: string) => {
    const started = await startAuthorization({
      manifest,
      config: { ...config, region: "eu" },
      redirectUri,
      context,
      clock,
    });
    await pendings.put(started.pending);
    const asked = new URL(started.url);
    expect(asked.origin + asked.pathname).toBe("https://accounts.zoho.eu/oauth/v2/auth");
    expect(Object.fromEntries(asked.searchParams)).toMatchObject({
      access_type: "offline",
      prompt: "consent",
    });
    expect(asked.searchParams.get("scope")).toMatch(/^ZohoSocial\.portals\.READ,ZohoSocial\./);
    const state = asked.searchParams.get("state") ?? "";
    const back = new URLSearchParams({
      state,
      location: "in",
      "accounts-server": accountsServer,
      code: "code-canary",
    });
    const settings = { approvedHosts: [], allowNetworks: [] };
    const network = { settings, seams, secrets: createSecretRegistry(), clock };
    return await finishAuthorization({
      manifest,
      callbackUrl: `${redirectUri}?${back}`,
      context,
      pendings,
      ...network,
    });
  };
  const refused = { code: "AUTHORIZATION_FAILED", details: { rule: "other_region" } };
  await expect(comeBack("https://accounts.zoho.in.example.net")).rejects.toMatchObject(refused);
  expect(dialled).toEqual([]);
  const granted = await comeBack("https://accounts.zoho.in");
  expect(granted).toMatchObject({
    config: { region: "in" },
    tokens: { refreshToken: "refresh-canary" },
  });
  expect(dialled).toEqual(["accounts.zoho.in"]);
  expect(accounts.received[0]?.url).toBe("/oauth/v2/token");
});

test("connectors whose tokens are entered are not connected in a browser", async () => {
  for (const name of ["bankdata", "mailer", "postgres"])
    expect(isAuthorizable(await readManifest(name))).toBe(false);
});
