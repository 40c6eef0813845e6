import { exchangeEvidence } from "../contract/evidence.ts";
import { defineRule } from "../contract/rule.ts";
import { pathOf } from "../derive/auth/token-endpoint.ts";
import { declaredOrigins } from "../derive/requests/hosts.ts";

export default defineRule({
  id: "NET-01",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "Every request of every run goes to a declared host, and to something that was recorded, whatever the connector makes of the answer.",
  why: "A request that nobody knows of is telemetry, a forgotten endpoint, or data on its way out. Connectors swallow what it answers, so only the account of all requests shows it.",
  fix: "Remove the request, or record it. A base URL with a path loses it in `new URL('list', base)`: join paths by hand or end the base with a slash.",
  good: "new URL('https://api.example.com/v1/' + 'lists')",
  bad: "new URL('/lists', 'https://api.example.com/v1') // https://api.example.com/lists",
  notApplicable: (lab) => (lab.egress === "http" ? undefined : "it speaks no HTTP"),
  async run(lab, report) {
    const origins = declaredOrigins(lab);
    const recorded = new Set(
      lab.recordings.flatMap(({ interactions }) =>
        interactions.map(({ request }) => `${request.method} ${pathOf(new URL(request.url))}`),
      ),
    );
    const reported = new Set<string>();
    // Where the kit made something fail, a connector may well ask further: what it asks then was
    // not recorded.
    const undisturbed = new Set((await lab.golden()).map(({ observation }) => observation));
    for (const { name, observation } of await lab.everyRun()) {
      report.checked(name);
      for (const exchange of observation.exchanges) {
        const { request, unmatched } = exchange;
        const what = `${request.method} ${pathOf(request.url)}`;
        const isForeign = !origins.has(request.url.origin);
        // The same path with other parameters is a matter of paging and of the fixtures: PAGE-04,
        // FIX-01.
        const isUnknown =
          unmatched !== undefined && undisturbed.has(observation) && !recorded.has(what);
        if ((!isForeign && !isUnknown) || reported.has(what)) continue;
        reported.add(what);
        const why = isForeign
          ? `the host is none of ${[...origins].join(", ")}`
          : "nothing of the kind was recorded";
        report.fail(
          `${name}: request ${request.index + 1} was ${what}; ${why}. The run ended as ${observation.outcome.status}.`,
          exchangeEvidence(
            "Requests",
            observation.exchanges.slice(0, 40),
            (other) => other === exchange,
          ),
        );
      }
      for (const host of observation.traces.lookups) {
        if ([...origins].some((origin) => new URL(origin).hostname === host) || reported.has(host))
          continue;
        reported.add(host);
        report.fail(
          `${name}: the host ${host} was looked up, which is none of ${[...origins].join(", ")}.`,
        );
      }
    }
  },
});
