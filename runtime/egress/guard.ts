/**
 * The guard of the egress: the only code of the runtime that looks names up and opens sockets. It
 * classifies literals, every record of a name, and the peer of the finished connection. It reads no
 * proxy variables: through a proxy it would see the proxy's address only.
 */
import { lookup } from "node:dns/promises";
import { BlockList, connect as connectTcp, isIP, type Socket } from "node:net";
import {
  connect as connectTls,
  createSecureContext,
  getCACertificates,
  type SecureContext,
  type TLSSocket,
} from "node:tls";
import type { buildConnector } from "undici";
import { ConnectorError, toConnectorError } from "../contract/errors.ts";
import type { NetworkSeams, NetworkSettings } from "../contract/network.ts";
import { classifyAddress, isAllowedAddress } from "./address.ts";
import { connectFirst } from "./connect-first.ts";
import { toLookupError, toTlsError } from "./connection-errors.ts";

export interface GuardOptions {
  readonly settings: Pick<NetworkSettings, "allowNetworks">;
  readonly seams?: NetworkSeams | undefined;
  /**
   * "names-only" refuses IP literals, public ones too; "any" (default) classifies them;
   * "loopback-only" refuses every address but this machine's own, whatever the settings open.
   */
  readonly rule?: "names-only" | "any" | "loopback-only" | undefined;
}

export interface DialOptions extends GuardOptions {
  /** For look-up and connect together, and TLS where the guard does it. Default 10 s. */
  readonly connectTimeoutMs?: number | undefined;
}

export interface GuardedConnectOptions extends Omit<DialOptions, "rule"> {
  /** The one port that requests may go to: that of the declared base URL. Default 443. */
  readonly allowedPort?: number | undefined;
  /**
   * The provider is declared on this machine: http or https, to loopback addresses only. Default
   * false.
   */
  readonly isLocal?: boolean | undefined;
}

export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

const defaultConnectTimeoutMs = 10_000;
/** Time without traffic after which TCP probes the peer; undici's own value. */
const keepAliveDelayMs = 60_000;

/**
 * Every address of a host, all of them allowed. One that is not refuses the whole set: picking
 * among them would let a name try again.
 * @throws ADDRESS_REFUSED with the class · HOST_UNKNOWN · CONNECTION_FAILED when the name server
 * does not answer · CANCELLED
 */
export async function resolveGuarded(
  host: string,
  options: GuardOptions,
  signal: AbortSignal,
): Promise<readonly ResolvedAddress[]> {
  const { seams, rule = "any" } = options;
  if (signal.aborted) throw toConnectorError(signal.reason, "CANCELLED");
  const name = withoutBrackets(host);
  const isLiteral = isIP(name) !== 0;
  // The system's resolver reads 2130706433, 0x7f.1 and 127.1 as addresses; no name ends in a
  // number.
  if (isLiteral ? rule === "names-only" : /(?:^|\.)(?:\d+|0x[\da-f]*)\.?$/i.test(name))
    throw refused("literal");
  if (!isLiteral && !/^(?=.{1,254}$)[\w-]{1,63}(?:\.[\w-]{1,63})*\.?$/.test(name))
    throw new ConnectorError("HOST_UNKNOWN");

  const addresses = isLiteral
    ? [name]
    : await lookUp(name, seams?.resolve ?? resolveBySystem, signal);
  const notAllowed = addresses.find((address) => !isAllowed(address, options));
  if (notAllowed !== undefined) throw refused(classifyAddress(notAllowed));
  if (addresses.length === 0) throw new ConnectorError("HOST_UNKNOWN");
  return addresses.map((address) => ({ address, family: isIP(address) === 4 ? 4 : 6 }));
}

/**
 * An open TCP connection to an allowed address of the host. It carries a listener for "error", so
 * that it may be handed on.
 * @throws as {@link resolveGuarded} · CONNECTION_FAILED · PROVIDER_TIMEOUT (connect)
 */
export async function dialGuarded(
  { host, port }: { readonly host: string; readonly port: number },
  options: DialOptions,
  signal: AbortSignal,
): Promise<Socket> {
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new ConnectorError("CONFIG_INVALID", {
      path: "port",
      problem: "must be between 1 and 65535",
    });
  }
  using deadline = createDeadline(options.connectTimeoutMs, signal);
  const addresses = await resolveGuarded(host, options, deadline.signal);
  const dial = options.seams?.dial;
  const { socket, target } = await connectFirst(
    inTurns(addresses),
    ({ address, family }) =>
      dial ? dial({ host, address, port }) : connectTcp({ host: address, family, port }),
    deadline.signal,
  );
  // A seam leads to loopback by purpose; everything else must have arrived where it was sent, and
  // be allowed there.
  const peer = socket.remoteAddress ?? "";
  if (!dial && !(isSameAddress(peer, target) && isAllowed(peer, options))) {
    socket.destroy();
    throw peer === ""
      ? new ConnectorError("CONNECTION_FAILED", { reason: "reset" })
      : refused(classifyAddress(peer));
  }
  return socket.setNoDelay(true).setKeepAlive(true, keepAliveDelayMs);
}

const isAllowed = (address: string, { settings, rule }: GuardOptions): boolean =>
  rule === "loopback-only"
    ? classifyAddress(address) === "loopback"
    : isAllowedAddress(address, settings.allowNetworks);

/** The last one is kept: parsing the trusted roots takes longer than a handshake. */
let trusted: { readonly ca: string | undefined; readonly context: SecureContext } | undefined;

