import { type ErrorCode, errorTable } from "svc-connectors/host";

/** Kinds in the order of the page, with who must act. */
const kinds = {
  config: "The user of the source must act",
  transient: "Nobody must act: a later run goes on from the last checkpoint",
  source: "The provider must act, or the connector must learn what changed",
  connector: "The connector's author must act",
  system: "The operator of svc must act",
  cancelled: "Somebody asked for it",
} as const;

/** The page docs/errors.md. */
export function renderErrorPage(): string {
  const sections = Object.entries(kinds).map(([kind, heading]) => {
    const codes = (Object.keys(errorTable) as ErrorCode[]).filter(
      (code) => errorTable[code].kind === kind,
    );
    return [`## ${kind}: ${heading}`, "", ...codes.flatMap(renderRow)].join("\n");
  });
  return [
    "# Errors",
    "",
    "<!-- generated from runtime/contract/errors.ts by `npm run docs` -->",
    "",
    "Every failure has one of these codes. The code alone decides whether a try is repeated, the exit status, the HTTP",
    "status of the Control API and Airbyte's `failure_type`. A message is one line; `{name}` stands for a fact, a part in `[…]` may be missing.",
    "No message ever holds text of a foreign error, a value of the configuration, a path of the machine or a stack trace.",
    "",
    ...sections,
  ].join("\n");
}

function renderRow(code: ErrorCode): string[] {
  const { kind, http, message, fix } = errorTable[code];
  const failureType =
    kind === "config" ? "config_error" : kind === "transient" ? "transient_error" : "system_error";
  return [
    `### ${code}`,
    "",
    `${message}`,
    "",
    `*What to do:* ${fix}`,
    "",
    `HTTP ${http} · \`${failureType}\``,
    "",
  ];
}
