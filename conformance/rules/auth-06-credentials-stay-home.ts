import { exchangeEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import type { Provider, ProviderRequest } from "../contract/network.ts";
import type { Observation } from "../contract/observation.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import { credentialHeaders, findCredentials } from "../derive/auth/credential-places.ts";
import { at, withDetour } from "../derive/requests/detours.ts";
import { declaredOrigins } from "../derive/requests/hosts.ts";
import { withAnswers } from "../replay/strict.ts";

const elsewhere = "https://files.storage-elsewhere.net";
/** Recorded runs that are led astray. */
const sampledRuns = 4;

export default defineRule({
  id: "AUTH-06",
  level: "MUST",
  profile: "oauth",
  since: "0.1.0",
  title:
    "Credentials go to the declared hosts only: none in any header, URL or body follows a redirect or a next link to another origin.",
  why: "A redirect to a file store, or a link in an answer that somebody else wrote, hands the customer's key to a stranger. HTTP clients strip Authorization at best, never X-Api-Key.",
  fix: "Do not follow redirects to other origins, or drop every credential before you do. Take only the token or the query out of a next link, or check that its origin is the API's.",
  good: "if (new URL(next).origin !== base.origin) throw new ProviderError('The next page lies elsewhere.');",
  bad: "response = await fetch(page.next, { headers: { 'x-api-key': key } });",
  notApplicable: (lab) => (lab.egress === "http" ? undefined : "it speaks no HTTP"),
  async run(lab, report) {
    const golden = (await lab.golden()).filter(
      ({ observation }) => observation.exchanges.length > 0,
    );
    if (golden.length === 0) return report.missing("No recording shows a request.");
    const home = declaredOrigins(lab);
    for (const { recording, observation } of golden) {
      report.checked(`${recording.name} (recorded)`);
      lookForStrays(lab, `${recording.name} (recorded)`, observation, home, report);
    }

    const succeeding = golden.filter(({ recording }) => recording.outcome.status === "succeeded");
    for (const { recording, observation } of lab.sample(succeeding, sampledRuns)) {
      const command = lab.commandOf(recording);
      const first = firstRequests(observation);
      const cases = first.flatMap((one) =>
        foreignOrigins(one).map((origin, index) => ({
          one,
          origin,
          status: index === 0 ? 302 : 307,
        })),
      );
      for (const { one, origin, status } of cases) {
        const name = `${recording.name}, request ${one.index + 1} redirected (${status}) to ${origin}`;
        report.checked(name);
        const provider = withDetour(lab.learned.provider(), {
          status,
          when: ({ index }) => index === one.index,
          to: (request, hop) => (hop === 0 ? at(origin, request) : undefined),
        });
        lookForStrays(lab, name, await lab.run(command, { provider }), home, report);
      }
      if (
        !observation.exchanges.some(
          ({ answer }) => answer && holdsLink(answer.body.toString("utf8"), answer.headers, home),
        )
      )
        continue;
      const name = `${recording.name}, every link in its answers leads to ${elsewhere}`;
      report.checked(name);
      lookForStrays(
        lab,
        name,
        await lab.run(command, { provider: withForeignLinks(lab.learned.provider(), home) }),
        home,
        report,
      );
    }
  },
});

/** The first request to each origin: the API's, and the token endpoint's. */
function firstRequests({ exchanges }: Observation): ProviderRequest[] {
  const byOrigin = Map.groupBy(exchanges, ({ request }) => request.url.origin);
  return [...byOrigin.values()].flatMap(([first]) => (first ? [first.request] : []));
}

/** Another domain, another port, and a name below: each is another origin (RFC 6454). */
const foreignOrigins = ({ url }: ProviderRequest) => [
  elsewhere,
  `https://${url.hostname}:8443`,
  `https://files.${url.hostname}`,
];

function lookForStrays(
  lab: Lab,
  name: string,
  observation: Observation,
  home: ReadonlySet<string>,
  report: Reporter,
): void {
  const credentials = lab.canaries;
  for (const { request } of observation.exchanges) {
    if (home.has(request.url.origin)) continue;
    const places = [
      ...findCredentials(request, credentials).map(
        ({ place, credential }) => `${credential.name} in ${place}`,
      ),
      ...credentialHeaders(request).map((header) => `header ${header}`),
    ];
    if (places.length === 0) continue;
    report.fail(
      `${name}: request ${request.index + 1} took a credential to ${request.url.origin}, which is none of ${[...home].join(", ")}: ${[...new Set(places)].join(", ")}.`,
      exchangeEvidence(
        "Requests",
        observation.exchanges,
        (exchange) => exchange.request === request,
      ),
    );
    return;
  }
}

const texts = (origin: string) => [origin, origin.replaceAll("/", "\\/")];

const holdsLink = (
  body: string,
  headers: Readonly<Record<string, string>>,
  home: ReadonlySet<string>,
) =>
  [...home].some((origin) =>
    texts(origin).some((text) => body.includes(text) || (headers.link ?? "").includes(text)),
  );

/**
 * Every URL of the provider in an answer becomes one of the other host, which answers like the
 * provider.
 */
function withForeignLinks(provider: Provider, home: ReadonlySet<string>): Provider {
  const [origin = ""] = home;
  const moved = (text: string) => {
    let changed = text;
    for (const own of home)
      for (const [index, form] of texts(own).entries())
        changed = changed.replaceAll(form, texts(elsewhere)[index] ?? elsewhere);
    return changed;
  };
  const back: Provider = {
    ...provider,
    answer: (request) =>
      provider.answer(
        request.url.origin === elsewhere
          ? { ...request, url: new URL(at(origin, request)) }
          : request,
      ),
  };
  return withAnswers(back, (answer) => ({
    ...answer,
    headers: Object.fromEntries(
      Object.entries(answer.headers).map(([header, value]) => [
        header,
        header === "content-length" ? value : moved(value),
      ]),
    ),
    body: Buffer.from(moved(answer.body.toString("utf8"))),
  }));
}
