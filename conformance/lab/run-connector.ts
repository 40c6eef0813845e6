/** One run of a connector, and everything that can be seen of it. */

import type { DatabaseAddress } from "../contract/database-kind.ts";
import type { RunOptions } from "../contract/lab.ts";
import type { Provider } from "../contract/network.ts";
import type {
  Command,
  Given,
  Observation,
  RunProgress,
  TokenSave,
  Traces,
} from "../contract/observation.ts";
import type { Ending, Target, World } from "../contract/target.ts";
import { openDatabaseNetwork } from "../faults/database.ts";
import { openFaultServer } from "../faults/server.ts";
import { watchAccess } from "../replay/access.ts";
import { type Cancellation, createCancellation } from "../replay/cancel.ts";
import { createVirtualClock, type VirtualClock } from "../replay/clock.ts";
import { type OpenNetwork, openReplay } from "../replay/network.ts";
import { watchOutput } from "../replay/output.ts";
import { watchProcess } from "../replay/watch.ts";
import { createConsumer } from "./consumer.ts";
import { toOutcome } from "./outcome.ts";
import { createPace, type Pace } from "./pace.ts";
import { createPlaces, type Places } from "./places.ts";

/** Real time after which a run is taken to hang. */
const defaultDeadlineMs = 30_000;
/**
 * For runs against the fault server: long enough for a loaded machine, short enough for a sweep.
 */
const serverTimeouts = { connectMs: 2_000, headersMs: 2_000, idleMs: 2_000, totalMs: 6_000 };
export interface ConnectorRunOptions extends RunOptions {
  readonly provider: Provider;
  /** The clock's time at the start; ms. */
  readonly startMs: number;
  /** Where the database listens that stands in for the provider. */
  readonly databaseServer?: DatabaseAddress | undefined;
  /** Ends the run as its deadline would. */
  readonly signal?: AbortSignal | undefined;
  /** The pace of the target as measured. Default: none. */
  readonly pace?: Pace | undefined;
}

/**
 * Runs the command to its end, or until its deadline, which grows with what the target needs on
 * this machine. Throws only when the kit itself fails.
 */
export async function runConnector(
  target: Target,
  command: Command,
  options: ConnectorRunOptions,
): Promise<Observation> {
  const { provider, clockShiftMs = 0, environment = {} } = options;
  const isInside = target.abilities.has("inside");
  const isServer = reachesServer(target, options);
  let network: OpenNetwork | undefined;
  const requestCount = () => network?.requestCount?.() ?? network?.exchanges.length ?? 0;
  const isAtWork = () =>
    network?.inFlight() !== 0 || cancellation.isPending || options.isBusy?.() === true;
  const atRest = () => (isAtWork() ? undefined : requestCount());
  const started = Promise.withResolvers<void>();
  const clock = createVirtualClock(options.startMs + clockShiftMs, atRest);
  const consumer = createConsumer(options, clock, requestCount, (count) =>
    cancellation.onMessage(count),
  );
  const progress = (): RunProgress => ({
    messageCount: consumer.messageCount,
    requestCount: requestCount(),
  });
  const cancellation = createCancellation(options.cancel, progress, () => clock.now());
  clock.onWait = () => cancellation.onWait(atRest());
  const places = createPlaces();
  network = await openNetwork(target, options, clock, cancellation, places, started.resolve);

  const given: Given[] = [];
  const tokenSaves: TokenSave[] = [];
  using output = watchOutput(isInside);
  const watch = watchProcess(isInside, environment);
  const files = target.sources.flatMap(({ file }) => file ?? []);
  const access = options.watchAccess && isInside ? watchAccess(new Set(files)) : undefined;
  let accesses: Traces["accesses"];
  let ending: Ending;
  let settledAfterMs: number | undefined;
  try {
    const world = {
      clock,
      network: {
        ...network.network,
        fetch: places.watching(network.network.fetch, files),
      },
      write(line: string) {
        started.resolve();
        return consumer.write(line);
      },
      signal: cancellation.signal,
      mayBeCancelled: options.cancel !== undefined,
      environment,
      onTokenSaved: (refreshToken: string | undefined) =>
        void tokenSaves.push({ refreshToken, atMs: clock.now(), requestCount: requestCount() }),
      timeouts:
        options.timeouts ?? (isServer && !options.databaseServer ? serverTimeouts : undefined),
      onCall: places.onCall,
      onGiven: options.keepsGiven ? (one: Given) => void given.push(one) : undefined,
    };
    const { pace = createPace(target.kind), deadlineMs: limitMs = defaultDeadlineMs } = options;
    const work = output.during(() => target.run(command, world));
    const probe = () => target.run({ verb: "spec" }, probeWorld(world));
    const isProbed = (target.runsAtOnce ?? 1) > 1;
    const ended = await pace.within({
      work: orAborted(work, options.signal),
      started: started.promise,
      limitMs,
      probe: isProbed ? probe : undefined,
    });
    if (!ended) cancellation.abort();
    ending = ended ?? hung;
    settledAfterMs = cancellation.sinceMs();
  } finally {
    accesses = access?.stop();
    clock.end();
    cancellation.end();
    await watch.settle();
  }
  const openRequests = await network.openRequests?.();
  const openConnections = network.openConnections();
  await network[Symbol.asyncDispose]();
  await watch.settle();
  const { accidents, leftHandles } = watch.stop();
  const { messages, recordCount, isStopped, stalledAt } = consumer;
  return {
    command,
    messages,
    outcome: toOutcome(command, messages, ending, cancellation.at !== undefined),
    exchanges: places.named(network.exchanges),
    recordCount,
    unused: provider.unused(),
    traces: {
      ...printed(target, ending, consumer.strayOutput, output),
      waits: clock.waits,
      accidents,
      denied: ending.denied ?? [],
      redactions: ending.redactions ?? [],
      artefacts: ending.artefacts ?? [],
      openConnections,
      openRequests,
      leftHandles,
      settledAfterMs,
      peakBytes: ending.peakBytes,
      accesses,
      tokenSaves,
      lookups: network.lookups ?? [],
      dials: network.dials ?? [],
      queries: network.queries ?? [],
    },
    given,
    isStopped,
    cancelledAt: cancellation.at,
    stalledAt,
  };
}

