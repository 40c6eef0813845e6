/**
 * Findings of a strict replay about the interactions of a recording: which were not asked for, and
 * which came out of order.
 */
import type { GoldenRun, Lab } from "../../contract/lab.ts";
import type { ProviderRequest } from "../../contract/network.ts";
import type { Interaction, RecordedRequest } from "../../contract/recording.ts";
import { interactionName } from "../../replay/strict.ts";

export interface StrictFinding {
  readonly interaction: Interaction;
  /** "notes#2 GET https://…", "notes#2 was asked for before notes#1". */
  readonly text: string;
}

export const unusedIn = (golden: GoldenRun): readonly StrictFinding[] =>
  findings(golden, (name, text) => text.startsWith(`${name} `) && !isDisorder(text));

export const disorderIn = (golden: GoldenRun): readonly StrictFinding[] =>
  findings(golden, (name, text) => text.startsWith(`${name} `) && isDisorder(text));

const isDisorder = (text: string) => text.includes(" was asked for before ");

function findings(
  { recording, observation }: GoldenRun,
  isOf: (name: string, text: string) => boolean,
): StrictFinding[] {
  return recording.interactions.flatMap((interaction, index) =>
    observation.unused
      .filter((text) => isOf(interactionName(recording.name, index), text))
      .map((text) => ({ interaction, text })),
  );
}

/** True for requests of listings with pages: PAGE-04 is about them, FIX-01 about all others. */
export function isOfPages(
  lab: Lab,
  { method, url, body, headers }: RecordedRequest | ProviderRequest,
): boolean {
  const listing = lab.learned.listingOf({
    method,
    url: new URL(url),
    body: body ?? "",
    ...(headers ? { headers } : {}),
  });
  return listing !== undefined && listing.paging.style !== "single";
}
