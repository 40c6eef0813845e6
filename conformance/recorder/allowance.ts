/**
 * How much is recorded: of each run (a check, a stream read whole, incrementally or resumed), and
 * of all together. An account may hold gigabytes; nobody reviews them.
 */
import type { SeenExchange } from "svc-connectors/host";

export interface RecordingLimits {
  /** Of one run. Default 200. */
  readonly maxRequests: number;
  /** Of the bodies of one run, decompressed. Default 4 MB. */
  readonly maxBytes: number;
}

export const defaultLimits: RecordingLimits = { maxRequests: 200, maxBytes: 4_000_000 };
/** All runs together may take so many times as much as one. */
const timesAltogether = 10;
/** The kit loads a thousand files of a folder, and there are two besides. */
const maxRuns = 990;

export interface Allowance {
  openRun(): RunAllowance;
  /** Why nothing more is recorded, as the end of a sentence; undefined while there is room. */
  readonly spent: string | undefined;
}

export interface RunAllowance {
  take(exchange: SeenExchange): void;
  /** Aborts when the run has taken more than it may. */
  readonly signal: AbortSignal;
  /** The reason why the run was stopped: "asked for more than 200 requests". */
  readonly excess: string | undefined;
}

export function createAllowance(limits: Partial<RecordingLimits> = {}): Allowance {
  const { maxRequests, maxBytes } = { ...defaultLimits, ...limits };
  const most = {
    requests: maxRequests * timesAltogether,
    bytes: maxBytes * timesAltogether,
  };
  const all = { runs: 0, requests: 0, bytes: 0 };
  const spent = () => {
    if (all.requests >= most.requests) return `${most.requests} requests were recorded`;
    if (all.bytes >= most.bytes) return `${most.bytes / 1_000_000} MB were recorded`;
    return all.runs >= maxRuns ? `${all.runs} files were recorded` : undefined;
  };
  return {
    get spent() {
      return spent();
    },
    openRun() {
      const stop = new AbortController();
      const own = { requests: 0, bytes: 0 };
      let excess: string | undefined;
      all.runs++;
      return {
        take({ requestBody, responseBody }) {
          const bytes = (requestBody?.length ?? 0) + responseBody.length;
          for (const taken of [own, all]) {
            taken.requests++;
            taken.bytes += bytes;
          }
          if (own.requests > maxRequests) excess = `asked for more than ${maxRequests} requests`;
          else if (own.bytes > maxBytes) excess = `got more than ${maxBytes / 1_000_000} MB`;
          if (excess !== undefined) stop.abort();
        },
        signal: stop.signal,
        get excess() {
          return excess;
        },
      };
    },
  };
}
