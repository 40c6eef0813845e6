/** Reads of one stream, as the rules about states make them. */
import type { JsonValue } from "svc-connectors";
import type { Lab, RunOptions, StreamFacts } from "../../contract/lab.ts";
import type { Provider } from "../../contract/network.ts";
import type { Observation } from "../../contract/observation.ts";
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

export const noIncrementalStream = (lab: Lab) =>
  incrementalStreams(lab).length === 0 ? "no stream is incremental" : undefined;

export const syncModeOf = ({ isIncremental }: StreamFacts) =>
  isIncremental ? "incremental" : "full_refresh";

/** Reads the stream from a state; from the beginning without one. */
export function readFrom(
  lab: Lab,
  stream: StreamFacts,
  state?: JsonValue,
  runOptions?: RunOptions,
): Promise<Observation> {
  // A copy: a connector that writes to it must not spoil what other rules know.
  const saved = state === undefined ? {} : { state: { [stream.label]: structuredClone(state) } };
  return lab.run(lab.readCommand([stream], { syncMode: syncModeOf(stream), ...saved }), runOptions);
}

/** A read from the beginning that nothing disturbs. Done once. */
export const undisturbed = (lab: Lab, stream: StreamFacts): Promise<Observation> =>
  lab.once(`undisturbed ${stream.label}`, () => readFrom(lab, stream));

/** The last state of a run; undefined when it wrote none. */
export const finalState = (
  observation: Observation,
  { label }: StreamFacts,
): JsonValue | undefined => statesOf(observation, label).at(-1)?.state;

export interface EndRead {
  readonly state: JsonValue;
  readonly observation: Observation;
}

/**
 * A read from the final state of an undisturbed one, over the same data. Undefined when that wrote
 * no state. Done once.
 */
export const resumedAtEnd = (lab: Lab, stream: StreamFacts): Promise<EndRead | undefined> =>
  lab.once(`resumed at the end ${stream.label}`, async () => {
    const state = finalState(await undisturbed(lab, stream), stream);
    return state === undefined
      ? undefined
      : { state, observation: await readFrom(lab, stream, state) };
  });

/**
 * True when the stand-in for the provider could not answer all requests: what the run did then says
 * little about the connector.
 */
export const isBeyondRecordings = ({ exchanges }: Observation) =>
  exchanges.some(
    ({ answer, unmatched }) =>
      unmatched !== undefined || (answer !== undefined && answer.status >= 400),
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
