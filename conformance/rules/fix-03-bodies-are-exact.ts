import { textEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import type { RecordedResponse } from "../contract/recording.ts";
import { defineRule } from "../contract/rule.ts";

/** They speak of the bytes on the wire or of the moment; a replay makes those that it needs. */
const volatile = new Set([
  "content-length",
  "content-encoding",
  "transfer-encoding",
  "connection",
  "keep-alive",
  "trailer",
  "upgrade",
  "date",
  "age",
  "set-cookie",
  "via",
  "server-timing",
  "x-request-id",
  "x-correlation-id",
  "x-trace-id",
  "traceparent",
  "x-amzn-requestid",
  "x-amzn-trace-id",
  "x-runtime",
  "cf-ray",
  "x-served-by",
  "nel",
  "report-to",
]);
/** Wrong in any recording, whatever the connector declares. */
const never = new Set([
  "content-length",
  "content-encoding",
  "transfer-encoding",
  "connection",
  "keep-alive",
  "trailer",
  "set-cookie",
]);

export default defineRule({
  id: "FIX-03",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "Recorded bodies are what the provider sent, to the last digit, and headers that speak of the wire or the moment are left out.",
  why: "A body that was parsed and written again has lost its long numbers; one that was redacted has another length than its header says, and the replay hangs or is cut. Then the tests prove something about a provider that does not exist.",
  fix: "Record anew with `svc record`: it keeps the exact text and drops those headers. Do not format bodies by hand.",
  good: "headers: { content-type: application/json }\nbody: '{\"id\":9007199254740993}'",
  bad: "headers: { content-length: '812', date: … }\nbody: '{\"id\":9007199254740992}'",
  notApplicable: (lab) =>
    lab.database ? "its data is what the seed says: nothing is recorded" : undefined,
  async run(lab, report) {
    const declared = new Set(
      lab.manifest?.egress.kind === "http"
        ? (lab.manifest.egress.responseHeaders ?? []).map((name) => name.toLowerCase())
        : [],
    );
    for (const { name, response } of responsesOf(lab)) {
      report.checked(name);
      for (const problem of problemsOf(response, declared))
        report.fail(
          `${name}: ${problem}`,
          textEvidence("The recorded answer", answerText(response)),
        );
    }
  },
});

function responsesOf({
  unfilled,
  answers,
}: Lab): { readonly name: string; readonly response: RecordedResponse }[] {
  return [
    ...unfilled.flatMap((recording) =>
      recording.interactions.map(({ response }, index) => ({
        name: `${recording.name}.yaml, answer ${index + 1}`,
        response,
      })),
    ),
    ...Object.entries(answers?.answers ?? {}).map(([status, response]) => ({
      name: `answers.yaml, ${status}`,
      response,
    })),
  ];
}

function problemsOf(
  { status, headers, body, body_base64 }: RecordedResponse,
  declared: ReadonlySet<string>,
): string[] {
  const kept = Object.keys(headers).filter(
    (name) => never.has(name) || (volatile.has(name) && !declared.has(name)),
  );
  return [
    ...kept.map(
      (name) =>
        `it keeps the header ${name}, which ${never.has(name) ? "speaks of bytes on the wire that are no longer these" : "is another one in every answer"}. Take it out.`,
    ),
    ...(body !== undefined && body_base64 !== undefined
      ? ["it has a body as text and another as base64. Keep the one that was sent."]
      : []),
    ...(body_base64 !== undefined && !isExactBase64(body_base64)
      ? [
          "its base64 does not give the same text when it is decoded and encoded: something was cut off.",
        ]
      : []),
    ...(body === undefined
      ? []
      : textProblems(body, /\bjson\b/i.test(headers["content-type"] ?? "") && status < 300)),
  ];
}

const isExactBase64 = (text: string) =>
  Buffer.from(text, "base64").toString("base64").replaceAll("=", "") === text.replaceAll("=", "");

function textProblems(body: string, isJson: boolean): string[] {
  if (/\ufffd/.test(body))
    return ["its body holds U+FFFD: bytes that were no UTF-8 were lost. Record it as base64."];
  if (!body.isWellFormed())
    return ["its body holds half a surrogate pair, which no UTF-8 text has. Record it anew."];
  if (!isJson || body.trim() === "") return [];
  try {
    JSON.parse(body);
  } catch {
    return [
      "it says that it is JSON, and is none: it was cut off, or changed by hand. Record it anew.",
    ];
  }
  const rounded = roundedNumbers(body);
  return rounded.length === 0
    ? []
    : [
        `its long numbers (${rounded.slice(0, 3).join(", ")}) are as JavaScript rounds them: the body was parsed and written again, and their last digits are lost. Record it anew.`,
      ];
}

/**
 * Whole numbers of 17 digits and more, when all of them are what a double prints: it prints zeros
 * for the digits that it lost.
 */
function roundedNumbers(body: string): readonly string[] {
  const outsideOfTexts = body.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""');
  const long = [...outsideOfTexts.matchAll(/(?<![\d.eE+-])-?\d{17,}(?![\d.eE])/g)].map(
    ([text]) => text,
  );
  return long.length > 0 &&
    long.every((text) => text.endsWith("00") && String(Number(text)) === text)
    ? long
    : [];
}

const answerText = ({ status, headers, body, body_base64 }: RecordedResponse) =>
  [
    String(status),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    "",
    body ?? body_base64 ?? "",
  ].join("\n");
