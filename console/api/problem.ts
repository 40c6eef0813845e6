import type { schemas } from "./schema.ts";

export type FieldError = schemas["FieldError"];

/** An answer of the API that is an error, or none at all (status 0). */
export class Problem extends Error {
  readonly status: number;
  readonly details: Readonly<Record<string, unknown>> & {
    readonly reason?: string | undefined;
    readonly errors?: readonly FieldError[] | undefined;
  };
  readonly requestId: string | undefined;

  constructor(status: number, error: Partial<schemas["Error"]> = {}) {
    const { message = "The server cannot be reached. Is it running?", details = {} } = error;
    // A finding of a connector says more than the class of it, and contains it.
    const { explanation } = details as { readonly explanation?: unknown };
    super(typeof explanation === "string" ? explanation : message);
    this.status = status;
    this.details = details;
    this.requestId = error.request_id;
  }

  get reason(): string | undefined {
    return this.details.reason;
  }

  /** The result of the check, or what to do about it, where the API knows. */
  get fix(): string | undefined {
    const { fix, problem, check, errors } = this.details;
    if (typeof fix === "string") return fix;
    if (typeof problem === "string") return problem;
    // A fault that stands at its field is not said again for people at a command line.
    if (errors && errors.length > 0) return undefined;
    const message = (check as { readonly message?: unknown } | undefined)?.message;
    return typeof message === "string" ? message : undefined;
  }

  /** Whether the provider, or the database, has refused the secrets that were sent. */
  get isOfSecrets(): boolean {
    const { check, error } = this.details;
    const code = (check as { readonly error?: unknown } | undefined)?.error ?? error;
    return code === "CREDENTIALS_REJECTED";
  }

  /** The faults, by the field's path in the body, in its settings, and by the last part of it. */
  get fields(): Readonly<Record<string, string>> {
    return Object.fromEntries(
      (this.details.errors ?? []).flatMap(({ path, message }) => {
        const parts = path.split(".");
        const names = new Set([path, parts.slice(1).join("."), parts.at(-1) ?? ""]);
        return [...names].filter((name) => name !== "").map((name) => [name, sentence(message)]);
      }),
    );
  }
}

/** The words of the API for a field, beside that field: "is missing" is said of it. */
const sentence = (message: string): string =>
  /^(is|must|has|needs|cannot|can|does|may|goes|holds|stands|belongs) /.test(message)
    ? `It ${message}${/[.!?…]$/.test(message) ? "" : "."}`
    : message;

export const toProblem = (error: unknown): Problem =>
  error instanceof Problem ? error : new Problem(0);
