import { exchangeEvidence, textEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import { defineRule } from "../contract/rule.ts";
import { findCredentials } from "../derive/auth/credential-places.ts";

export default defineRule({
  id: "AUTH-08",
  level: "SHOULD",
  profile: "oauth",
  since: "0.1.0",
  title:
    "No credential stands in a URL; a declared consent URL carries state and a PKCE challenge.",
  why: "Proxies, servers and monitoring keep URLs in their logs for years, headers they do not. Without state and PKCE, somebody else's login can be slipped under a customer's account.",
  fix: "Send the credential in a header. Where the provider takes it in the query only, waive this rule with that reason. Give the consent URL state and code_challenge.",
  good: "headers: { 'x-api-key': config.api_key }",
  bad: "url.searchParams.set('api_key', config.api_key);",
  notApplicable: (lab) => (lab.egress === "http" ? undefined : "it speaks no HTTP"),
  async run(lab, report) {
    const reported = new Set<string>();
    for (const { name, observation } of await lab.everyRun()) {
      if (observation.exchanges.length > 0) report.checked(name);
      for (const { request } of observation.exchanges) {
        const found = findCredentials(request, lab.canaries).find(
          ({ place }) => place === "the URL",
        );
        const where = `${request.method} ${request.url.origin}${request.url.pathname}`;
        if (!found || reported.has(where)) continue;
        reported.add(where);
        report.fail(
          `${name}: ${where} has a credential (${found.credential.name}) in its URL; it belongs in a header.`,
          exchangeEvidence(
            "Requests",
            observation.exchanges,
            (exchange) => exchange.request === request,
          ),
        );
      }
    }
    for (const url of consentUrls(lab)) {
      report.checked("the consent URL");
      if (!/state/i.test(url))
        report.fail(
          "The consent URL has no state: a login that nobody asked for cannot be told apart.",
          textEvidence("Consent URL", url),
        );
      if (!/code_challenge/i.test(url))
        report.fail(
          "The consent URL has no code_challenge (PKCE, RFC 7636): a stolen code can be redeemed.",
          textEvidence("Consent URL", url),
        );
    }
  },
});

/** `consent_url` of the SPEC message's advanced_auth, at any depth. */
function consentUrls({ first }: Lab): string[] {
  const specs = first.spec.messages.flatMap(({ message }) =>
    message.type === "SPEC" ? [message.spec] : [],
  );
  const search = (value: unknown): string[] => {
    if (typeof value !== "object" || value === null) return [];
    return Object.entries(value).flatMap(([name, part]) =>
      name === "consent_url" && typeof part === "string" ? [part] : search(part),
    );
  };
  return search(specs);
}
