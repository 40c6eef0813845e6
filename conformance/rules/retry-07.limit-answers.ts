/** Answers by which providers say "too many requests" without status 429. */
import type { ErrorRule } from "svc-connectors";
import type { Lab } from "../contract/lab.ts";
import type { Answer } from "../contract/network.ts";

export interface VendorLimit {
  /** "403 with x-ratelimit-remaining: 0". */
  readonly name: string;
  readonly answer: Answer;
}

const json = { "content-type": "application/json" };
/** Until the window ends; most connectors wait so long. */
const windowMs = 60_000;
/** Where the wait takes real time. */
const shortWindowMs = 2_000;
const limitText =
  /rate.?limit|too many requests|quota|throttl|slow down|limit (?:has been |was )?(?:exceeded|reached)/i;

/**
 * The commonest form, of which every connector can know (403, nothing remaining), and those of this
 * provider: what the error rules of the manifest call RATE_LIMITED, and recorded error answers that
 * speak of a limit.
 */
export function vendorLimits(lab: Lab, nowMs: number): readonly VendorLimit[] {
  const reset = String(Math.ceil((nowMs + (lab.can("clock") ? windowMs : shortWindowMs)) / 1_000));
  const body = Buffer.from('{"error":{"code":"forbidden","message":"API rate limit exceeded."}}');
  const general: VendorLimit = {
    name: "403 with x-ratelimit-remaining: 0",
    answer: {
      status: 403,
      headers: {
        ...json,
        "x-ratelimit-limit": "5000",
        "x-ratelimit-remaining": "0",
        "x-ratelimit-reset": reset,
      },
      body,
    },
  };
  const egress = lab.manifest?.egress;
  const rules = egress?.kind === "http" ? (egress.errors ?? []) : [];
  return [general, ...rules.flatMap(fromRule), ...fromRecordings(lab)];
}

function fromRule({ status, header, pointer, equals, contains, code }: ErrorRule): VendorLimit[] {
  const first = [status ?? 200].flat()[0] ?? 200;
  if (code !== "RATE_LIMITED" || first === 429) return [];
  const value =
    contains === undefined ? (equals?.[0] ?? "Rate limit exceeded.") : `It says: ${contains}.`;
  const steps = pointer === undefined || pointer === "" ? [] : pointer.slice(1).split("/");
  const document =
    pointer === undefined
      ? {}
      : steps.reduceRight<unknown>(
          (inner, step) => (/^\d+$/.test(step) ? [inner] : { [step]: inner }),
          value,
        );
  const text = JSON.stringify(document);
  const named = header ? ` with ${header.name}: ${header.equals}` : ` with ${text}`;
  return [
    {
      name: `${first}${named}`,
      answer: {
        status: first,
        headers: { ...json, ...(header ? { [header.name]: header.equals } : {}) },
        body: Buffer.from(text),
      },
    },
  ];
}

function fromRecordings({ answers }: Lab): VendorLimit[] {
  return Object.values(answers?.answers ?? {}).flatMap(({ status, headers, body = "" }) => {
    const isLimit = headers["x-ratelimit-remaining"] === "0" || limitText.test(body);
    if (status === 429 || status >= 500 || !isLimit) return [];
    return [
      {
        name: `${status} with ${body.slice(0, 100)}`,
        answer: { status, headers: { ...json, ...headers }, body: Buffer.from(body) },
      },
    ];
  });
}
