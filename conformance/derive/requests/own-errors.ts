/** How this provider itself reports an error in an answer of status 200, where that is known. */
import { isJsonObject } from "svc-connectors/host";
import type { Lab } from "../../contract/lab.ts";

/**
 * Documents: the error answers of status 200 among its recorded ones, and what the error rules of
 * the manifest look for.
 */
export function ownErrors(lab: Pick<Lab, "manifest" | "answers">): readonly object[] {
  const egress = lab.manifest?.egress;
  const rules = egress?.kind === "http" ? (egress.errors ?? []) : [];
  const declared = rules.flatMap(({ status, header, pointer, equals, contains }) => {
    const isOf200 = status === undefined || [status].flat().includes(200);
    if (
      !isOf200 ||
      header !== undefined ||
      pointer === undefined ||
      !/^(?:\/[^/~]+)+$/.test(pointer)
    )
      return [];
    const value =
      equals?.[0] ?? (contains === undefined ? "Something failed." : `It ${contains} now.`);
    return [
      pointer
        .slice(1)
        .split("/")
        .reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as object,
    ];
  });
  const recorded = Object.values(lab.answers?.answers ?? {}).flatMap(({ status, body }) =>
    status === 200 && body ? parsed(body) : [],
  );
  return [...declared.slice(0, 2), ...recorded];
}

function parsed(text: string): object[] {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? [value] : [];
  } catch {
    return [];
  }
}
