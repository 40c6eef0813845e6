/** One run of a connector, and everything that can be seen of it. */

import type { RunOptions } from "../contract/lab.ts";
import type { Provider, ProviderRequest } from "../contract/network.ts";
import type {
  Access,
  Command,
  Failure,
  Given,
  Message,
  Observation,
  ObservedMessage,
  Outcome,
  RunProgress,
  TokenSave,
} from "../contract/observation.ts";
import type { Ending, Target } from "../contract/target.ts";
import { openDatabaseNetwork } from "../faults/database.ts";
import { openFaultServer } from "../faults/server.ts";
import { watchAccess } from "../replay/access.ts";
import { createCancellation } from "../replay/cancel.ts";
import { createVirtualClock } from "../replay/clock.ts";
import { type OpenNetwork, openReplay } from "../replay/network.ts";
import { watchOutput } from "../replay/output.ts";
import { watchProcess } from "../replay/watch.ts";
import { classify } from "../target/classes.ts";

/** Real time after which a run is taken to hang. */
const defaultDeadlineMs = 30_000;
/**
 * For runs against the fault server: long enough for a loaded machine, short enough for a sweep.
 */
const serverTimeouts = { connectMs: 2_000, headersMs: 2_000, idleMs: 2_000, totalMs: 6_000 };
/** A connector that has sent no request for this long has come to rest. */
const restMs = 250;

export interface ConnectorRunOptions extends RunOptions {
  readonly provider: Provider;
  /** The clock's time at the start; ms. */
  readonly startMs: number;
  /** Where the database listens that stands in for the provider. */
  readonly databaseServer?: { readonly host: string; readonly port: number } | undefined;
}

