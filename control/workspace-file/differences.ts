/**
 * Compares an entry of a workspace file with what is there. What the file does not say is not
 * compared.
 */
import { isDeepStrictEqual } from "node:util";
import { isJsonObject, type JsonValue } from "svc-connectors/host";
import type { Path } from "./read.ts";

/** One place that is not as the file says. */
export interface Difference {
  readonly path: Path;
  /** Undefined: there is nothing. */
  readonly before?: JsonValue | undefined;
  /** Undefined: it is taken away. */
  readonly after?: JsonValue | undefined;
}

type Fields = Readonly<Record<string, JsonValue | undefined>>;

/** Compares objects name by name, everything else as a whole. */
export function differencesOf(wanted: Fields, there: Fields, path: Path = []): Difference[] {
  return Object.entries(wanted).flatMap(([name, after]) => {
    if (after === undefined) return [];
    const before = there[name];
    const here = [...path, name];
    if (isJsonObject(after) && !isWhole(name))
      return differencesOf(after, isJsonObject(before) ? before : {}, here);
    if (after === null)
      return before === undefined || before === null ? [] : [{ path: here, before }];
    return isSame(after, before, name) ? [] : [{ path: here, before, after }];
  });
}

/** Its parts mean something together only. */
const isWhole = (name: string) => name === "schedule";

/** Whether the API would keep one as the other. */
function isSame(wanted: JsonValue, there: JsonValue | undefined, name: string): boolean {
  const forms: Readonly<Record<string, (value: JsonValue | undefined) => unknown>> = {
    schedule: scheduleForm,
    mappings: mappingsForm,
    event_types: (value) => (Array.isArray(value) ? [...value].sort() : value),
    secrets_expire_at: (value) => (typeof value === "string" ? Date.parse(value) : value),
  };
  const form = forms[name] ?? plainForm;
  return isDeepStrictEqual(form(wanted), form(there));
}

function scheduleForm(value: JsonValue | undefined): unknown {
  if (!isJsonObject(value) || value.type !== "cron") return value;
  const { cron_expression: expression, cron_timezone: zone = "UTC" } = value;
  return { expression: String(expression).trim().split(/\s+/).join(" "), zone };
}

const mappingsForm = (value: JsonValue | undefined): unknown =>
  Array.isArray(value)
    ? value.map((one) => (isJsonObject(one) ? { is_primary_identifier: false, ...one } : one))
    : value;

/** Ids are texts, whatever they were entered as; addresses are kept in their usual form. */
function plainForm(value: JsonValue | undefined): unknown {
  if (typeof value === "number") return String(value);
  if (Array.isArray(value)) return value.map(plainForm);
  if (typeof value === "string" && /^https?:\/\//i.test(value) && URL.canParse(value))
    return new URL(value).href.replace(/\/$/, "");
  return value;
}
