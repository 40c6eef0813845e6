import type { Answer, Provider, ProviderRequest } from "../contract/network.ts";
import type { Interaction, RecordedResponse, Recording } from "../contract/recording.ts";
import { describeMismatch, matches } from "./match.ts";

/**
 * Answers each interaction of a recording once: a request that fits none is unmatched, an
 * interaction nobody asks for is unused. Requests of one lane (method and path) come in the
 * recorded order; lanes are independent of one another.
 */
export function createStrictProvider({ name, interactions }: Recording): Provider {
  const left = new Map(interactions.entries());
  const disorder: string[] = [];
  return {
    answer(request) {
      for (const [index, interaction] of left) {
        if (!matches(interaction.request, request)) continue;
        const earlier = [...left].find(
          ([other, { request: skipped }]) =>
            other < index && isSameLane(skipped, interaction.request),
        );
        if (earlier)
          disorder.push(
            `${interactionName(name, index)} was asked for before ${interactionName(name, earlier[0])}`,
          );
        left.delete(index);
        return toAnswer(interaction.response, interactionName(name, index));
      }
      return {
        unmatched: describeMismatch(
          request,
          interactions.map((one) => one.request),
        ),
      };
    },
    unused: () => [
      ...[...left].map(
        ([index, { request }]) =>
          `${interactionName(name, index)} ${request.method} ${request.url}`,
      ),
      ...disorder,
    ],
  };
}

/** "campaigns#2": the second interaction of the recording. */
export const interactionName = (recording: string, index: number) => `${recording}#${index + 1}`;

export function toAnswer(
  { status, headers, body, body_base64 }: RecordedResponse,
  from: string,
): Answer {
  const bytes =
    body_base64 === undefined ? Buffer.from(body ?? "") : Buffer.from(body_base64, "base64");
  return { status, headers, body: bytes, from };
}

function isSameLane(one: Interaction["request"], other: Interaction["request"]): boolean {
  return one.method === other.method && new URL(one.url).pathname === new URL(other.url).pathname;
}

/** A provider whose answers pass through `change`, which may also break them. */
export function withAnswers(
  provider: Provider,
  change: (answer: Answer, request: ProviderRequest) => Answer,
): Provider {
  return {
    answer(request) {
      const answer = provider.answer(request);
      return "unmatched" in answer ? answer : change(answer, request);
    },
    unused: () => provider.unused(),
  };
}
