/**
 * The way from a connector to the loopback server: names, connections and what goes wrong with
 * them.
 */
import { connect, Socket } from "node:net";
import type { CertificateFlaw, NetworkSeams } from "svc-connectors/host";
import { type ConnectionFault, publicAddress } from "../contract/network.ts";
import type { Endpoint } from "./terminate.ts";

export interface ConnectionTrouble {
  readonly fault: ConnectionFault;
  /** Default: every host. */
  readonly host?: string | undefined;
}

/** A connection that was asked for; `address` is missing where a proxy was asked by name. */
export interface Dial extends Endpoint {
  readonly address?: string | undefined;
}

/** Where names lead that should not; connections to public addresses end there too. */
export const insideAddress = "127.0.0.1";

/** tcpmux (RFC 1078): nobody has listened there for decades. */
const closedPort = 1;

export interface Dialling {
  readonly resolve: Required<NetworkSeams>["resolve"];
  readonly dial: Required<NetworkSeams>["dial"];
  /** The endpoint that the client of this port wanted to reach. */
  targetOf(clientPort: number | undefined): Endpoint | undefined;
  /** Enters a connection that was asked for elsewhere. */
  note(dial: Dial): void;
  /** Every name that was looked up, in order. */
  readonly lookups: readonly string[];
  readonly dials: readonly Dial[];
}

/** Leads every name to the loopback port. */
export function createDialling(
  port: number,
  trouble: ConnectionTrouble | undefined,
  onDial?: () => void,
): Dialling {
  const lookups: string[] = [];
  const dials: Dial[] = [];
  const targets = new Map<number, Endpoint>();
  const note = (dial: Dial) => {
    dials.push(dial);
    onDial?.();
  };
  return {
    lookups,
    dials,
    note,
    targetOf: (clientPort = 0) => targets.get(clientPort),
    async resolve(host) {
      lookups.push(host);
      const fault = faultFor(host, trouble);
      if (fault === "unknown-host") throw unknownHost(host);
      const isAgain = lookups.indexOf(host) < lookups.length - 1;
      const isInside = fault === "inside-address" || (fault === "rebinding" && isAgain);
      return [{ address: isInside ? insideAddress : publicAddress, family: 4 }];
    },
    dial({ host, address, port: asked }) {
      note({ host, address, port: asked });
      const fault = faultFor(host, trouble);
      // Never connected: as when no packet comes back.
      if (fault === "connect-hang") return new Socket();
      if (fault === "refused") return connect(closedPort, "127.0.0.1");
      const socket = connect({ port, host: "127.0.0.1", noDelay: true });
      socket.once("connect", () => {
        const clientPort = socket.localPort ?? 0;
        targets.set(clientPort, { host, port: asked });
        socket.once("close", () => targets.delete(clientPort));
      });
      return socket;
    },
  };
}

/** The fault that stands in the way of connections to this host. */
export function faultFor(
  host: string,
  trouble: ConnectionTrouble | undefined,
): ConnectionFault | undefined {
  const isMeant =
    trouble !== undefined && (trouble.host ?? host).toLowerCase() === host.toLowerCase();
  return isMeant ? trouble.fault : undefined;
}

const flaws: Partial<Record<ConnectionFault, CertificateFlaw>> = {
  "expired-certificate": "expired",
  "untrusted-certificate": "untrusted",
  "wrong-host-certificate": "wrong-host",
};

export function flawFor(host: string, trouble: ConnectionTrouble | undefined): CertificateFlaw {
  const fault = faultFor(host, trouble);
  return (fault && flaws[fault]) ?? "none";
}

export const unknownHost = (host: string) =>
  Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), {
    code: "ENOTFOUND",
    syscall: "getaddrinfo",
    hostname: host,
  });
