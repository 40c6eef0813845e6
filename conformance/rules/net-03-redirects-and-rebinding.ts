import { exchangeEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import type { ProviderRequest } from "../contract/network.ts";
import type { Observation } from "../contract/observation.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import { at, type Detour, withDetour } from "../derive/requests/detours.ts";
import { isInsideHost } from "../derive/requests/hosts.ts";
import { lookForInsideNames, reportInsideDial } from "./net-03.inside-names.ts";

/** As many as fetch follows. @see https://fetch.spec.whatwg.org/#http-redirect-fetch */
const mostHops = 20;
/** Here the provider stops redirecting, so that a run without a limit ends. */
const lastHop = 30;

interface RedirectCase {
  readonly name: string;
  readonly to: Detour["to"];
}

const sameWithHop = (request: ProviderRequest, hop: number) =>
  `${at(request.url.origin, request)}${request.url.search === "" ? "?" : "&"}hop=${hop}`;

const inside: readonly string[] = [
  "https://127.0.0.1",
  "https://169.254.169.254",
  "https://[::ffff:7f00:1]",
  "https://localhost",
  "https://10.0.0.1",
];

/** Where a redirect may lead that nobody should follow. */
const scenes: readonly RedirectCase[] = [
  ...inside.map(
    (origin): RedirectCase => ({
      name: `redirected to ${origin}`,
      to: (request, hop) => (hop === 0 ? at(origin, request) : undefined),
    }),
  ),
  {
    name: "redirected within the API, then to https://169.254.169.254",
    to: (request, hop) => [sameWithHop(request, 1), at("https://169.254.169.254", request)][hop],
  },
  {
    name: "redirected from https to http",
    to: (request, hop) => (hop === 0 ? at(`http://${request.url.host}`, request) : undefined),
  },
  { name: "redirected to a file", to: (_, hop) => (hop === 0 ? "file:///etc/passwd" : undefined) },
];

const endless: RedirectCase = {
  name: "redirected on and on",
  to: (request, hop) => (hop < lastHop ? sameWithHop(request, hop) : undefined),
};

export default defineRule({
  id: "NET-03",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "Redirects are followed to public https addresses only, each hop is checked, and their number is limited; no name leads inside, and a name stays with the address that was checked.",
  why: "A check of the first URL alone is worth nothing: one answer of the provider, or of a name server, leads the connector into the network it runs in. Connectors, manifests and images that svc runs cannot get there: svc looks each name up once and connects to the address that it has checked.",
  fix: 'Use redirect: "manual" and treat a redirect as a failure, or check scheme, host and address of every hop. Of a program: take redirects and links to the hosts of the provider only, or check the address when connecting, not before.',
  good: "await fetch(url, { redirect: 'manual' })",
  bad: "checkHost(url); await fetch(url); // follows 20 redirects to anywhere",
  notApplicable: (lab) =>
    lab.egress === "http" ? undefined : "it speaks no HTTP, which alone knows redirects",
  async run(lab, report) {
    const golden = (await lab.golden()).filter(
      ({ recording, observation }) =>
        recording.outcome.status === "succeeded" && observation.exchanges.length > 0,
    );
    if (golden.length === 0)
      return report.missing("No recording of a run that succeeds shows a request.");
    const check = golden.find(({ recording }) => recording.run.verb === "check") ?? golden[0];
    const read = golden.find(({ recording }) => recording.run.verb === "read");
    for (const run of new Set([check, read])) {
      if (!run) continue;
      const command = lab.commandOf(run.recording);
      const firsts = [
        ...Map.groupBy(run.observation.exchanges, ({ request }) => request.url.origin).values(),
      ].flatMap(([first]) => first?.request.index ?? []);
      for (const index of firsts) {
        for (const { name, to } of [...scenes, endless]) {
          const subject = `${run.recording.name}, request ${index + 1} ${name}`;
          report.checked(subject);
          const provider = withDetour(lab.learned.provider(), {
            status: 307,
            when: (request) => request.index === index,
            to,
          });
          const observation = await lab.run(command, { provider });
          lookForHops(subject, observation, provider.hops, report);
        }
      }
    }
    await lookForRebinding(lab, report);
    if (lab.manifest !== undefined)
      report.untried("names that lie inside: svc itself looks them up, for all of its connectors");
    else if (!lab.can("faults"))
      report.untried("names that lie inside: this target's connections are not the kit's");
    else
      await lookForInsideNames(
        lab,
        [...new Set([check, read ?? check])].flatMap((run) => run ?? []),
        report,
      );
  },
});

function lookForHops(
  name: string,
  observation: Observation,
  hops: readonly ProviderRequest[],
  report: Reporter,
): void {
  const wrong = observation.exchanges.find(
    ({ request: { url } }) => url.protocol !== "https:" || isInsideHost(url.hostname),
  );
  const evidence = (marked: (index: number) => boolean) =>
    exchangeEvidence("Requests", observation.exchanges.slice(0, lastHop + 10), ({ request }) =>
      marked(request.index),
    );
  if (wrong)
    report.fail(
      `${name}: the redirect was followed to ${wrong.request.url.origin}; it has to be refused.`,
      evidence((index) => index === wrong.request.index),
    );
  const furthest = Math.max(0, ...hops.map(({ url }) => Number(url.searchParams.get("hop") ?? 0)));
  if (furthest > mostHops)
    report.fail(
      `${name}: ${furthest} redirects were followed one after the other; ${mostHops} at most are expected.`,
      evidence(() => false),
    );
}

/**
 * Only where the runtime's own connections are used: other programs leave names to a proxy or to
 * their platform.
 */
async function lookForRebinding(lab: Lab, report: Reporter): Promise<void> {
  if (!lab.can("faults") || lab.manifest === undefined) return;
  const streams = lab.streams.filter(({ recording }) => recording);
  const command =
    streams.length > 0
      ? lab.readCommand(streams)
      : ({ verb: "check", config: lab.config } as const);
  const name = "a name that has a public address first, then 127.0.0.1";
  report.checked(name);
  reportInsideDial(name, await lab.run(command, { connection: { fault: "rebinding" } }), report);
}
