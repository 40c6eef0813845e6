import { connect, Socket } from "node:net";
import type { NetworkSeams } from "svc-connectors/host";

/** Names that lead to loopback: plain data, so that another process can have the same network. */
export interface Network {
  /** PEM of the authority that has issued everybody's certificate. */
  readonly ca: string;
  /** Ports on 127.0.0.1 by host name. */
  readonly ports: Readonly<Record<string, number>>;
}

/** A name that the service looks up, or an address that it dials. */
export type NetworkEvent =
  | { readonly type: "lookup"; readonly host: string; readonly atMs: number }
  | {
      readonly type: "connection";
      readonly host: string;
      readonly port: number;
      readonly atMs: number;
    };

/** A public address that all names seem to have. */
const publicAddress = { address: "93.184.215.14", family: 4 } as const;

/**
 * Seams that lead the egress to the simulators. A name that no simulator has stays unknown; nothing
 * leaves the machine.
 */
export function createSeams(
  { ca, ports }: Network,
  onEvent: (event: NetworkEvent) => void,
): NetworkSeams {
  const portOf = (host: string) => ports[host.toLowerCase()];
  return {
    ca,
    async resolve(host) {
      onEvent({ type: "lookup", host, atMs: Date.now() });
      return portOf(host) === undefined ? [] : [publicAddress];
    },
    dial({ host, port }) {
      onEvent({ type: "connection", host, port, atMs: Date.now() });
      const actual = portOf(host);
      if (actual === undefined) return new Socket().destroy(new Error("nobody answers there"));
      return connect({ port: actual, host: "127.0.0.1", noDelay: true });
    },
  };
}
