/**
 * Yield and cost of each rule, for runs with a budget: how many of the seeded defects it finds
 * (fixtures/broken; tests/seeded/coverage.test.ts: at least those), and the runs that it makes of
 * the reference program with a tenth of each sample, those of the recordings and of the sweeps
 * left out.
 */
interface Yield {
  readonly finds: number;
  readonly runs: number;
  /** It looks at the runs of the sweeps, which are made for the first such rule. */
  readonly looksAtSweeps?: true;
}

export const yields: Readonly<Record<string, Yield>> = {
  "SPEC-01": { finds: 5, runs: 1 },
  "SPEC-02": { finds: 4, runs: 0 },
  "SPEC-03": { finds: 3, runs: 1 },
  "SPEC-04": { finds: 2, runs: 0 },
  "SPEC-05": { finds: 4, runs: 0 },
  "SPEC-06": { finds: 4, runs: 5 },
  "SPEC-07": { finds: 4, runs: 0 },
  "CHECK-01": { finds: 2, runs: 0 },
  "CHECK-02": { finds: 4, runs: 1 },
  "CHECK-03": { finds: 4, runs: 6 },
  "CHECK-04": { finds: 10, runs: 4 },
  "CHECK-05": { finds: 3, runs: 7 },
  "CHECK-06": { finds: 2, runs: 1 },
  "CHECK-07": { finds: 2, runs: 10 },
  "DISC-01": { finds: 3, runs: 0 },
  "DISC-02": { finds: 2, runs: 0 },
  "DISC-03": { finds: 3, runs: 0 },
  "DISC-04": { finds: 2, runs: 3 },
  "DISC-05": { finds: 3, runs: 1 },
  "DISC-06": { finds: 3, runs: 0 },
  "DISC-07": { finds: 4, runs: 0 },
  "READ-01": { finds: 2, runs: 2 },
  "READ-02": { finds: 4, runs: 0, looksAtSweeps: true },
  "READ-03": { finds: 1, runs: 0 },
  "READ-04": { finds: 6, runs: 0 },
  "READ-05": { finds: 3, runs: 0 },
  "READ-06": { finds: 9, runs: 8 },
  "READ-07": { finds: 2, runs: 3 },
  "READ-08": { finds: 4, runs: 6 },
  "STATE-01": { finds: 6, runs: 13 },
  "STATE-02": { finds: 3, runs: 0 },
  "STATE-03": { finds: 3, runs: 30 },
  "STATE-04": { finds: 1, runs: 24 },
  "STATE-05": { finds: 8, runs: 27 },
  "STATE-06": { finds: 2, runs: 3 },
  "STATE-07": { finds: 2, runs: 3 },
  "STATE-08": { finds: 2, runs: 11 },
  "STATE-09": { finds: 9, runs: 4 },
  "STATE-10": { finds: 1, runs: 9 },
  "STATE-11": { finds: 11, runs: 12 },
  "STATE-12": { finds: 3, runs: 4 },
  "STATE-13": { finds: 8, runs: 27 },
  "STATE-14": { finds: 6, runs: 10 },
  "STATE-15": { finds: 3, runs: 23 },
  "CDC-01": { finds: 2, runs: 6 },
  "CDC-02": { finds: 1, runs: 6 },
  "CDC-03": { finds: 1, runs: 3 },
  "CDC-04": { finds: 1, runs: 3 },
  "CDC-05": { finds: 1, runs: 6 },
  "CDC-06": { finds: 1, runs: 4 },
  "CDC-07": { finds: 1, runs: 8 },
  "CDC-08": { finds: 1, runs: 10 },
  "CDC-09": { finds: 1, runs: 7 },
  "CDC-10": { finds: 2, runs: 7 },
  "SCHEMA-01": { finds: 3, runs: 0 },
  "SCHEMA-02": { finds: 1, runs: 0 },
  "SCHEMA-03": { finds: 1, runs: 0 },
  "SCHEMA-04": { finds: 4, runs: 7 },
  "SCHEMA-05": { finds: 13, runs: 28 },
  "SCHEMA-06": { finds: 12, runs: 34 },
  "ERROR-01": { finds: 2, runs: 0, looksAtSweeps: true },
  "ERROR-02": { finds: 5, runs: 3, looksAtSweeps: true },
  "ERROR-03": { finds: 7, runs: 24 },
  "ERROR-04": { finds: 4, runs: 48 },
  "ERROR-05": { finds: 9, runs: 0, looksAtSweeps: true },
  "ERROR-06": { finds: 2, runs: 0, looksAtSweeps: true },
  "ERROR-07": { finds: 2, runs: 0, looksAtSweeps: true },
  "RETRY-01": { finds: 2, runs: 6 },
  "RETRY-02": { finds: 2, runs: 6 },
  "RETRY-03": { finds: 3, runs: 14 },
  "RETRY-04": { finds: 5, runs: 15 },
  "RETRY-05": { finds: 5, runs: 47 },
  "RETRY-06": { finds: 5, runs: 9 },
  "RETRY-07": { finds: 2, runs: 6 },
  "RETRY-08": { finds: 2, runs: 6 },
  "PAGE-01": { finds: 2, runs: 5 },
  "PAGE-02": { finds: 3, runs: 9 },
  "PAGE-03": { finds: 1, runs: 5 },
  "PAGE-04": { finds: 2, runs: 0 },
  "PAGE-05": { finds: 2, runs: 19 },
  "PAGE-06": { finds: 9, runs: 24 },
  "PAGE-07": { finds: 7, runs: 16 },
  "PAGE-08": { finds: 6, runs: 3 },
  "AUTH-01": { finds: 6, runs: 8 },
  "AUTH-02": { finds: 5, runs: 5 },
  "AUTH-03": { finds: 4, runs: 4 },
  "AUTH-04": { finds: 4, runs: 9 },
  "AUTH-05": { finds: 3, runs: 8 },
  "AUTH-06": { finds: 5, runs: 9 },
  "AUTH-07": { finds: 3, runs: 1 },
  "AUTH-08": { finds: 2, runs: 0, looksAtSweeps: true },
  "LEAK-01": { finds: 4, runs: 0, looksAtSweeps: true },
  "LEAK-02": { finds: 3, runs: 0, looksAtSweeps: true },
  "LEAK-03": { finds: 3, runs: 0, looksAtSweeps: true },
  "LEAK-04": { finds: 6, runs: 0, looksAtSweeps: true },
  "LEAK-05": { finds: 2, runs: 0, looksAtSweeps: true },
  "LEAK-06": { finds: 2, runs: 0, looksAtSweeps: true },
  "LEAK-07": { finds: 3, runs: 0, looksAtSweeps: true },
  "LEAK-08": { finds: 2, runs: 0, looksAtSweeps: true },
  "LEAK-09": { finds: 3, runs: 3, looksAtSweeps: true },
  "LEAK-10": { finds: 3, runs: 15 },
  "NET-01": { finds: 3, runs: 0, looksAtSweeps: true },
  "NET-02": { finds: 2, runs: 26 },
  "NET-03": { finds: 10, runs: 22 },
  "NET-04": { finds: 2, runs: 9 },
  "NET-05": { finds: 2, runs: 3 },
  "NET-06": { finds: 6, runs: 3 },
  "LIMIT-01": { finds: 5, runs: 0 },
  "LIMIT-02": { finds: 3, runs: 11 },
  "LIMIT-03": { finds: 3, runs: 14 },
  "LIMIT-04": { finds: 2, runs: 3 },
  "LIMIT-05": { finds: 2, runs: 77 },
  "CANCEL-01": { finds: 1, runs: 9 },
  "CANCEL-02": { finds: 4, runs: 18 },
  "CANCEL-03": { finds: 9, runs: 16 },
  "CANCEL-04": { finds: 2, runs: 19 },
  "CANCEL-05": { finds: 3, runs: 15 },
  "CANCEL-06": { finds: 1, runs: 6 },
  "MEM-01": { finds: 1, runs: 4 },
  "MEM-02": { finds: 2, runs: 5 },
  "MEM-03": { finds: 1, runs: 3 },
  "DET-01": { finds: 2, runs: 9 },
  "DET-02": { finds: 3, runs: 14 },
  "DET-03": { finds: 3, runs: 9 },
  "DET-04": { finds: 4, runs: 6 },
  "FIX-01": { finds: 5, runs: 0 },
  "FIX-02": { finds: 3, runs: 0 },
  "FIX-03": { finds: 2, runs: 0 },
  "FIX-04": { finds: 2, runs: 0 },
  "FIX-05": { finds: 2, runs: 0 },
  "FIX-06": { finds: 2, runs: 0 },
  "FIX-07": { finds: 1, runs: 9 },
  "FIX-08": { finds: 2, runs: 0 },
};