/** The certificates that a connection trusts: the usual roots, and `ca` (PEM) besides. */
function trusting(ca: string | undefined): SecureContext {
  if (!trusted || trusted.ca !== ca)
    trusted = {
      ca,
      context: createSecureContext(
        ca === undefined ? {} : { ca: [...getCACertificates("default"), ca] },
      ),
    };
  return trusted.context;
}

/**
 * A connector for `new Agent({ connect })` of undici: https to a name on the allowed port, over a
 * guarded connection, with the certificate always verified for that name; or what `isLocal` says.
 * Its callback gets a socket or a ConnectorError: ADDRESS_REFUSED, HOST_UNKNOWN, CONNECTION_FAILED,
 * TLS_FAILED, PROVIDER_TIMEOUT (connect); INTERNAL for a request that the runtime itself must never
 * make (another protocol or port, a socket path, another server name).
 */
export function createGuardedConnect(options: GuardedConnectOptions): buildConnector.connector {
  const { allowedPort = 443, isLocal = false, seams, connectTimeoutMs } = options;
  const secureContext = trusting(seams?.ca);

  async function connect(request: buildConnector.Options): Promise<Socket> {
    const { hostname, protocol, port, servername, socketPath, httpSocket } = request;
    const isPlain = isLocal && protocol === "http:";
    const isExpected =
      (isPlain || protocol === "https:") &&
      Number(port || (isPlain ? 80 : 443)) === allowedPort &&
      (!servername || servername === hostname) &&
      !socketPath &&
      !httpSocket;
    if (!isExpected) throw new ConnectorError("INTERNAL");
    using deadline = createDeadline(connectTimeoutMs);
    const dialOptions: DialOptions = { ...options, rule: isLocal ? "loopback-only" : "names-only" };
    const socket = await dialGuarded(
      { host: hostname, port: allowedPort },
      dialOptions,
      deadline.signal,
    );
    return isPlain ? socket : await secure(socket, hostname, deadline.signal);
  }

  function secure(socket: Socket, hostname: string, signal: AbortSignal): Promise<TLSSocket> {
    const secured = connectTls({
      socket,
      // No server name is an address (RFC 6066 section 3); the certificate is verified for it.
      ...(isIP(withoutBrackets(hostname)) === 0
        ? { servername: hostname }
        : { host: withoutBrackets(hostname) }),
      secureContext,
      ALPNProtocols: ["http/1.1"],
      // Said outright, so that NODE_TLS_REJECT_UNAUTHORIZED=0 changes nothing.
      rejectUnauthorized: true,
    });
    return new Promise((resolve, reject) => {
      const onFailure = (error: unknown) => {
        signal.removeEventListener("abort", onAbort);
        // First: destroying may report a second, less useful failure at once.
        reject(toTlsError(error));
        secured.destroy();
        socket.destroy();
      };
      const onAbort = () => onFailure(toConnectorError(signal.reason, "CANCELLED"));
      const onClose = () => onFailure(new ConnectorError("CONNECTION_FAILED", { reason: "reset" }));
      secured.on("error", onFailure); // Stays for good, as on the socket below.
      secured.once("close", onClose);
      secured.once("secureConnect", () => {
        signal.removeEventListener("abort", onAbort);
        secured.off("close", onClose);
        resolve(secured);
      });
      if (signal.aborted) onAbort();
      else signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  return (request, callback) => {
    connect(request).then(
      (socket) => callback(null, socket),
      (error: unknown) => callback(toConnectorError(error), null),
    );
  };
}

const withoutBrackets = (host: string) => host.replace(/^\[(.*)\]$/, "$1");

const refused = (addressClass: string) => new ConnectorError("ADDRESS_REFUSED", { addressClass });

const resolveBySystem = (name: string) => lookup(name, { all: true, order: "verbatim" });

/** The addresses of a name; a look-up cannot be stopped, so an abort leaves it to itself. */
async function lookUp(
  name: string,
  resolveName: (name: string) => Promise<readonly { readonly address: string }[]>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(toConnectorError(signal.reason, "CANCELLED"));
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    const records = await Promise.race([resolveName(name), aborted.promise]);
    return records.map(({ address }) => address);
  } catch (error) {
    throw toLookupError(error);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/**
 * IPv6 and IPv4 alternately, beginning with the family that the resolver put first (RFC 8305
 * section 4).
 */
function inTurns(addresses: readonly ResolvedAddress[]): readonly ResolvedAddress[] {
  const first = addresses.filter(({ family }) => family === addresses[0]?.family);
  const second = addresses.filter(({ family }) => family !== addresses[0]?.family);
  const length = Math.max(first.length, second.length);
  return Array.from({ length }, (_, index) => [first[index], second[index]])
    .flat()
    .filter((one) => one !== undefined);
}

function isSameAddress(peer: string, { address, family }: ResolvedAddress): boolean {
  const list = new BlockList();
  list.addAddress(address, `ipv${family}`);
  return isIP(peer) === family && list.check(peer, `ipv${family}`);
}

/**
 * Aborts with PROVIDER_TIMEOUT after the time, or with CANCELLED (or the ConnectorError given) when
 * `outer` aborts. Sockets live in real time, hence no clock.
 */
function createDeadline(
  timeoutMs = defaultConnectTimeoutMs,
  outer?: AbortSignal,
): { readonly signal: AbortSignal } & Disposable {
  const controller = new AbortController();
  const timer = setTimeout(
    () => controller.abort(new ConnectorError("PROVIDER_TIMEOUT", { phase: "connect" })),
    timeoutMs,
  );
  const onAbort = () => controller.abort(toConnectorError(outer?.reason, "CANCELLED"));
  if (outer?.aborted) onAbort();
  outer?.addEventListener("abort", onAbort, { once: true });
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      clearTimeout(timer);
      outer?.removeEventListener("abort", onAbort);
    },
  };
}
