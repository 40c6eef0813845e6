import { exchangeEvidence, messageEvidence } from "../contract/evidence.ts";
import { isOfClass, type Lab } from "../contract/lab.ts";
import type { Observation } from "../contract/observation.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import { type HostSetting, hostSettings, withSetting } from "../derive/requests/host-settings.ts";
import { insideHosts, isInsideHost } from "../derive/requests/hosts.ts";

/**
 * Hosts that are tried over real connections too, where names looked up and connections are seen.
 */
const dialled = 3;
/** Characters that turn the rest of a host into a path, a query or a fragment. */
const breakouts = [
  "127.0.0.1/",
  "169.254.169.254#",
  "169.254.169.254?x=",
  "user@127.0.0.1/",
  "evil.example.net/",
  "127.0.0.1\\",
];

export default defineRule({
  id: "NET-02",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "A host that the user enters is refused when it lies inside a network, however it is written, before anything is sent.",
  why: "The connector runs inside somebody's network. A base URL of 169.254.169.254 reads out the cloud's credentials, one of 127.0.0.1 the neighbours of the connector.",
  fix: "Accept approved names only. Else refuse IP literals in every form, and check the address at the moment of connecting. Refuse as a config error.",
  good: "if (!approvedHosts.has(url.hostname)) throw configError('base_url is not a host of the provider.');",
  bad: "if (url.hostname === 'localhost' || url.hostname === '127.0.0.1') throw …; // 2130706433, [::1], 169.254.169.254",
  notApplicable: async (lab) =>
    (await hostSettings(lab)).length === 0
      ? "no setting leads requests to another host"
      : undefined,
  async run(lab, report) {
    for (const setting of await hostSettings(lab)) {
      const hosts = setting.kind === "part" ? breakouts : insideHosts;
      for (const host of hosts) await tryHost(lab, setting, host, "replay", report);
      // Over real connections: a look at what is dialled without a request.
      if (lab.can("faults") && setting.kind !== "part")
        for (const host of lab.sample(insideHosts, dialled))
          await tryHost(lab, setting, host, "server", report);
    }
  },
});

async function tryHost(
  lab: Lab,
  setting: HostSetting,
  host: string,
  transport: "replay" | "server",
  report: Reporter,
): Promise<void> {
  const value = setting.write(host);
  const name = `${setting.path.join(".")} = ${value}`;
  report.checked(name);
  const observation = await lab.run(
    { verb: "check", config: withSetting(lab.config, setting.path, value) },
    { transport },
  );
  const { exchanges, outcome, traces } = observation;
  const strays = exchanges.filter(
    ({ request }) => setting.kind !== "part" || isOutside(lab, request.url.hostname, host),
  );
  const evidence = () => [
    exchangeEvidence("Requests", exchanges),
    messageEvidence("Messages", observation, []),
  ];
  if (strays.length > 0) {
    report.fail(
      `With ${name}, check sent ${strays.length} ${strays.length === 1 ? "request" : "requests"} (${strays[0]?.request.url.origin}); the value has to be refused before anything is sent.`,
      ...evidence(),
    );
    return;
  }
  const dials = setting.kind === "part" ? [] : traces.dials;
  if (dials.length > 0)
    report.fail(
      `With ${name}, check opened a connection to ${dials[0]?.host}; the value has to be refused before anything is dialled.`,
      ...evidence(),
    );
  else if (setting.kind !== "part") lookAtRefusal(name, observation, report);
  else if (outcome.status === "crashed" || outcome.status === "hung")
    report.fail(`With ${name}, check ${outcome.status}.`, ...evidence());
}

function lookAtRefusal(name: string, observation: Observation, report: Reporter): void {
  const { status, failures } = observation.outcome;
  const known = failures.filter(({ classes }) => classes.length > 0);
  if (status !== "failed")
    report.fail(
      `With ${name}, check ended as ${status}; it has to fail with a config error.`,
      messageEvidence("Messages", observation, []),
    );
  else if (known.length > 0 && !known.some((failure) => isOfClass(failure, "config")))
    report.fail(
      `With ${name}, check failed as ${known[0]?.classes.join(" or ")} ("${known[0]?.message}"); it is a config error.`,
      messageEvidence("Messages", observation, []),
    );
}

/** A part of a host must not lead out of the names that end like the usual one. */
function isOutside({ recordings }: Lab, hostname: string, host: string): boolean {
  const usual = recordings.flatMap(({ interactions }) =>
    interactions.map(({ request }) => new URL(request.url).hostname),
  );
  const isUsual = usual.some((name) =>
    hostname.endsWith(`.${name.split(".").slice(-2).join(".")}`),
  );
  return isInsideHost(hostname) || (!isUsual && host.includes(hostname));
}
