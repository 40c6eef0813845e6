/**
 * The loopback fault server: a provider over real TLS, with everything that can go wrong between it
 * and a connector.
 */
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { openAuthority } from "svc-connectors/host";
import type { Exchange } from "../contract/network.ts";
import type { RunNetwork } from "../contract/target.ts";
import { type ConnectionTrouble, createDialling, type Dial, flawFor } from "./dialling.ts";
import { createLedger, type LedgerOptions } from "./ledger.ts";
import { createLoopbackFetch } from "./loopback-fetch.ts";
import { openProxy, type ProxyPlace } from "./proxy.ts";
import { createTermination } from "./terminate.ts";

export interface FaultServerOptions extends LedgerOptions {
  /** A fault of the connection, before there is a request. */
  readonly connection?: ConnectionTrouble | undefined;
  /** Opens the proxy too, for what runs in a container or process of its own. */
  readonly proxy?: ProxyPlace | undefined;
  /** A connection is asked for. */
  readonly onDial?: (() => void) | undefined;
}

/** The account of a run's network, from whichever transport. */
export interface NetworkAccount {
  /**
   * Every request, and every attempt to speak something else than HTTPS. Grows while the run goes
   * on.
   */
  readonly exchanges: readonly Exchange[];
  /** Names that were looked up, in order. */
  readonly lookups: readonly string[];
  /** Connections that were asked for, in order, to whatever host. */
  readonly dials: readonly Dial[];
  /**
   * Requests whose answer is still to come, without those that hang on purpose, and connections
   * that are being made.
   */
  inFlight(): number;
  /** Connections that are open now, idle ones included. */
  openConnections(): number;
  /**
   * Requests that are neither answered nor given up, after a moment for those that are being given
   * up.
   */
  openRequests(): Promise<number>;
}

export interface FaultServer extends NetworkAccount, AsyncDisposable {
  readonly network: RunNetwork;
}

/** Made anew for each run. Leads every host to itself: nothing reaches a real network. */
export async function openFaultServer(options: FaultServerOptions): Promise<FaultServer> {
  const { connection } = options;
  await using opening = new AsyncDisposableStack();
  const authority = await openAuthority();
  const ledger = createLedger(options);
  const termination = createTermination({
    authority,
    ledger,
    flawOf: (host) => flawFor(host, connection),
    isSingleUse: connection?.fault === "rebinding",
  });
  const server = createServer({ noDelay: true }, (socket) => {
    termination.accept(socket, () => dialling.targetOf(socket.remotePort));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  opening.defer(async () => {
    server.close();
    await once(server, "close");
  });
  opening.defer(termination.close);
  const dialling = createDialling(
    (server.address() as AddressInfo).port,
    connection,
    options.onDial,
  );
  const reach = opening.use(createLoopbackFetch(dialling, authority.caPem));
  const proxy = options.proxy
    ? opening.use(
        await openProxy(options.proxy, { ledger, termination, connection, note: dialling.note }),
      )
    : undefined;
  opening.defer(ledger.close);
  const open = opening.move();

  return {
    network: {
      seams: { resolve: dialling.resolve, dial: dialling.dial, ca: authority.caPem },
      fetch: reach.fetch,
      lookup: async (host) => (await dialling.resolve(host)).map(({ address }) => address),
      proxy: proxy && { url: proxy.url, ca: authority.caPem },
    },
    exchanges: ledger.exchanges,
    lookups: dialling.lookups,
    dials: dialling.dials,
    inFlight: () => ledger.inFlight() + termination.silentConnections(),
    openConnections: termination.openConnections,
    openRequests: ledger.openRequests,
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}