/** Runs the command to its end, or until its deadline. Throws only when the kit itself fails. */
export async function runConnector(
  target: Target,
  command: Command,
  options: ConnectorRunOptions,
): Promise<Observation> {
  const {
    provider,
    startMs,
    clockShiftMs = 0,
    environment = {},
    cancel,
    stopAfter,
    stallAfter,
  } = options;
  const isServer =
    target.proxy !== undefined ||
    options.transport === "server" ||
    options.connection !== undefined;
  let network: OpenNetwork | undefined;
  const requestCount = () => network?.requestCount?.() ?? network?.exchanges.length ?? 0;
  const isAtWork = () =>
    network?.inFlight() !== 0 || cancellation.isPending || options.isBusy?.() === true;
  const atRest = () => (isAtWork() ? undefined : requestCount());
  const clock = createVirtualClock(startMs + clockShiftMs, atRest);
  const messages: ObservedMessage[] = [];
  const strayOutput: string[] = [];
  const given: Given[] = [];
  let messageCount = 0;
  let recordCount = 0;
  const progress = (): RunProgress => ({ messageCount, requestCount: requestCount() });
  const cancellation = createCancellation(cancel, progress, () => clock.now());
  let stalledAt: RunProgress | undefined;
  let isStopped = false;
  let isSlowed = false;
  const tokenSaves: TokenSave[] = [];

  clock.onWait = () => cancellation.onWait(atRest());

  const write = async (line: string) => {
    if (stallAfter !== undefined && messageCount >= stallAfter && !stalledAt) {
      await rest(requestCount);
      stalledAt = progress();
    }
    if (isStopped || (stopAfter !== undefined && messageCount >= stopAfter)) {
      isStopped = true;
      throw new Error("the consumer has gone");
    }
    const message = parseMessage(line);
    if (!message) return void strayOutput.push(line);
    messageCount++;
    if (message.type === "RECORD") recordCount++;
    if (options.isBrief && message.type === "STATE" && messages.at(-1)?.message.type === "STATE")
      messages.pop();
    if (!options.isBrief || message.type !== "RECORD")
      messages.push({ message, line, requestCount: requestCount(), atMs: clock.now() });
    const { slow } = options;
    if (
      slow &&
      !isSlowed &&
      (slow.at === "record" ? message.type === "RECORD" : messageCount > slow.at)
    ) {
      isSlowed = true;
      clock.pass(slow.ms);
    }
    cancellation.onMessage(messageCount);
    await options.onMessage?.(message, messageCount);
  };

  const networkOptions = {
    provider,
    now: () => clock.now(),
    pass: (ms: number) => clock.advance(ms),
    isBrief: options.isBrief ?? false,
    onDial: () => cancellation.onDial(),
    onRequest: (request: ProviderRequest) => {
      cancellation.onRequest(request.index);
      return options.onRequest?.(request);
    },
  };
  network = options.databaseServer
    ? await openDatabaseNetwork({
        ...networkOptions,
        server: options.databaseServer,
        onQuery: cancellation.onRequest,
        database: options.database?.on?.name,
        fault: options.database?.fault,
        connection: options.connection,
      })
    : isServer
      ? await openFaultServer({
          ...networkOptions,
          connection: options.connection,
          proxy: target.proxy,
        })
      : openReplay(networkOptions);
  using output = watchOutput(target.abilities.has("inside"));
  const watch = watchProcess(target.abilities.has("inside"), environment);
  const files = target.sources.flatMap(({ file }) => file ?? []);
  const access =
    options.watchAccess && target.abilities.has("inside") ? watchAccess(new Set(files)) : undefined;
  let accesses: readonly Access[] | undefined;
  const timeouts =
    options.timeouts ?? (isServer && !options.databaseServer ? serverTimeouts : undefined);
  let ending: Ending;
  let settledAfterMs: number | undefined;
  try {
    ending = await withDeadline(
      output.during(() =>
        target.run(command, {
          clock,
          network: network.network,
          write,
          signal: cancellation.signal,
          environment,
          onTokenSaved: (refreshToken) =>
            void tokenSaves.push({
              refreshToken,
              atMs: clock.now(),
              requestCount: progress().requestCount,
            }),
          timeouts,
          onGiven: options.keepsGiven ? (one) => void given.push(one) : undefined,
        }),
      ),
      options.deadlineMs ?? defaultDeadlineMs,
      cancellation.abort,
    );
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
  const seen = watch.stop();
  return {
    command,
    messages,
    outcome: toOutcome(command, messages, ending, cancellation.at !== undefined),
    exchanges: network.exchanges,
    recordCount,
    unused: provider.unused(),
    traces: {
      // A program's standard output is its protocol; what a svc connector prints, its worker only
      // logs.
      strayOutput:
        target.kind === "program"
          ? [...strayOutput, ...output.out.split("\n").filter((line) => line !== "")]
          : strayOutput,
      errorOutput: `${ending.errorOutput ?? ""}${target.kind === "program" ? "" : output.out}${output.error}`,
      waits: clock.waits,
      accidents: seen.accidents,
      denied: ending.denied ?? [],
      redactions: ending.redactions ?? [],
      artefacts: ending.artefacts ?? [],
      openConnections,
      openRequests,
      leftHandles: seen.leftHandles,
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

/** Resolves when the count has not changed for a while; after some rounds in any case. */
async function rest(count: () => number): Promise<void> {
  for (let round = 0, before = -1; round < 20; round++) {
    const now = count();
    if (now === before) return;
    before = now;
    await new Promise((resolve) => setTimeout(resolve, restMs));
  }
}

async function withDeadline(
  work: Promise<Ending>,
  deadlineMs: number,
  end: () => void,
): Promise<Ending> {
  const late = Promise.withResolvers<Ending>();
  const timer = setTimeout(() => {
    end();
    late.resolve({ exitCode: 1, isHung: true });
  }, deadlineMs);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

const messageTypes = new Set([
  "SPEC",
  "CONNECTION_STATUS",
  "CATALOG",
  "RECORD",
  "STATE",
  "LOG",
  "TRACE",
  "CONTROL",
]);

/** A line of the protocol; undefined for anything else. */
function parseMessage(line: string): Message | undefined {
  try {
    const value = JSON.parse(line) as { type?: unknown };
    return typeof value === "object" && messageTypes.has(String(value?.type))
      ? (value as Message)
      : undefined;
  } catch {
    return undefined;
  }
}

function toOutcome(
  command: Command,
  messages: readonly ObservedMessage[],
  ending: Ending,
  isCancelled: boolean,
): Outcome {
  const failures = messages.flatMap(({ message }) => toFailure(message));
  const status = messages
    .flatMap(({ message }) =>
      message.type === "CONNECTION_STATUS" ? [message.connectionStatus] : [],
    )
    .at(-1);
  if (status?.status === "FAILED" && failures.length === 0)
    failures.push({ ...classify(undefined, undefined), message: status.message ?? "" });
  if (ending.isHung) return { status: "hung", failures };
  if (ending.isCrashed) return { status: isCancelled ? "cancelled" : "crashed", failures };
  const isFailed = ending.exitCode !== 0 || failures.length > 0 || hasIncompleteStream(messages);
  if (isCancelled && isFailed) return { status: "cancelled", failures };
  const isSilent = command.verb !== "read" && ending.exitCode !== 0 && failures.length === 0;
  return { status: isSilent ? "crashed" : isFailed ? "failed" : "succeeded", failures };
}

function toFailure(message: Message): Failure[] {
  if (message.type !== "TRACE" || message.trace.type !== "ERROR") return [];
  const {
    message: text = "",
    failure_type,
    internal_message,
    stream_descriptor,
  } = message.trace.error ?? {};
  const { name, namespace } = stream_descriptor ?? {};
  const stream = name === undefined ? {} : { stream: namespace ? `${namespace}.${name}` : name };
  return [{ ...classify(failure_type, internal_message), message: text, ...stream }];
}

function hasIncompleteStream(messages: readonly ObservedMessage[]): boolean {
  return messages.some(
    ({ message }) =>
      message.type === "TRACE" && message.trace.stream_status?.status === "INCOMPLETE",
  );
}
