/** A report as a run gives it, for tests: 40 rules, every result, every kind of evidence. */
import {
  type ConformanceReport,
  type Result,
  type RuleReport,
  results,
} from "../contract/report.ts";
import type { Evidence, EvidenceExchange } from "../contract/rule.ts";
import { countResults } from "./results.ts";

/** Rules by result; the rest of the 40 passes. */
const sampleIds = [
  "SPEC-01",
  "SPEC-02",
  "SPEC-03",
  "SPEC-04",
  "SPEC-05",
  "CHECK-01",
  "CHECK-02",
  "CHECK-03",
  "CHECK-04",
  "DISC-01",
  "DISC-02",
  "DISC-03",
  "DISC-04",
  "READ-01",
  "READ-02",
  "READ-03",
  "READ-04",
  "READ-05",
  "STATE-01",
  "STATE-02",
  "STATE-03",
  "STATE-04",
  "SCHEMA-01",
  "SCHEMA-02",
  "SCHEMA-03",
  "ERROR-01",
  "ERROR-02",
  "ERROR-05",
  "RETRY-01",
  "RETRY-02",
  "RETRY-08",
  "PAGE-01",
  "PAGE-04",
  "AUTH-01",
  "LEAK-01",
  "LEAK-02",
  "NET-01",
  "CANCEL-01",
  "FIX-01",
  "FIX-06",
];

const leakLine =
  '{"type":"LOG","log":{"level":"INFO","message":"signing in with Basic Y25yeV9MRUFLMDFfYTd4azJtOXE6eA== for account 4711"}}';

const exchanges: readonly EvidenceExchange[] = [
  {
    request:
      "GET https://api.example.com/api/campaigns?sort=-sent&page=1\nauthorization: Bearer cnry_a7xk2m9q",
    response:
      'HTTP 200\ncontent-type: application/json\n\n{"data":[{"id":"9007199254740993","name":"Ünïcödé 🚀"}],"meta":{"next":"/api/campaigns?page=2"}}',
    isMarked: false,
  },
  {
    request:
      "GET https://api.example.com/api/campaigns?sort=-sent&page=2\nauthorization: Bearer cnry_a7xk2m9q",
    response: `HTTP 500\ncontent-type: text/html\n\n<html><body><h1>Internal Server Error</h1>${"x".repeat(300)}</body></html>`,
    isMarked: true,
  },
];

const evidenceById: Readonly<Record<string, readonly Evidence[]>> = {
  "LEAK-01": [
    {
      kind: "leak",
      title: "Log message 3",
      text: leakLine,
      start: leakLine.indexOf("Y25y"),
      end: leakLine.indexOf(" for account"),
      encoding: "base64 of user:password",
    },
    { kind: "text", title: "The secret", text: "config api_token" },
  ],
  "ERROR-05": [
    { kind: "exchanges", title: "Request 2 answered 500", exchanges },
    {
      kind: "messages",
      title: "What the run gave",
      lines: [
        ...Array.from(
          { length: 90 },
          (_, index) =>
            `{"type":"RECORD","record":{"stream":"campaigns","data":{"id":"${index}","name":"Campaign ${index}"}}}`,
        ),
        '{"type":"TRACE","trace":{"type":"STREAM_STATUS","stream_status":{"stream_descriptor":{"name":"campaigns"},"status":"COMPLETE"}}}',
      ],
      marked: [90],
    },
  ],
  "SCHEMA-03": [
    {
      kind: "text",
      title: "Fields without a value",
      text: "campaigns.archived_at\ncampaigns.segment.parent.name",
    },
  ],
};

const sentenceById: Readonly<Record<string, string>> = {
  "LEAK-01":
    "The secret config api_token stands in a log message as base64; nothing of a secret may leave the connector.",
  "ERROR-05":
    "Request 2 of campaigns was answered 500; the run succeeded with 90 of 180 records, and should have failed or given all of them.",
  "SCHEMA-03": "2 of 31 declared fields of campaigns never had a value in a recording.",
};

const reasonById: Readonly<Record<string, string>> = {
  "RETRY-08": "Waived until 2027-01-31 by Ada: the provider gives no limit per second.",
  "AUTH-01": "The connector has no access tokens that expire.",
  "CANCEL-01": "A container cannot be cancelled before it has started.",
  "DISC-04":
    "The rule stopped: TypeError: Cannot read properties of undefined (reading 'streams').",
};

