import { createHost, createScaledClock } from "svc-connectors/host";
import { expect, test } from "vitest";
import type { ConnectionFault, Provider, TransportFault } from "../contract/network.ts";
import { openFaultServer } from "./server.ts";

const mailer = {
  name: "mailer",
  url: new URL("../../connectors/sources/mailer/index.ts", import.meta.url).href,
};
const config = {
  base_url: "https://acme.mailcoach.app/api",
  api_token: "a-token-of-the-kit-0123456789",
};

const emptyPage = {
  data: [],
  links: {},
  meta: { current_page: 1, last_page: 1, per_page: 1, total: 0 },
};

/** Only what never comes is waited for in vain: everything else ends by what happens. */
const impatient = {
  connectTimeoutMs: 300,
  headersTimeoutMs: 300,
  idleTimeoutMs: 300,
  totalTimeoutMs: 900,
};
const patient = {
  connectTimeoutMs: 60_000,
  headersTimeoutMs: 60_000,
  idleTimeoutMs: 60_000,
  totalTimeoutMs: 60_000,
};
const silent: readonly string[] = ["hang", "stall", "slow-loris", "connect-hang"];

/** The mailer's check against its provider. Waits take no time. */
async function check(runOptions: { fault?: TransportFault; connection?: ConnectionFault }) {
  const { fault, connection } = runOptions;
  const isSilent = silent.includes(fault?.type ?? connection ?? "");
  const provider: Provider = {
    answer: ({ url }) => ({
      status: 200,
      headers: { "content-type": "application/json" },
      body: Buffer.from(
        JSON.stringify(url.pathname === "/api/user" ? { data: { id: 1 } } : emptyPage),
      ),
      fault,
    }),
    unused: () => [],
  };
  await using server = await openFaultServer({
    provider,
    now: Date.now,
    connection: connection ? { fault: connection } : undefined,
  });
  await using host = createHost({
    sandbox: "inline",
    clock: createScaledClock(1_000_000),
    seams: server.network.seams,
    settings: { approvedHosts: ["acme.mailcoach.app"] },
    http: {
      ...(isSilent ? impatient : patient),
      maxAttempts: 2,
    },
  });
  const result = await host.check(mailer, config);
  const code = result.status === "failed" ? result.error.code : result.status;
  return { code, server };
}

test("an undisturbed check succeeds, with the declared credentials on the wire", async () => {
  const { code, server } = await check({});
  expect(code).toBe("succeeded");
  expect(server.exchanges[0]?.request.headers.authorization).toBe(`Bearer ${config.api_token}`);
});

const transportFaults: readonly (readonly [TransportFault, string])[] = [
  [{ type: "reset" }, "CONNECTION_FAILED"],
  [{ type: "truncate" }, "CONNECTION_FAILED"],
  [{ type: "content-length", offBy: 5 }, "CONNECTION_FAILED"],
  [{ type: "hang" }, "PROVIDER_TIMEOUT"],
  [{ type: "stall" }, "PROVIDER_TIMEOUT"],
  [{ type: "slow-loris", intervalMs: 200 }, "PROVIDER_TIMEOUT"],
  [{ type: "gzip-bomb", bytes: 2 ** 28 }, "RESPONSE_TOO_LARGE"],
  [{ type: "endless" }, "RESPONSE_TOO_LARGE"],
  [{ type: "chunks", bytes: 1 }, "succeeded"],
];
for (const [fault, code] of transportFaults) {
  test(`${fault.type}: the host's check says ${code}`, async () => {
    expect((await check({ fault })).code).toBe(code);
  });
}

const connectionFaults: readonly (readonly [ConnectionFault, string])[] = [
  ["unknown-host", "HOST_UNKNOWN"],
  ["refused", "CONNECTION_FAILED"],
  ["connect-hang", "PROVIDER_TIMEOUT"],
  ["expired-certificate", "TLS_FAILED"],
  ["untrusted-certificate", "TLS_FAILED"],
  ["wrong-host-certificate", "TLS_FAILED"],
  ["inside-address", "ADDRESS_REFUSED"],
  ["rebinding", "ADDRESS_REFUSED"],
];
for (const [connection, code] of connectionFaults) {
  test(`${connection}: the host's check says ${code}`, async () => {
    const { code: said, server } = await check({ connection });
    expect(said).toBe(code);
    expect(server.dials.filter(({ address }) => address === "127.0.0.1")).toEqual([]);
  });
}
