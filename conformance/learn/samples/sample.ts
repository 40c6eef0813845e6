/**
 * Providers that really page over rows, with a client for each: the truth against which the tests
 * hold what was learned.
 */
import type { Answer } from "../../contract/network.ts";
import type { Interaction, RecordedOutcome, Recording } from "../../contract/recording.ts";
import { toText } from "../json.ts";

export type SampleRow = { readonly [field: string]: unknown };

export interface SampleRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly body?: string;
}

export interface Sample {
  readonly name: string;
  readonly style: string;
  /**
   * Tokens differ from the true provider's, so that only rows and the number of requests can be
   * compared.
   */
  readonly hasTokens?: boolean;
  /** Rows of the recording; 5 unless told, which ends with a page that is not full. */
  readonly recordedCount?: number;
  /** The page size cannot be asked for. */
  readonly fixedSize?: number;
  answer(request: SampleRequest, rows: readonly SampleRow[]): SampleAnswer;
  /** The request for the first page. */
  first(size: number): SampleRequest;
  /** Undefined after the last page. */
  next(answer: SampleAnswer, request: SampleRequest, size: number): SampleRequest | undefined;
  /** The rows of an answer. */
  rows(answer: SampleAnswer): readonly SampleRow[];
}

export interface SampleAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly tree: unknown;
}

export const base = "https://api.example.com";
export type Tree = { readonly [name: string]: unknown };
export const json = (
  tree: unknown,
  headers: Readonly<Record<string, string>> = {},
): SampleAnswer => ({
  status: 200,
  headers: { "content-type": "application/json", ...headers },
  tree,
});
export const treeOf = (answer: SampleAnswer) => answer.tree as Tree;
export const listOf = (answer: SampleAnswer, name: string) =>
  treeOf(answer)[name] as readonly SampleRow[];
export const query = (request: SampleRequest) => new URL(request.url).searchParams;
export const get = (
  path: string,
  parameters: Readonly<Record<string, string | number>>,
): SampleRequest => ({
  method: "GET",
  url: `${base}${path}?${new URLSearchParams(Object.entries(parameters).map(([name, value]) => [name, String(value)]))}`,
});
export const moved = (
  request: SampleRequest,
  parameters: Readonly<Record<string, string | number>>,
): SampleRequest => {
  const url = new URL(request.url);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, String(value));
  return { ...request, url: url.href };
};
export const number = (request: SampleRequest, name: string, absent: number) =>
  Number(query(request).get(name) ?? absent);

/** All exchanges of a client with a provider; at most 200. */
export function crawl(sample: Sample, size: number, ask: (request: SampleRequest) => SampleAnswer) {
  const exchanges: { readonly request: SampleRequest; readonly answer: SampleAnswer }[] = [];
  let request: SampleRequest | undefined = sample.first(size);
  while (request !== undefined && exchanges.length < 200) {
    const answer = ask(request);
    exchanges.push({ request, answer });
    request = sample.next(answer, request, size);
  }
  return { exchanges, rows: exchanges.flatMap(({ answer }) => sample.rows(answer)) };
}

export const toAnswer = ({ status, headers, tree }: SampleAnswer): Answer => ({
  status,
  headers,
  body: Buffer.from(toText(tree)),
});

export const toInteraction = (
  request: SampleRequest,
  { status, headers, tree }: SampleAnswer,
): Interaction => ({
  request: {
    method: request.method,
    url: request.url,
    ...(request.body === undefined ? {} : { body: request.body }),
  },
  response: { status, headers, body: toText(tree) },
});

export function toRecording(
  name: string,
  interactions: readonly Interaction[],
  options: {
    readonly outcome?: RecordedOutcome["status"];
    readonly state?: boolean;
    readonly verb?: "check" | "read";
  } = {},
): Recording {
  const { outcome = "succeeded", state = false, verb = "read" } = options;
  return {
    name,
    metadata: {
      ...{
        kit: 1,
        matcher: 1,
        provider: "sample",
        provider_api_version: "1",
        seed: 1,
        redactions: [],
      },
      ...{ recorded_at: "2026-06-01T00:00:00Z", clock_origin: "2026-06-01T00:00:00Z" },
    },
    run: { verb, ...(state ? { state: [{ stream: { name: "items" }, state: {} }] } : {}) },
    interactions,
    outcome: { status: outcome },
  };
}
