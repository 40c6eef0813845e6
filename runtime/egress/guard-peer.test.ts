import { once } from "node:events";
import { type AddressInfo, createServer, type NetConnectOpts, type Socket } from "node:net";
import { expect, test, vi } from "vitest";
import { dialGuarded } from "./guard.ts";

// Real sockets, but every connect arrives at 127.0.0.1 whatever address it was given: a network
// that diverts connections.
const diverted: Socket[] = [];
vi.mock("node:net", async (importOriginal) => {
  const net = await importOriginal<typeof import("node:net")>();
  const connect = (options: NetConnectOpts) => {
    const socket = net.connect({ ...options, host: "127.0.0.1", family: 4 } as NetConnectOpts);
    diverted.push(socket);
    return socket;
  };
  return { ...net, connect };
});

test.each([
  ["that the operator did not open", ["10.0.0.0/8"]],
  ["that is allowed, but is not the one that was asked for", ["10.0.0.0/8", "127.0.0.0/8"]],
])("a connection that arrives at an address %s is destroyed", async (_, allowNetworks) => {
  const server = createServer((socket) => socket.resume()).listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const { port } = server.address() as AddressInfo;
    const dialling = dialGuarded(
      { host: "10.1.2.3", port },
      { settings: { allowNetworks } },
      new AbortController().signal,
    );
    await expect(dialling).rejects.toMatchObject({
      code: "ADDRESS_REFUSED",
      details: { addressClass: "loopback" },
    });
    expect(diverted.at(-1)?.destroyed).toBe(true);
  } finally {
    server.close();
  }
});
