import type { JsonObject } from "svc-connectors";
import { streamLabel } from "svc-connectors/host";
import type {
  Interaction,
  RecordedOutcome,
  RecordedRun,
  RecordingMetadata,
} from "../contract/recording.ts";
import { streamOracle } from "../fixtures/oracle.ts";
import { createStrictProvider } from "../replay/strict.ts";
import type { Capture } from "./captures.ts";
import { fillPlaceholders, fillTree, type Reveal } from "./placeholders.ts";
import { RecordingError } from "./recording-error.ts";
import type { RecordedSubject } from "./subject.ts";
import type { VerbRequest, VerbResult } from "./verbs.ts";

export interface OutcomeOptions {
  readonly subject: RecordedSubject;
  /** The right one: what was sent with another credential was made alike. */
  readonly config: JsonObject;
  readonly reveal: Reveal;
  /** Takes secrets out of a sentence. */
  readonly redact: (text: string) => string;
}

/** A recording before its outcome is known. */
export interface RecordingDraft {
  readonly name: string;
  readonly metadata: RecordingMetadata;
  readonly run: RecordedRun;
  readonly interactions: readonly Interaction[];
}

/**
 * Runs the verb once more, against the interactions that would be written: this shows at once that
 * the recording can be replayed, and its records are the oracle. (Those of the live run are not:
 * they hold real people.)
 * @throws RecordingError when the replay goes another way than the live run
 */
export async function outcomeOf(
  draft: RecordingDraft,
  capture: Capture,
  options: OutcomeOptions,
): Promise<RecordedOutcome> {
  const interactions = draft.interactions.map((one) => fillPlaceholders(one, options.reveal));
  const provider = createStrictProvider({
    ...draft,
    interactions,
    outcome: { status: "succeeded" },
  });
  const request: VerbRequest = {
    ...capture.request,
    config: options.config,
    state: draft.run.state && fillTree(draft.run.state, options.reveal),
  };
  const { result, exchanges } = await options.subject.replay(
    request,
    provider,
    capture.clockOriginMs,
  );

  const unmatched = exchanges.find((exchange) => exchange.unmatched !== undefined)?.unmatched;
  const problem =
    unmatched ??
    provider.unused()[0] ??
    difference(failureOf(capture.result), failureOf(result)) ??
    difference(capture.result.lines.length, result.lines.length);
  if (problem !== undefined)
    throw new RecordingError(
      `${draft.name} cannot be replayed: ${distinct(options.redact(problem))}. The connector's requests depend on more than its settings, its clock and the answers, or on a value that was replaced.`,
    );

  const { stream } = capture.request;
  if (!stream)
    return {
      status: result.error ? "failed" : "succeeded",
      ...(result.error?.code === undefined ? {} : { error: result.error.code }),
    };
  const primaryKey = stream.source_defined_primary_key.map(([field = ""]) => field);
  return {
    status: "succeeded",
    streams: { [streamLabel(stream)]: streamOracle(result.lines, primaryKey) },
  };
}

/** Of two values that redaction made alike, one is named. */
const distinct = (text: string) =>
  text.replaceAll(/(?<==)(\S+)(?= instead of \1(?:,|$))/g, "another value");

const failureOf = ({ error }: VerbResult) => error && (error.code ?? "a failure");

function difference(live: unknown, replayed: unknown): string | undefined {
  return live === replayed
    ? undefined
    : `it gave ${String(replayed ?? "no failure")} instead of ${String(live ?? "no failure")}`;
}
