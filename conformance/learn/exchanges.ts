/** Recorded interactions with the request's parameters and the answer as a JSON tree. */
import type { Answer } from "../contract/network.ts";
import type { Interaction, RecordedRequest, Recording } from "../contract/recording.ts";
import { readJson } from "./json.ts";
import { type Parameters, readParameters } from "./parameters.ts";

export interface RecordedExchange {
  readonly recording: string;
  /** Whether the run read from the beginning: such a run reads every listing to its end. */
  readonly isFullRead: boolean;
  readonly request: RecordedRequest;
  readonly method: string;
  readonly url: URL;
  readonly parameters: Parameters;
  readonly answer: Answer;
  /** The answer's body; undefined when it is no JSON. */
  readonly tree: unknown;
}

/** The exchanges of successful runs: failed ones saw wrong credentials or a broken provider. */
export function readExchanges(recordings: readonly Recording[]): RecordedExchange[] {
  return recordings
    .filter(({ outcome }) => outcome.status === "succeeded")
    .flatMap((recording) =>
      recording.interactions.map((one, index) => readExchange(recording, one, index)),
    );
}

function readExchange(
  recording: Recording,
  { request, response }: Interaction,
  index: number,
): RecordedExchange {
  const url = new URL(request.url);
  const body =
    response.body_base64 === undefined
      ? Buffer.from(response.body ?? "")
      : Buffer.from(response.body_base64, "base64");
  const { verb, state } = recording.run;
  return {
    recording: recording.name,
    isFullRead: verb === "read" && (state === undefined || state.length === 0),
    request,
    method: request.method,
    url,
    parameters: readParameters(url, request.body ?? "", request.headers),
    answer: {
      status: response.status,
      headers: response.headers,
      body,
      from: `${recording.name}#${index + 1}`,
    },
    tree: response.body === undefined ? undefined : readJson(response.body),
  };
}

export const isSuccess = ({ answer }: RecordedExchange) =>
  answer.status >= 200 && answer.status < 300;
