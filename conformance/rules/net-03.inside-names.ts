/**
 * Names that an answer of the provider leads to, and that lie inside the network: at once, or when
 * they are looked up again.
 */
import { textEvidence } from "../contract/evidence.ts";
import type { GoldenRun, Lab } from "../contract/lab.ts";
import type { ConnectionFault, Provider } from "../contract/network.ts";
import type { Command, Observation } from "../contract/observation.ts";
import type { Reporter } from "../contract/rule.ts";
import { at, withDetour } from "../derive/requests/detours.ts";
import { isInsideHost } from "../derive/requests/hosts.ts";
import { undisturbed } from "../derive/rows/losses.ts";
import { handsOutTokens, pagedReads } from "../derive/sweeps/pages.ts";
import { withLinks } from "./page-07.page-tokens.ts";

const strange = "files.storage-elsewhere.net";
const sampledLinks = 2;

interface Led {
  readonly name: string;
  readonly command: Command;
  /** Leads the connector to the strange name. */
  createProvider(): Provider;
}

/**
 * Only of what dials by itself: svc looks up each name that its connectors, manifests and images
 * ask for, once, and connects to what it has checked.
 */
export async function lookForInsideNames(
  lab: Lab,
  runs: readonly GoldenRun[],
  report: Reporter,
): Promise<void> {
  // The proxy of a container looks names up itself, once.
  const isInside = lab.can("inside");
  const leads: readonly (readonly [ConnectionFault, string])[] = [
    ["inside-address", "which is 127.0.0.1"],
    ...(isInside
      ? ([["rebinding", "which is public first, and 127.0.0.1 when looked up again"]] as const)
      : []),
  ];
  const links = await linked(lab);
  const files = await followed(lab);
  if (links.length === 0)
    report.untried("links to next pages that lead to such names: no listing is paged by links");
  if (files.length === 0)
    report.untried("what an answer says to fetch: no recorded request asks for a URL of an answer");
  if (!isInside)
    report.untried("names that are public first: the proxy of this target looks names up once");
  for (const { name, command, createProvider } of [
    ...runs.map((run) => redirected(lab, run)),
    ...links,
    ...files,
  ])
    for (const [fault, what] of leads) {
      const subject = `${name} ${strange}, ${what}`;
      report.checked(subject);
      const seen = await lab.run(command, {
        provider: createProvider(),
        connection: { fault, host: strange },
      });
      reportInsideDial(subject, seen, report);
    }
}

/** A connection to the inside was opened. */
export function reportInsideDial(
  name: string,
  { traces: { dials } }: Observation,
  report: Reporter,
): void {
  const inner = dials.find(({ address }) => address !== undefined && isInsideHost(address));
  if (inner)
    report.fail(
      `${name}: a connection to ${inner.address} was opened for ${inner.host}.`,
      textEvidence(
        "Connections",
        dials.map(({ host, address = "" }) => `${host} ${address}`).join("\n"),
      ),
    );
}

const redirected = (lab: Lab, { recording }: GoldenRun): Led => ({
  name: `${recording.name}, its first request redirected to`,
  command: lab.commandOf(recording),
  createProvider: () =>
    withDetour(lab.learned.provider(), {
      status: 302,
      when: () => true,
      to: (request, hop) => (hop === 0 ? at(`https://${strange}`, request) : undefined),
    }),
});

async function linked(lab: Lab): Promise<readonly Led[]> {
  const reads = (await pagedReads(lab)).flatMap(({ name, recording, listings }) => {
    const links = listings.filter(
      (listing) => listing.paging.style === "link" && handsOutTokens(listing),
    );
    if (links.length === 0) return [];
    return [
      {
        name: `${name}: the links to its next pages lead to`,
        command: lab.commandOf(recording),
        createProvider: () =>
          withLinks(
            lab,
            links,
            (link) => Object.assign(new URL(link), { hostname: strange, port: "" }).href,
          )(lab.learned.provider({ pageSize: () => 1 })),
      },
    ];
  });
  return lab.sample(reads, sampledLinks);
}

/**
 * URLs that stand in an answer and are asked for later: of files, of the results of jobs. Links to
 * next pages of listings are led elsewhere by {@link linked}.
 */
async function followed(lab: Lab): Promise<readonly Led[]> {
  const found = new Map<string, Led>();
  for (const { recording } of await lab.golden()) {
    if (recording.outcome.status !== "succeeded") continue;
    const { exchanges } = await undisturbed(lab, recording);
    for (const [index, { request }] of exchanges.entries()) {
      const { href } = request.url;
      const isPage = exchanges
        .slice(0, index)
        .some((other) => other.request.url.pathname === request.url.pathname);
      const isGiven = exchanges
        .slice(0, index)
        .some(({ answer }) => answer?.body.toString("utf8").includes(href));
      const place = `${recording.name} ${request.url.pathname}`;
      if (isPage || !isGiven || found.has(place)) continue;
      found.set(place, {
        name: `${recording.name}: what an answer says to fetch, ${href}, lies at`,
        command: lab.commandOf(recording),
        createProvider: () => elsewhere(lab, request.url),
      });
    }
  }
  return lab.sample([...found.values()], sampledLinks);
}

/** The provider, which says of that address that it lies at the strange name, and answers there. */
function elsewhere(lab: Lab, url: URL): Provider {
  const truth = lab.learned.provider();
  const moved = Object.assign(new URL(url), { hostname: strange, port: "" });
  return {
    answer(request) {
      const isMoved = request.url.hostname === strange;
      const answer = truth.answer(isMoved ? { ...request, url } : request);
      if ("unmatched" in answer) return answer;
      const text = answer.body.toString("utf8");
      return text.includes(url.href)
        ? { ...answer, body: Buffer.from(text.replaceAll(url.href, moved.href)) }
        : answer;
    },
    unused: () => [],
  };
}