const resultById: Readonly<Record<string, Result>> = {
  "LEAK-01": "fail",
  "ERROR-05": "fail",
  "PAGE-04": "vacuous",
  "SCHEMA-03": "warn",
  "RETRY-08": "waived",
  "AUTH-01": "not-applicable",
  "CANCEL-01": "not-applicable",
  "DISC-04": "error",
};

const titleByGroup: Readonly<Record<string, string>> = {
  LEAK: "No secret stands verbatim in anything that leaves the connector: records, state, logs, errors, traces.",
  ERROR: "A run with one failed request gives all records or says that it failed.",
};

function sampleRule(id: string, index: number): RuleReport {
  const group = id.replace(/-\d+$/, "");
  const result = resultById[id] ?? "pass";
  const evidence = evidenceById[id];
  const sentence = sentenceById[id];
  const subjectCount =
    result === "vacuous" || result === "not-applicable" || result === "error" ? 0 : 1 + index * 3;
  const reason = reasonById[id];
  return {
    id,
    level: ["RETRY-08", "SCHEMA-03"].includes(id) ? "SHOULD" : "MUST",
    profile: "core",
    title:
      titleByGroup[group] ?? `Sentence of ${id}: a connector does this under every circumstance.`,
    why: "Whoever reads the output would otherwise take part of the data for all of it, and nobody would notice.",
    fix: "Let the error through: do not catch it, or throw one of the classes that the runtime knows.",
    result,
    subjectCount,
    subjects: Array.from(
      { length: Math.min(subjectCount, 10) },
      (_, subject) => `campaigns, request ${subject}`,
    ),
    problems: sentence === undefined ? [] : [{ sentence, evidence: evidence ?? [] }],
    ...(reason === undefined ? {} : { reason }),
    runCount: subjectCount,
    durationMs: 12.5 * index,
    repro: `svc conformance mailer --rules ${id} --seed 20261121`,
  };
}

export function sampleReport(): ConformanceReport {
  return reportOf(sampleIds.map(sampleRule));
}

/** A report of these rules, with counts and verdict that fit them. */
export function reportOf(
  rules: readonly RuleReport[],
  changes: Partial<ConformanceReport> = {},
): ConformanceReport {
  const counts = countResults(rules);
  return {
    format: 1,
    kitVersion: "0.1.0",
    connector: { name: "mailer", id: "mailer", version: "1.2.0" },
    target: "worker",
    profiles: ["core", "resumable", "resilient"],
    seed: 20_261_121,
    isExhaustive: false,
    startedAt: "2026-11-21T10:33:28.123Z",
    durationMs: 14_230,
    runCount: 2431,
    counts,
    verdict: counts.error > 0 ? "unusable" : counts.fail + counts.vacuous > 0 ? "failed" : "passed",
    remarks: [],
    rules,
    ...changes,
  };
}

/** A rule's report of that result, otherwise as the sample has it. */
export function ruleWith(changes: Partial<RuleReport>): RuleReport {
  return { ...sampleRule("LEAK-01", 3), ...changes };
}

/**
 * What breaks out of a form that does not escape: tags, attributes, CDATA, workflow commands,
 * terminal sequences, broken text.
 */
export const hostileText =
  `</script><img src=x onerror="document.title='owned'"></pre></style>'"><svg/onload=alert(1)>]]>&amp;` +
  `\r\n::error title=owned::x\n##vso[task.complete]##[add-mask]x\x1b]0;owned\x07\x1b[2J\0\x9b31m\ud800\udfffx\udc00\u202egnp.exe\uffff%0A::stop-commands::x`;

/** The sample with that text in every text of every rule and in the report's own. */
export function hostileReport(): ConformanceReport {
  const text = hostileText;
  const rules = results.flatMap((result, index) => [
    ruleWith({
      id: `EVIL-0${index}`,
      result,
      title: text,
      why: text,
      fix: text,
      reason: text,
      repro: text,
      subjects: [text],
      problems: [
        {
          sentence: text,
          evidence: [
            {
              kind: "exchanges",
              title: text,
              exchanges: [
                { request: text, response: text, isMarked: true },
                { request: "", response: "", isMarked: false },
              ],
            },
            { kind: "messages", title: text, lines: [text, text], marked: [1] },
            { kind: "leak", title: text, text, start: 5, end: 20, encoding: text },
            { kind: "text", title: text, text },
          ],
        },
      ],
    }),
  ]);
  return reportOf(rules, {
    connector: { name: text, version: text },
    target: text,
    remarks: [text],
    startedAt: text,
    kitVersion: text,
  });
}
