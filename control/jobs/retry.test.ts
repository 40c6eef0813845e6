import { ConnectorError, type ErrorCode } from "svc-connectors/host";
import { describe, expect, test } from "vitest";
import { ControlError } from "../contract/reasons.ts";
import { toConnectorError, toFailure } from "./failure.ts";
import { retryDelayMs } from "./retry.ts";

const at = new Date("2026-01-31T09:30:00Z");
const failed = (
  code: ErrorCode,
  rest: { fruitless?: number; attempt?: number; retryAfterMs?: number } = {},
) => ({
  failure: toFailure(new ConnectorError(code).toRecord(), "source", at),
  attempt: rest.fruitless ?? 1,
  fruitless: 1,
  maxAttempts: 8,
  ...rest,
});
const longest = () => 1 - Number.EPSILON;

describe("after a failure", () => {
  test("what passes by itself is tried again, later each time, up to an hour", () => {
    const delays = [1, 2, 3, 4, 5, 6, 7].map((fruitless) =>
      retryDelayMs(failed("CONNECTION_FAILED", { fruitless }), longest),
    );
    expect(delays).toEqual([10_000, 20_000, 40_000, 80_000, 160_000, 320_000, 640_000]);
    const many = { ...failed("CONNECTION_FAILED", { fruitless: 30 }), maxAttempts: 50 };
    expect(retryDelayMs(many, longest)).toBe(3_600_000);
  });

  test("two that failed together do not come back together", () => {
    expect(retryDelayMs(failed("CONNECTION_FAILED"), () => 0)).toBe(5_000);
    expect(retryDelayMs(failed("CONNECTION_FAILED"), () => 0.5)).toBe(7_500);
  });

  test("eight attempts in a row without a row are enough", () => {
    expect(retryDelayMs(failed("CONNECTION_FAILED", { fruitless: 8 }))).toBeUndefined();
  });

  test("attempts that commit rows go on, but not for ever", () => {
    expect(retryDelayMs(failed("CONNECTION_FAILED", { attempt: 40 }))).toBeGreaterThan(0);
    expect(retryDelayMs(failed("CONNECTION_FAILED", { attempt: 100 }))).toBeUndefined();
  });

  test("a provider's own time counts", () => {
    expect(retryDelayMs(failed("RATE_LIMITED", { retryAfterMs: 777_000 }))).toBe(777_000);
    expect(retryDelayMs(failed("PROVIDER_UNAVAILABLE", { retryAfterMs: 777_000 }))).toBe(777_000);
    expect(retryDelayMs(failed("RATE_LIMITED", { retryAfterMs: 1e12 }))).toBe(24 * 3_600_000);
  });

  test("what a person or an author must put right is not tried again", () => {
    for (const code of [
      "CREDENTIALS_REJECTED",
      "CONFIG_INVALID",
      "CONNECTOR_FAILED",
      "CANCELLED",
    ] as const)
      expect(retryDelayMs(failed(code))).toBeUndefined();
  });

  test("a fault of the system gets three tries", () => {
    expect(retryDelayMs(failed("OUTPUT_FAILED", { fruitless: 2 }))).toBeGreaterThan(0);
    expect(retryDelayMs(failed("OUTPUT_FAILED", { fruitless: 3 }))).toBeUndefined();
  });
});

describe("a failure says", () => {
  test("who failed and how", () => {
    const of = (code: ErrorCode) => {
      const { origin, type } = toFailure(new ConnectorError(code).toRecord(), "source", at);
      return `${origin} ${type}`;
    };
    expect(of("REAUTHORIZATION_NEEDED")).toBe("source auth_error");
    expect(of("RATE_LIMITED")).toBe("source rate_limited");
    expect(of("PROVIDER_TIMEOUT")).toBe("source timeout");
    expect(of("TABLE_CONFLICT")).toBe("destination config_error");
    expect(of("INTERNAL")).toBe("platform system_error");
    expect(of("CANCELLED")).toBe("platform manual_cancellation");
  });

  test("nothing of a foreign error", () => {
    expect(toConnectorError(new Error("password=hunter22")).toRecord()).toEqual(
      new ConnectorError("INTERNAL").toRecord(),
    );
    expect(toConnectorError(new ControlError("connector_disabled")).code).toBe(
      "CONNECTOR_DISABLED",
    );
    expect(toConnectorError(new ControlError("credential_not_usable")).code).toBe(
      "REAUTHORIZATION_NEEDED",
    );
  });
});
