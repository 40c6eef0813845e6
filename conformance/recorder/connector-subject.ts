import type { Clock } from "svc-connectors";
import type { ConnectorReference, Host, HostOptions, SeenExchange } from "svc-connectors/host";
import { createVirtualClock } from "../replay/clock.ts";
import { type OpenNetwork, openReplay } from "../replay/network.ts";
import type { RecordedSubject } from "./subject.ts";
import { runVerb } from "./verbs.ts";

export interface ConnectorSubjectOptions {
  readonly connector: ConnectorReference;
  readonly host: HostOptions;
  readonly createHost: (options: HostOptions) => Host | Promise<Host>;
  /** A clock for each verb. */
  readonly createClock: () => Clock;
  readonly signal?: AbortSignal | undefined;
}

/** A connector of svc, in a host of its own for each verb. */
export function createConnectorSubject(options: ConnectorSubjectOptions): RecordedSubject {
  const { connector, host, createHost, createClock, signal } = options;
  return {
    async published() {
      await using opened = await createHost(host);
      return await opened.spec(connector);
    },
    async run(request, allowance, tokens) {
      const clock = createClock();
      const exchanges: SeenExchange[] = [];
      const seams = {
        ...host.seams,
        observe(exchange: SeenExchange) {
          exchanges.push(exchange);
          allowance.take(exchange);
        },
      };
      const clockOriginMs = clock.now();
      await using opened = await createHost({
        ...host,
        clock,
        seams,
        tokens: tokens && (() => tokens),
      });
      const either = AbortSignal.any([allowance.signal, ...(signal ? [signal] : [])]);
      const result = await runVerb(opened, connector, request, { signal: either });
      return {
        result,
        clockOriginMs,
        exchanges: exchanges.sort((one, other) => one.index - other.index),
      };
    },
    async replay(request, provider, clockOriginMs) {
      let network: OpenNetwork | undefined;
      const clock = createVirtualClock(clockOriginMs, () =>
        network?.inFlight() === 0 ? network.exchanges.length : undefined,
      );
      network = openReplay({
        provider,
        now: () => clock.now(),
        isInside: host.sandbox === "inline",
      });
      await using replay = network;
      await using opened = await createHost({ ...host, clock, seams: replay.network.seams });
      const result = await runVerb(opened, connector, request);
      clock.end();
      return { result, exchanges: replay.exchanges };
    },
    async [Symbol.asyncDispose]() {},
  };
}
