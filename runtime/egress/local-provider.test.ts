import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { createCertificateAuthority } from "../../simulators/certificates.ts";
import { createInstantClock } from "../../simulators/loopback.ts";
import { approvedUrl, bearer, type HttpEgress, http, postgres } from "../contract/egress.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { NetworkSeams, NetworkSettings } from "../contract/network.ts";
import { createSecretRegistry } from "../filter/secrets.ts";
import { systemClock } from "../host/clock.ts";
import type { BrokerOptions } from "./broker.ts";
import { createHttpBroker } from "./http-broker.ts";
import { createPostgresBroker } from "./postgres-broker.ts";

const token = "canary-of-a-local-token-0123456789";
const never = new AbortController().signal;
const authority = await createCertificateAuthority();
const certificate = await authority.issue(["localhost", "127.0.0.1"]);
const everything: NetworkSettings = {
  approvedHosts: ["localhost", "127.0.0.1", "*.example.com"],
  allowNetworks: ["127.0.0.0/8", "::1/128", "10.0.0.0/8", "192.168.0.0/16"],
};

/** A provider on 127.0.0.1, which counts what reaches it. */
async function listen(answer: RequestListener = (_, response) => response.end("{}"), tls = false) {
  const received: { url: string | undefined; authorization: string | undefined }[] = [];
  const listener: RequestListener = (request, response) => {
    received.push({ url: request.url, authorization: request.headers.authorization });
    answer(request, response);
  };
  const server = tls ? createTlsServer(certificate, listener) : createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    received,
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** The result of one GET: the status, or the code of the error with its details. */
async function ask(
  baseUrl: HttpEgress["baseUrl"],
  options: Partial<BrokerOptions> & { readonly seams?: NetworkSeams } = {},
  config = {},
) {
  let broker: ReturnType<typeof createHttpBroker> | undefined;
  try {
    broker = createHttpBroker({
      declaration: http({ baseUrl, auth: bearer("api_token") }),
      config: { api_token: token, ...config },
      secrets: createSecretRegistry(),
      clock: createInstantClock(0),
      settings: { approvedHosts: [], allowNetworks: [] },
      allowLocal: true,
      ...options,
    });
    return (await broker.request({ method: "GET", path: ["items"] }, never)).status;
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error;
    return { code: error.code, ...error.details };
  } finally {
    await broker?.close();
  }
}

/** A name server that gives these addresses for every name, and says what was asked. */
function resolving(...addresses: string[]) {
  const asked: string[] = [];
  const resolve: NetworkSeams["resolve"] = async (host) => {
    asked.push(host);
    return addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  };
  return { asked, resolve };
}

describe("a provider that is declared on this machine", () => {
  test("is reached over http at its port, with the credential, when that is allowed", async () => {
    await using provider = await listen();
    for (const host of ["127.0.0.1", "localhost"])
      expect(await ask(`http://${host}:${provider.port}/v2`)).toBe(200);
    const seen = { url: "/v2/items", authorization: `Bearer ${token}` };
    expect(provider.received).toEqual([seen, seen]);
  });

  test("is reached over https with its certificate verified, for a name and for an address", async () => {
    await using provider = await listen(undefined, true);
    for (const host of ["127.0.0.1", "localhost"]) {
      const url = `https://${host}:${provider.port}`;
      expect(await ask(url)).toMatchObject({ code: "TLS_FAILED" });
      expect(await ask(url, { seams: { ca: authority.caPem } })).toBe(200);
    }
    expect(provider.received).toHaveLength(2);
  });

  test("is refused without that, whatever the operator's settings open", async () => {
    await using provider = await listen();
    for (const scheme of ["http", "https"])
      for (const host of ["127.0.0.1", "localhost", "[::1]"])
        for (const allowLocal of [undefined, false])
          expect(
            await ask(`${scheme}://${host}:${provider.port}`, { settings: everything, allowLocal }),
          ).toEqual({ code: "LOCAL_REFUSED" });
    expect(provider.received).toEqual([]);
  });

  test("leads nobody elsewhere by a redirect", async () => {
    await using other = await listen();
    let location = "";
    await using provider = await listen((_, response) =>
      response.writeHead(302, { location }).end(),
    );
    for (location of [
      `http://127.0.0.1:${other.port}/v2/items`,
      `http://localhost:${provider.port}/v2/items`,
      `https://127.0.0.1:${provider.port}/v2/items`,
      "https://api.example.com/v2/items",
      `//127.0.0.1:${other.port}/v2/items`,
      "http://169.254.169.254/v2/items",
      "/elsewhere",
    ])
      expect(await ask(`http://127.0.0.1:${provider.port}/v2`), location).toEqual({
        code: "REDIRECT_REFUSED",
      });
    expect(other.received).toEqual([]);
  });

  test.each([
    ["a public address", "93.184.215.14", "public"],
    ["a private one that the operator opened", "10.0.0.1", "private"],
    ["the unspecified address", "0.0.0.0", "unspecified"],
    ["the unspecified address of IPv6", "::", "unspecified"],
    ["a mapped loopback address", "::ffff:127.0.0.1", "ipv4-mapped"],
    ["the metadata service", "169.254.169.254", "metadata"],
  ])("is not reached where localhost resolves to %s", async (_, address, addressClass) => {
    await using provider = await listen();
    // One good address beside it changes nothing.
    for (const addresses of [[address], ["127.0.0.1", address]]) {
      const { resolve } = resolving(...addresses);
      const options = { settings: everything, seams: { resolve } };
      expect(await ask(`http://localhost:${provider.port}`, options)).toEqual({
        code: "ADDRESS_REFUSED",
        addressClass,
      });
    }
    expect(provider.received).toEqual([]);
  });
});

test("what stands in for a provider on this machine does so for no other, and opens no address", async () => {
  await using provider = await listen();
  const asked: string[] = [];
  const seams: NetworkSeams = {
    standIn: ({ pathname }) => new URL(`https://stand-in.example${pathname}`),
    resolve: async (host) => {
      asked.push(host);
      return [{ address: "127.0.0.1", family: 4 }];
    },
  };
  for (const baseUrl of [`http://127.0.0.1:${provider.port}/v2`, "https://api.example.com/v2"])
    for (const allowLocal of [true, false])
      expect(await ask(baseUrl, { seams, allowLocal })).toEqual({
        code: "ADDRESS_REFUSED",
        addressClass: "loopback",
      });
  expect([...new Set(asked)]).toEqual(["stand-in.example", "api.example.com"]);
  expect(provider.received).toEqual([]);
});

describe("where a provider on this machine is allowed, this machine stays closed to", () => {
  test("a declared name that resolves to loopback", async () => {
    await using provider = await listen(undefined, true);
    const { resolve, asked } = resolving("127.0.0.1");
    const url = `https://api.example.com:${provider.port}`;
    expect(await ask(url, { seams: { resolve, ca: authority.caPem } })).toEqual({
      code: "ADDRESS_REFUSED",
      addressClass: "loopback",
    });
    expect([asked, provider.received]).toEqual([["api.example.com"], []]);
  });

  test.each([
    ["an address in another spelling", "https://127.1", {}],
    ["an address in a template", "https://{a}.0.0.1", { a: "127" }],
    ["an address of IPv6 that means IPv4", "https://[::ffff:127.0.0.1]", {}],
    ["the unspecified address", "https://0.0.0.0", {}],
    ["a name in a template", "https://{a}", { a: "localhost" }],
    ["a port in a template", "https://localhost:{a}", { a: "443" }],
    ["http to a name", "http://api.example.com", {}],
  ])("%s", async (_, baseUrl, config) => {
    const { resolve, asked } = resolving("127.0.0.1");
    expect(await ask(baseUrl, { settings: everything, seams: { resolve } }, config)).toMatchObject({
      code: expect.stringMatching(/^(ADDRESS_REFUSED|BASE_URL_REFUSED|CONNECTOR_INVALID)$/),
    });
    expect(asked).toEqual([]);
  });

  test.each([
    "http://127.0.0.1:PORT/api",
    "http://localhost:PORT/api",
    "https://localhost/api",
  ])("the URL %s that a customer enters, also where the operator approved the host", async (text) => {
    await using provider = await listen();
    const base_url = text.replace("PORT", String(provider.port));
    const declared = approvedUrl("base_url", {
      pathEnd: "/api",
      approvedHosts: ["localhost", "127.0.0.1"],
    });
    expect(await ask(declared, { settings: everything }, { base_url })).toMatchObject({
      code: "BASE_URL_REFUSED",
    });
    expect(provider.received).toEqual([]);
  });

  test("a database, which the settings open or not as ever", async () => {
    const names = ["host", "port", "database", "username", "password", "sslMode"] as const;
    const fields = Object.fromEntries(names.map((name) => [name, name])) as Record<
      (typeof names)[number],
      string
    >;
    const broker = createPostgresBroker({
      declaration: postgres(fields),
      config: {
        ...{ host: "127.0.0.1", port: 5432, database: "a", username: "a" },
        ...{ password: token, sslMode: "disable" },
      },
      secrets: createSecretRegistry(),
      clock: systemClock,
      settings: { approvedHosts: [], allowNetworks: [] },
      allowLocal: true,
    });
    await expect(broker.connect(never)).rejects.toMatchObject({ code: "ADDRESS_REFUSED" });
    await broker.close();
  });
});
