/** An account is connected by a person with a real browser at a real authorization server. */
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { secretOwner } from "../control/credentials/stored-secret.ts";
import { type Browser, findChromium, startChromium } from "../simulators/authorization/chromium.ts";
import {
  type AuthorizationServer,
  client,
  startAuthorizationServer,
} from "../simulators/authorization/server.ts";
import { createCertificateAuthority } from "../simulators/certificates.ts";
import { startTestControl, type TestControl } from "./control.ts";

const executable = findChromium();
const ownName = "svc.example.com";
const accountsName = "accounts.zoho.com";
const redirectUri = `https://${ownName}/oauth/callback/conn_social`;
const scopes = ["portals", "brands", "channels", "users", "posts", "reports"].map(
  (name) => `ZohoSocial.${name}.READ`,
);

let authority: Awaited<ReturnType<typeof createCertificateAuthority>>;
let accounts: AuthorizationServer;
let api: TestControl;

beforeAll(async () => {
  authority = await createCertificateAuthority();
  accounts = await startAuthorizationServer({
    redirectUris: [redirectUri],
    authority,
    inPlaceOf: {
      hostname: accountsName,
      paths: {
        authorization: "/oauth/v2/auth",
        token: "/oauth/v2/token",
        revocation: "/oauth/v2/token/revoke",
      },
      scopes: [scopes.join(",")],
    },
  });
  api = await startTestControl({
    seams: accounts.seams,
    sandbox: "inline",
    settings: {
      oauthApps: {
        conn_social: {
          clientId: client.id,
          clientSecret: client.secret,
          redirectUris: [redirectUri],
        },
      },
    },
  });
});
afterAll(async () => {
  await api?.[Symbol.asyncDispose]();
  await accounts?.[Symbol.asyncDispose]();
});

/**
 * A product of a customer: a page that begins, a page to which the browser comes back, and the API
 * under one origin.
 */
async function startProduct() {
  const certificate = await authority.issue([ownName]);
  const begin = `
    sessionStorage.token = ${JSON.stringify(api.first.tokens.editor)};
    const body = { connector_id: "conn_social", redirect_uri: ${JSON.stringify(redirectUri)}, name: "By browser" };
    window.begin = async () => { location.href = (await post("start", body)).data.authorization_url; };`;
  const comeBack = `
    const query_params = Object.fromEntries(new URLSearchParams(location.search));
    history.replaceState(null, "", location.pathname);
    window.connected = post("callback", { query_params }).then((answer) => {
      document.body.textContent = JSON.stringify(answer);
      return answer;
    });`;
  const page = (script: string) => `<!doctype html><body></body><script>
    const post = async (step, body) => (await fetch("/control/v1/credentials/source/oauth/" + step, {
      method: "POST",
      headers: { authorization: "Bearer " + sessionStorage.token, "content-type": "application/json" },
      body: JSON.stringify(body),
    })).json();
    ${script}</script>`;
  const server = createServer(
    { key: certificate.key, cert: certificate.cert },
    async (request, response) => {
      const { method = "GET", url = "/", headers } = request;
      if (!url.startsWith("/control/v1/")) {
        response.writeHead(200, { "content-type": "text/html", "referrer-policy": "no-referrer" });
        return void response.end(page(url.startsWith("/oauth/callback/") ? comeBack : begin));
      }
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const answer = await api.server.inject({
        method: method as "POST",
        url,
        headers: {
          authorization: headers.authorization ?? "",
          "content-type": headers["content-type"] ?? "",
        },
        payload: Buffer.concat(parts),
      });
      response
        .writeHead(answer.statusCode, { "content-type": "application/json" })
        .end(answer.payload);
    },
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    certificate: certificate.cert,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Logs in and consents, page by page, until the browser is sent away. */
async function consent(browser: Browser): Promise<void> {
  const prompts: (string | null)[] = [];
  while ((await browser.evaluate<string>("location.host")) === accountsName) {
    const prompt = await browser.evaluate<string | null>(
      `document.querySelector("[name=prompt]")?.value ?? null`,
    );
    prompts.push(prompt);
    if (prompts.length > 5) throw new Error(`The login does not end: ${prompts.join(", ")}`);
    const fill =
      prompt === "login"
        ? `document.querySelector("[name=login]").value = "user-1"; document.querySelector("[name=password]").value = "any";`
        : "";
    await browser.leaveBy(`${fill} document.querySelector("form").requestSubmit(); undefined`);
  }
  expect(prompts).toEqual(["login", "consent"]);
}

test("a person consents, and the product gets a handle and nothing else", async ({ skip }) => {
  if (executable === undefined) return skip("no Chromium is installed");
  await using product = await startProduct();
  await using browser = await startChromium({
    executable,
    ports: { [ownName]: product.port, [accountsName]: accounts.port },
    certificates: [product.certificate, accounts.certificate],
  });
  await browser.visit(`https://${ownName}/`);
  await browser.leaveBy("begin(); undefined");
  await consent(browser);
  const answer = await browser.evaluate<{ data: { credential_id: string } }>("connected");
  expect(answer).toEqual({
    request_id: expect.any(String),
    data: {
      credential_handle: expect.stringMatching(/^ch_/),
      credential_id: expect.stringMatching(/^cred_/),
      connector_id: "conn_social",
      status: "active",
      granted_scopes: scopes,
      expires_at: expect.any(String),
    },
  });
  const owner = secretOwner({ id: answer.data.credential_id, workspace_id: api.first.id });
  const stored = await api.control.services.vault.open(api.db, owner);
  const { accessToken, refreshToken } = stored?.value.tokens as {
    accessToken: string;
    refreshToken: string;
  };
  const seen = await browser.evaluate<string>(
    `document.documentElement.outerHTML + location.href + document.cookie + JSON.stringify(sessionStorage)`,
  );
  for (const token of [accessToken, refreshToken, client.secret]) {
    expect(token.length).toBeGreaterThan(20);
    expect(seen).not.toContain(token);
  }
  expect(await browser.evaluate("location.href")).toBe(redirectUri);
});
