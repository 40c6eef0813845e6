import { fetch, ProxyAgent } from "undici";
import { expect, test } from "vitest";
import type { ConnectionFault, Provider, TransportFault } from "../contract/network.ts";
import { openFaultServer } from "./server.ts";

const url = "https://api.example.com/v1/notes";

/** A proxy on loopback, and a client that uses it as a program with HTTPS_PROXY does. */
async function open(runOptions: { fault?: TransportFault; connection?: ConnectionFault } = {}) {
  const { fault, connection } = runOptions;
  const provider: Provider = {
    answer: ({ url: { host } }) =>
      host === "api.example.com"
        ? {
            status: 200,
            headers: {},
            body: Buffer.from("true answer"),
            fault,
          }
        : { unmatched: `No recording holds ${host}.` },
    unused: () => [],
  };
  const server = await openFaultServer({
    provider,
    now: () => 7,
    connection: connection ? { fault: connection } : undefined,
    proxy: { host: "127.0.0.1", isTransparent: false },
  });
  const proxy = server.network.proxy ?? { url: "", ca: "" };
  const agent = new ProxyAgent({
    uri: proxy.url,
    requestTls: { ca: proxy.ca },
    connectTimeout: 300,
  });
  return {
    server,
    get: (
      target: string,
      init: { method?: string; body?: string; headers?: Record<string, string> } = {},
    ) => fetch(target, { ...init, dispatcher: agent }),
    async [Symbol.asyncDispose]() {
      await agent.destroy();
      await server[Symbol.asyncDispose]();
    },
  };
}

test("a request through the proxy is answered by the provider and stands in the ledger", async () => {
  await using run = await open();
  const answer = await run.get(url, {
    method: "POST",
    body: "hällo",
    headers: { authorization: "Bearer x" },
  });
  expect(await answer.text()).toBe("true answer");
  expect(run.server.exchanges).toMatchObject([
    {
      request: { method: "POST", body: "hällo", headers: { authorization: "Bearer x" } },
      atMs: 7,
      answer: { status: 200 },
    },
  ]);
  expect(run.server.exchanges[0]?.request.url.href).toBe(url);
  expect(run.server.dials).toEqual([{ host: "api.example.com", port: 443 }]);
});

test("any host gets a certificate that fits it, and none reaches a real network", async () => {
  await using run = await open();
  for (const target of [
    "https://evil.example.net:8443/x",
    "https://192.0.2.7/y",
    "https://[2001:db8::1]/z",
  ]) {
    expect((await run.get(target)).status).toBe(418);
  }
  expect(
    run.server.exchanges.map(({ request, unmatched }) => [request.url.href, unmatched]),
  ).toEqual([
    ["https://evil.example.net:8443/x", "No recording holds evil.example.net:8443."],
    ["https://192.0.2.7/y", "No recording holds 192.0.2.7."],
    ["https://[2001:db8::1]/z", "No recording holds [2001:db8::1]."],
  ]);
});

test("plain HTTP through the proxy fits no recording, whatever its host", async () => {
  await using run = await open();
  await run.get("http://api.example.com/v1/notes");
  expect(run.server.exchanges[0]?.unmatched).toBe(
    "The request to http://api.example.com was sent without TLS.",
  );
});

test("faults of answers reach who comes through the proxy", async () => {
  for (const fault of [{ type: "reset" }, { type: "truncate", bytes: 3 }] as const) {
    await using run = await open({ fault });
    await expect(run.get(url).then((answer) => answer.text())).rejects.toThrow();
    expect(run.server.exchanges).toHaveLength(1);
  }
});

const connectionFaults: readonly (readonly [ConnectionFault, RegExp])[] = [
  ["unknown-host", /502/],
  ["refused", /502/],
  ["expired-certificate", /CERT_HAS_EXPIRED|expired/],
  ["untrusted-certificate", /self.signed/i],
  ["wrong-host-certificate", /altnames/],
];
for (const [connection, expected] of connectionFaults) {
  test(`${connection} shows through the proxy, before there is a request`, async () => {
    await using run = await open({ connection });
    let error: unknown = await run.get(url).catch((reason: unknown) => reason);
    while (error instanceof Error && error.cause !== undefined) error = error.cause;
    expect(String(error)).toMatch(expected);
    expect(run.server.exchanges).toEqual([]);
  });
}

test("a proxy that cannot listen says where and what has to be so", async () => {
  const opened = openFaultServer({
    provider: { answer: () => ({ unmatched: "" }), unused: () => [] },
    now: () => 0,
    proxy: { host: "192.0.2.1", isTransparent: false },
  });
  await expect(opened).rejects.toThrow(
    "The proxy cannot listen on 192.0.2.1 (EADDRNOTAVAIL): the container runtime has to run on this machine.",
  );
});
