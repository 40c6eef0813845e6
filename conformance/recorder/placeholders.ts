/**
 * Puts real values in the place of a recording's placeholders, so that it can be tried before it is
 * written: `{{secret:<config path>}}` stands for those of the configuration, `{{issued:<name>}}`
 * for those that the provider gave out.
 */
import type { Interaction, RecordedResponse } from "../contract/recording.ts";
import { bodyForm, formEncode } from "../fixtures/body-form.ts";

/** Gives the real value of a placeholder. */
export type Reveal = (placeholder: string) => string;

/** Also finds text of this form that a provider's data holds by chance. */
export const placeholderPattern = /\{\{(?:secret|issued):[^{}\s"\\]+\}\}/g;

/**
 * The interaction with a value in place of each placeholder, encoded for where it stands:
 * percent-encoded in a URL, escaped in JSON, form-encoded in a form.
 */
export function fillPlaceholders({ request, response }: Interaction, reveal: Reveal): Interaction {
  return {
    request: {
      ...request,
      url: fill(request.url, reveal, encodeURIComponent),
      ...(request.headers ? { headers: fillAll(request.headers, reveal) } : {}),
      ...(request.body === undefined ? {} : { body: fillBody(request.body, reveal) }),
    },
    response: fillResponse(response, reveal),
  };
}

/** A state, or another JSON tree, with a value in place of each placeholder. */
export const fillTree = <T>(tree: T, reveal: Reveal): T =>
  JSON.parse(fillBody(JSON.stringify(tree), reveal)) as T;

function fillResponse(response: RecordedResponse, reveal: Reveal): RecordedResponse {
  return {
    ...response,
    headers: fillAll(response.headers, reveal),
    ...(response.body === undefined ? {} : { body: fillBody(response.body, reveal) }),
  };
}

const encoders = {
  json: (value: string) => JSON.stringify(value).slice(1, -1),
  form: formEncode,
  text: (value: string) => value,
} as const;

function fillBody(body: string, reveal: Reveal): string {
  return fill(body, reveal, encoders[bodyForm(body)]);
}

function fillAll(headers: Readonly<Record<string, string>>, reveal: Reveal) {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, fill(value, reveal, encoders.text)]),
  );
}

function fill(text: string, reveal: Reveal, encode: (value: string) => string): string {
  return text.replace(placeholderPattern, (placeholder) => encode(reveal(placeholder)));
}
