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
    super(error.message ?? "The server cannot be reached. Is it running?");
    this.status = status;
    this.details = error.details ?? {};
    this.requestId = error.request_id;
  }

  get reason(): string | undefined {
    return this.details.reason;
  }

  /** The result of the check, or what to do about it, where the API knows. */
  get fix(): string | undefined {
    const { fix, problem, check } = this.details;
    if (typeof fix === "string") return fix;
    if (typeof problem === "string") return problem;
    const message = (check as { readonly message?: unknown } | undefined)?.message;
    return typeof message === "string" ? message : undefined;
  }

  /** The faults, by the last part of the field's path. */
  get fields(): Readonly<Record<string, string>> {
    return Object.fromEntries(
      (this.details.errors ?? []).map(({ path, message }) => [
        path.split(".").at(-1) ?? path,
        message,
      ]),
    );
  }
}

export const toProblem = (error: unknown): Problem =>
  error instanceof Problem ? error : new Problem(0);
