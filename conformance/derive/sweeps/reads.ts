/** Reads of one stream, as the rules about states make them. */
import type { JsonValue } from "svc-connectors";
import type { Lab, RunOptions, StreamFacts } from "../../contract/lab.ts";
import type { Provider } from "../../contract/network.ts";
import type { Observation } from "../../contract/observation.ts";
import type { Reporter } from "../../contract/rule.ts";
import { momentOf } from "../rows/moments.ts";
import { statesOf } from "../rows/rows.ts";

/** Streams whose interrupted reads can go on: incremental ones, and full refreshes that say so. */
export const resumableStreams = (lab: Lab) =>
  lab.streams.filter(
    ({ isIncremental, stream, recording }) =>
      recording && (isIncremental || stream.is_resumable === true),
  );

export const incrementalStreams = (lab: Lab) =>
  lab.streams.filter(({ isIncremental, recording }) => recording && isIncremental);

/** Names the incremental streams of which nothing could be tried, and why. */
export function reportUntried(
  lab: Lab,
  report: Reporter,
  tried: readonly StreamFacts[],
  why: string | ((stream: StreamFacts) => string),
): void {
  for (const stream of incrementalStreams(lab))
    if (!tried.includes(stream))
      report.untried(`${stream.label}: ${typeof why === "string" ? why : why(stream)}`);
}

export const noIncrementalStream = (lab: Lab) =>
  incrementalStreams(lab).length === 0 ? "no stream is incremental" : undefined;

export const syncModeOf = ({ isIncremental }: StreamFacts) =>
  isIncremental ? "incremental" : "full_refresh";

/**
 * Reads the stream from a state; from the beginning without one. Done once where nothing disturbs
 * it.
 */
export function readFrom(
  lab: Lab,
  stream: StreamFacts,
  state?: JsonValue,
  runOptions?: RunOptions,
): Promise<Observation> {
  // A copy: a connector that writes to it must not spoil what other rules know.
  const saved = state === undefined ? {} : { state: { [stream.label]: structuredClone(state) } };
  const command = lab.readCommand([stream], { syncMode: syncModeOf(stream), ...saved });
  return runOptions ? lab.run(command, runOptions) : lab.undisturbed(command);
}

/** The time at which reads begin. */
export const startOfReads = (lab: Lab): number =>
  lab.can("clock") ? Date.parse(lab.recordings[0]?.metadata.clock_origin ?? "") : Date.now();

/** A read from the beginning that nothing disturbs. */
export const undisturbed = (lab: Lab, stream: StreamFacts): Promise<Observation> =>
  readFrom(lab, stream);

export interface CutOff {
  /** The state that it is resumed from; undefined = from the beginning. */
  readonly state?: JsonValue | undefined;
  /** Messages that its consumer takes before it is gone. */
  readonly after: number;
  readonly runOptions?: RunOptions | undefined;
  /** The same read to its end, where it is known: needed with options. */
  readonly whole?: Observation | undefined;
}

/** A read whose consumer goes away. */
export async function cutOff(
  lab: Lab,
  stream: StreamFacts,
  { state, after, runOptions, whole }: CutOff,
): Promise<Observation> {
  if (whole && after >= whole.messages.length) return whole;
  if (!(await firstCutOff(lab, stream)))
    return await readFrom(lab, stream, state, { ...runOptions, stopAfter: after });
  const uncut = whole ?? (await readFrom(lab, stream, state, runOptions));
  return (await beginningOf(lab, stream, uncut, after)) ?? uncut;
}

/**
 * The read that this stream's whole one would be, were it cut off after so many messages. In a
 * sandbox nothing of a read goes on when its consumer has gone: where a first one has shown that it
 * is the beginning of the whole read, further ones are taken from theirs. Undefined where it must
 * be done to be known, and where the whole read has no more messages.
 */
export async function beginningOf(
  lab: Lab,
  stream: StreamFacts,
  whole: Observation,
  after: number,
): Promise<Observation | undefined> {
  const shown = await firstCutOff(lab, stream);
  const next = whole.messages[after];
  if (!shown || !next) return undefined;
  const messages = whole.messages.slice(0, after);
  return {
    ...shown,
    command: whole.command,
    messages,
    exchanges: whole.exchanges.slice(0, next.requestCount),
    recordCount: messages.filter(({ message }) => message.type === "RECORD").length,
  };
}

/** A read that was cut off in its middle; undefined where it tells nothing of others. Done once. */
const firstCutOff = (lab: Lab, stream: StreamFacts): Promise<Observation | undefined> =>
  lab.once(`cut off ${stream.label}`, async () => {
    if (!lab.can("isolation") || lab.database) return undefined;
    const { messages } = await undisturbed(lab, stream);
    const stopAfter = messages.length >> 1;
    const cut = await readFrom(lab, stream, undefined, { stopAfter });
    const isItsBeginning =
      cut.isStopped &&
      cut.messages.length === stopAfter &&
      cut.messages.every(({ line }, index) => line === messages[index]?.line);
    return isItsBeginning ? cut : undefined;
  });

/** The last state of a run; undefined when it wrote none. */
export const finalState = (
  observation: Observation,
  { label }: Pick<StreamFacts, "label">,
): JsonValue | undefined => statesOf(observation, label).at(-1)?.state;

export interface EndRead {
  readonly state: JsonValue;
  readonly observation: Observation;
}

/**
 * A read from the final state of an undisturbed one, over the same data. Undefined when that wrote
 * no state.
 */
export async function resumedAtEnd(lab: Lab, stream: StreamFacts): Promise<EndRead | undefined> {
  const state = finalState(await undisturbed(lab, stream), stream);
  return state === undefined
    ? undefined
    : { state, observation: await readFrom(lab, stream, state) };
}

/**
 * True when the stand-in for the provider could not answer all requests: what the run did then says
 * little about the connector.
 */
export const isBeyondRecordings = ({ exchanges }: Observation) =>
  exchanges.some(
    ({ answer, unmatched }) =>
      unmatched !== undefined ||
      (answer !== undefined && answer.status >= 400 && answer.status !== 429),
  );

export const stateText = (state: JsonValue | undefined) =>
  state === undefined ? "no state" : JSON.stringify(state);

/**
 * The learned provider, which refuses a value of a listing's filter that is neither a time nor a
 * number, as providers do.
 */
export function refusingProvider(lab: Lab): Provider {
  const truth = lab.learned.provider();
  const own = lab.answers?.answers["400"];
  return {
    answer(request) {
      const filter = lab.learned.listingOf(request)?.filter;
      const value =
        filter === undefined || filter.isInBody
          ? null
          : request.url.searchParams.get(filter.parameter);
      if (value === null || value === "" || momentOf(value) !== undefined)
        return truth.answer(request);
      return {
        status: 400,
        headers: { "content-type": "application/json", ...own?.headers },
        body: Buffer.from(
          own?.body ?? '{"error":{"code":"invalid","message":"The value is not valid."}}',
        ),
      };
    },
    unused: () => [],
  };
}
