import { exchangeEvidence, textEvidence } from "../contract/evidence.ts";
import type { ConnectionFault } from "../contract/network.ts";
import { defineRule } from "../contract/rule.ts";
import { codeLines } from "../derive/source/source-text.ts";

/** How the verification of certificates is turned off, in many languages. */
const switches: readonly RegExp[] = [
  /rejectUnauthorized["']?\s*[:=]\s*(false|0|!1|!\s*true)/,
  /NODE_TLS_REJECT_UNAUTHORIZED/,
  /checkServerIdentity["']?\s*[:=(]\s*(\([^)]*\)|\w+)?\s*(=>)?\s*(\{\s*(return\s*(undefined|null|true)?;?)?\s*\}|undefined|null|void 0)/,
  /strictSSL["']?\s*[:=]\s*false/i,
  /\bcurl\b[^\n]*\s(-k|--insecure|-[a-zA-Z]*k[a-zA-Z]*)(\s|["'`,]|$)/,
  /wget[^\n]*--no-check-certificate/,
  /\bverify\s*=\s*False\b/,
  /verify_ssl\s*=\s*False\b/,
  /\bssl\s*=\s*False\b/,
  /_create_unverified_context/,
  /CERT_NONE/,
  /check_hostname\s*=\s*False/,
  /InsecureRequestWarning/,
  /InsecureSkipVerify\s*:\s*true/,
  /danger_accept_invalid_(certs|hostnames)\s*\(\s*true/,
  /SSL_VERIFY_NONE/,
  /CURLOPT_SSL_VERIFY(PEER|HOST)\s*,\s*(false|0)/,
  /ServerCertificateValidationCallback/,
];

const faults: readonly { readonly fault: ConnectionFault; readonly name: string }[] = [
  { fault: "untrusted-certificate", name: "a certificate of an authority that nobody trusts" },
  { fault: "expired-certificate", name: "an expired certificate" },
  { fault: "wrong-host-certificate", name: "a certificate of another host" },
];

export default defineRule({
  id: "NET-05",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "Certificates are always verified: nothing is sent to a server whose certificate is untrusted, expired or another's.",
  why: "Without verification anybody on the way reads the customer's credentials and rows, and nothing ever shows it.",
  fix: "Leave verification on, everywhere and also for tests. For a provider with an authority of its own, trust that authority.",
  good: "new Agent({ connect: { ca: providerAuthority } })",
  bad: "new Agent({ connect: { rejectUnauthorized: false } })",
  notApplicable: (lab) =>
    lab.target.sources.length > 0 || (lab.egress === "http" && lab.can("faults"))
      ? undefined
      : "neither its source nor its connections can be seen",
  async run(lab, report) {
    for (const { path, text } of lab.target.sources) {
      report.checked(path);
      for (const { number, line } of codeLines(text))
        if (switches.some((one) => one.test(line)))
          report.fail(
            `${path}:${number} turns the verification of certificates off: ${line.trim().slice(0, 120)}`,
            textEvidence(path, line),
          );
    }
    if (lab.egress !== "http" || !lab.can("faults")) return;
    for (const { fault, name } of faults) {
      report.checked(name);
      const observation = await lab.run(
        { verb: "check", config: lab.config },
        { connection: { fault } },
      );
      const got = observation.exchanges.find(({ request }) => request.method !== "CONNECT");
      if (got)
        report.fail(
          `The provider showed ${name}, and ${got.request.method} ${got.request.url.origin}${got.request.url.pathname} was sent all the same, with its credentials.`,
          exchangeEvidence("Requests", observation.exchanges, (one) => one === got),
        );
      if (observation.outcome.status === "succeeded")
        report.fail(`The provider showed ${name}, and check succeeded.`);
    }
  },
});