/** Runs of the sweeps: faults, crashes, wrong answers and the search for leaks. */
const sweepRuns = 136;

const unknown: Yield = { finds: 1, runs: 10 };
const of = (id: string) => yields[id] ?? unknown;

/**
 * The rules that find most for their runs first. Those that look at the sweeps bear their runs
 * together: no such rule comes before what all of them are worth.
 */
export function byYield<Rule extends { readonly id: string }>(rules: readonly Rule[]): Rule[] {
  const looking = rules.filter(({ id }) => of(id).looksAtSweeps);
  const finds = looking.reduce((sum, { id }) => sum + of(id).finds, 0);
  const together = finds / (runsOf(looking) + looking.length);
  const worth = ({ id }: Rule) =>
    of(id).looksAtSweeps ? Math.min(ownWorth(id), together) : ownWorth(id);
  return rules.toSorted(
    (one, other) => worth(other) - worth(one) || ownWorth(other.id) - ownWorth(one.id),
  );
}

/** A rule that only looks costs a little too. */
const ownWorth = (id: string) => of(id).finds / (of(id).runs + 1);

/** Runs that rules make with a tenth of each sample. */
export const runsOf = (rules: readonly { readonly id: string }[]): number =>
  rules.reduce((sum, { id }) => sum + of(id).runs, 0) +
  (rules.some(({ id }) => of(id).looksAtSweeps) ? sweepRuns : 0);

/** The part of each sample that {@link yields} was measured with. */
export const yieldEffort = 0.1;
