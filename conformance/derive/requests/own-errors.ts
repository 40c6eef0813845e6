/** How this provider itself reports an error, where that is known. */
import type { ErrorRule } from "svc-connectors";
import { isJsonObject, valueAt } from "svc-connectors/host";
import type { Lab } from "../../contract/lab.ts";
import type { Answer } from "../../contract/network.ts";

/**
 * Documents: the error answers of status 200 among its recorded ones, and what the error rules of
 * the manifest look for.
 */
export function ownErrors(lab: Pick<Lab, "manifest" | "answers">): readonly object[] {
  const declared = errorRulesOf(lab).flatMap((rule) => {
    const { status, header } = rule;
    const isOf200 = status === undefined || [status].flat().includes(200);
    return isOf200 && header === undefined ? documentsOf(rule) : [];
  });
  const recorded = Object.values(lab.answers?.answers ?? {}).flatMap(({ status, body }) =>
    status === 200 && body ? parsed(body) : [],
  );
  return [...declared.slice(0, 2), ...recorded];
}

export interface DeclaredError {
  readonly code: ErrorRule["code"];
  /** "400 with {"error_code":"NO_ACCOUNTS"}". */
  readonly name: string;
  readonly answer: Answer;
}

/**
 * An answer for each code that the error rules of the manifest give to a value in the body, in the
 * status that the rule names, or that of a recorded error answer which has such a value.
 */
export function declaredErrors(lab: Pick<Lab, "manifest" | "answers">): readonly DeclaredError[] {
  const errors = new Map<string, DeclaredError>();
  for (const rule of errorRulesOf(lab)) {
    const [document] = documentsOf(rule);
    if (!document || errors.has(rule.code)) continue;
    const status = statusOf(lab, rule);
    const { header } = rule;
    const headers = {
      "content-type": "application/json",
      ...(header ? { [header.name]: header.equals } : {}),
    };
    const text = JSON.stringify(document);
    const answer = { status, headers, body: Buffer.from(text) };
    errors.set(rule.code, { code: rule.code, name: `${status} with ${text}`, answer });
  }
  return [...errors.values()];
}

function errorRulesOf({ manifest }: Pick<Lab, "manifest">): readonly ErrorRule[] {
  const egress = manifest?.egress;
  return egress?.kind === "http" ? (egress.errors ?? []) : [];
}

/** The document that a rule looks for; none where it does not look into the body. */
function documentsOf({ pointer, equals, contains }: ErrorRule): object[] {
  if (pointer === undefined || !/^(?:\/[^/~]+)+$/.test(pointer)) return [];
  const value =
    equals?.[0] ?? (contains === undefined ? "Something failed." : `It ${contains} now.`);
  return [
    pointer
      .slice(1)
      .split("/")
      .reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as object,
  ];
}

/** Refused credentials and limits are tried by rules of their own. */
const usualStatus = 400;
const isOfRequest = (status: number) =>
  status >= 400 && status < 500 && ![401, 429].includes(status);

function statusOf({ answers }: Pick<Lab, "answers">, { status, pointer = "" }: ErrorRule): number {
  const [declared] = [status ?? []].flat();
  const recorded = Object.values(answers?.answers ?? {}).find(
    (answer) =>
      isOfRequest(answer.status) &&
      parsed(answer.body ?? "").some((document) => valueAt(document, pointer) !== undefined),
  );
  return declared ?? recorded?.status ?? usualStatus;
}

function parsed(text: string): object[] {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? [value] : [];
  } catch {
    return [];
  }
}
