import { STATUS_CODES } from "node:http";
import type {
  ErrorAnswer,
  ErrorAnswers,
  Interaction,
  RecordingMetadata,
} from "../contract/recording.ts";
import { bodyForm } from "../fixtures/body-form.ts";
import { applyEdits } from "./edits.ts";
import { jsonEdits } from "./json-text.ts";

/** The statuses that rules need of every provider. */
const wantedStatuses = [401, 403, 404, 429, 500];

/**
 * The provider's error answers: the first of each status that was recorded, the others made up
 * after the form of those.
 * @param interactions of all recordings, redacted
 */
export function toErrorAnswers(
  metadata: RecordingMetadata,
  interactions: readonly Interaction[],
): ErrorAnswers {
  const answers = new Map<number, ErrorAnswer>();
  for (const { response } of interactions) {
    const isError = response.status >= 400 && response.body !== undefined;
    if (isError && !answers.has(response.status))
      answers.set(response.status, withoutCounts(response));
  }
  const model = answers.get(401) ?? [...answers.values()][0] ?? plainAnswer;
  for (const status of wantedStatuses)
    if (!answers.has(status)) answers.set(status, madeUp(status, model));
  const sorted = [...answers].sort(([one], [other]) => one - other);
  return {
    metadata,
    answers: Object.fromEntries(sorted.map(([status, answer]) => [String(status), answer])),
  };
}

/** Where no error of the provider was seen: the form that most JSON APIs share. */
const plainAnswer: ErrorAnswer = {
  status: 401,
  headers: { "content-type": "application/json" },
  body: '{"error":{"code":"unauthorized","message":"Unauthorized"}}',
};

/** Header fields that count down a rate limit belong to the moment of the recording. */
function withoutCounts(response: ErrorAnswer): ErrorAnswer {
  const headers = Object.entries(response.headers).filter(([name]) => !/rate-?limit/.test(name));
  return { ...response, headers: Object.fromEntries(headers) };
}

function madeUp(status: number, model: ErrorAnswer): ErrorAnswer {
  const phrase = STATUS_CODES[status] ?? "Error";
  return {
    status,
    headers: status === 429 ? { ...model.headers, "retry-after": "1" } : model.headers,
    body:
      bodyForm(model.body ?? "") === "json"
        ? rephrased(model.body ?? "", model.status, status, phrase)
        : phrase,
    synthetic: true,
  };
}

/** Sentences become the status's own words, codes of words its name, the old status the new one. */
function rephrased(body: string, before: number, status: number, phrase: string): string {
  const edits = jsonEdits(body, ({ kind, text, path }) => {
    const name = String(path.findLast((part) => typeof part === "string") ?? "");
    const whole = (replacement: string) => [{ start: 0, end: text.length, text: replacement }];
    if (kind === "number") return text === String(before) ? whole(String(status)) : [];
    if (kind === "key" || text === "") return [];
    if (text === String(before)) return whole(String(status));
    if (/\s/.test(text) || /message|title|detail|description|reason/i.test(name))
      return whole(phrase);
    return /code|error|type|status/i.test(name) ? whole(inCaseOf(text, phrase)) : [];
  });
  return applyEdits(body, edits);
}

/**
 * "Too Many Requests" as "TOO_MANY_REQUESTS" or "too_many_requests", as the provider writes its
 * codes.
 */
function inCaseOf(code: string, phrase: string): string {
  const words = phrase.replaceAll(" ", "_");
  return code === code.toUpperCase() ? words.toUpperCase() : words.toLowerCase();
}