/** True when the run's requests reach the loopback fault server, not the replay. */
const reachesServer = (target: Target, { transport, connection }: RunOptions) =>
  target.proxy !== undefined || transport === "server" || connection !== undefined;

function openNetwork(
  target: Target,
  options: ConnectorRunOptions,
  clock: VirtualClock,
  cancellation: Cancellation,
  places: Places,
  onSign: () => void,
): OpenNetwork | Promise<OpenNetwork> {
  const { databaseServer: server, connection } = options;
  const common: Parameters<typeof openFaultServer>[0] = {
    provider: options.provider,
    now: () => clock.now(),
    pass: (ms) => clock.advance(ms),
    isBrief: options.isBrief ?? false,
    onDial() {
      onSign();
      cancellation.onDial();
    },
    onRequest: (request) => {
      onSign();
      places.onRequest(request);
      cancellation.onRequest(request.index);
      return options.onRequest?.(request);
    },
  };
  if (server) {
    const { on, fault, onQuery: onOwnQuery } = options.database ?? {};
    const onQuery = (index: number) => {
      cancellation.onRequest(index);
      return onOwnQuery?.(index);
    };
    return openDatabaseNetwork({
      ...common,
      server,
      onQuery,
      database: on?.name,
      fault,
      connection,
    });
  }
  return reachesServer(target, options)
    ? openFaultServer({ ...common, connection, proxy: target.proxy })
    : openReplay({ ...common, isInside: target.abilities.has("inside") });
}

/** Output beside messages, by the channel of the target that it came out of. */
function printed(
  { kind }: Target,
  { errorOutput = "" }: Ending,
  strayOutput: readonly string[],
  { out, error }: { readonly out: string; readonly error: string },
): Pick<Traces, "strayOutput" | "errorOutput"> {
  // A program's standard output is its protocol; what a svc connector prints, its worker only logs.
  return kind === "program"
    ? {
        strayOutput: [...strayOutput, ...out.split("\n").filter((line) => line !== "")],
        errorOutput: errorOutput + error,
      }
    : { strayOutput, errorOutput: errorOutput + out + error };
}

const hung: Ending = { exitCode: 1, isHung: true };

/** A run that nobody listens to, in the form of the target's first one. */
const probeWorld = (world: World): World => ({
  ...world,
  write: async () => undefined,
  signal: new AbortController().signal,
  mayBeCancelled: true,
  environment: {},
  onCall: undefined,
  onGiven: undefined,
  onTokenSaved: undefined,
});

async function orAborted(work: Promise<Ending>, signal: AbortSignal | undefined): Promise<Ending> {
  if (!signal) return await work;
  const aborted = Promise.withResolvers<Ending>();
  const stop = () => aborted.resolve(hung);
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
