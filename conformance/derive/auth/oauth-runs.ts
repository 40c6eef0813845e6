/** Runs of a connector against the token server, and what they are measured by. */

import { exchangeEvidence } from "../../contract/evidence.ts";
import type { Lab, RunOptions } from "../../contract/lab.ts";
import type { Command, Observation } from "../../contract/observation.ts";
import type { Evidence } from "../../contract/rule.ts";
import { compareRows, describeDifference, isSame, outputRows } from "../rows/rows.ts";
import type { TokenEndpoint } from "./token-endpoint.ts";
import { createTokenServer, type TokenServer, type TokenServerOptions } from "./token-server.ts";

export interface OAuthRun {
  readonly name: string;
  readonly observation: Observation;
  readonly server: TokenServer;
}

/** Reads every stream that was recorded, one after the other; a check where there is none. */
export function wholeRead(lab: Lab): Command {
  const streams = lab.streams.filter(({ recording }) => recording);
  return streams.length > 0 ? lab.readCommand(streams) : { verb: "check", config: lab.config };
}

export async function runWithTokens(
  lab: Lab,
  endpoint: TokenEndpoint,
  name: string,
  options: TokenServerOptions & {
    readonly command?: Command | undefined;
    readonly runOptions?: Omit<RunOptions, "provider"> | undefined;
  } = {},
): Promise<OAuthRun> {
  const { command = wholeRead(lab), runOptions = {}, ...serverOptions } = options;
  const server = createTokenServer(lab, endpoint, serverOptions);
  const observation = await lab.run(command, { ...runOptions, provider: server });
  return { name, observation, server };
}

/** Every stream, with tokens that stay good. Done once. */
export const undisturbed = (lab: Lab, endpoint: TokenEndpoint): Promise<OAuthRun> =>
  lab.once("undisturbed with tokens", () => runWithTokens(lab, endpoint, "an undisturbed read"));

/** Numbers of API requests to try something at: the first, the last, some between. */
export async function apiRequests(
  lab: Lab,
  endpoint: TokenEndpoint,
  most: number,
): Promise<readonly number[]> {
  const { server } = await undisturbed(lab, endpoint);
  return lab.sample([...server.uses.keys()], most);
}

/**
 * Compares a run with an undisturbed one and gives what it lacks: its failure or its rows;
 * undefined when it has everything.
 */
export function shortfall(lab: Lab, whole: Observation, given: Observation): string | undefined {
  const { status, failures } = given.outcome;
  if (status !== "succeeded")
    return `it ended as ${status}${failures[0] ? ` (${failures[0].message})` : ""}`;
  for (const stream of lab.streams) {
    const difference = compareRows(
      outputRows(whole.messages, stream),
      outputRows(given.messages, stream),
    );
    if (!isSame(difference)) return `${stream.label}: ${describeDifference(difference)}`;
  }
  return undefined;
}

export function tokenEvidence(
  { observation, server }: OAuthRun,
  isMarked: (index: number) => boolean = () => false,
): Evidence {
  const refreshes = new Set(server.refreshes.map(({ index }) => index));
  return exchangeEvidence(
    "Requests",
    observation.exchanges.slice(0, 40),
    ({ request }) => refreshes.has(request.index) || isMarked(request.index),
  );
}
