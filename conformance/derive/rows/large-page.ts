/** One page of very many rows, and what it costs to read it. */
import type { Lab } from "../../contract/lab.ts";
import type { Provider } from "../../contract/network.ts";
import type { Observation } from "../../contract/observation.ts";
import { gaugeMemory, gaugeTurns } from "../../replay/gauges.ts";
import { withAnswers } from "../../replay/strict.ts";
import { largestPage, manyRows, readLarge, type StreamListing, streamListings } from "./large.ts";

const rowCounts = { default: 12_000, exhaustive: 100_000 };
/**
 * Messages after which other work of this process gets its turn, as with any output that is not
 * memory.
 */
const breath = 50;

export interface LargePage {
  readonly one: StreamListing;
  readonly rowCount: number;
  readonly pageBytes: number;
  readonly observation: Observation;
  /** Most bytes of heap and buffers that this process held beyond those before the run. */
  readonly peakBytes: number;
  /** Processor time of the longest turn of this process's event loop; ms. */
  readonly longestTurnMs: number;
}

/** Read once for all rules. Undefined where no listing can give such a page. */
export function largePage(lab: Lab): Promise<LargePage | undefined> {
  return lab.once("large page", () => readLargePage(lab));
}

/** Reads it now: figures of processor time differ from one reading to the next. */
export async function readLargePage(lab: Lab): Promise<LargePage | undefined> {
  const rowCount = lab.isExhaustive ? rowCounts.exhaustive : rowCounts.default;
  const one = (await streamListings(lab)).find(
    (candidate) =>
      candidate.keyFields.length > 0 && largestPage(lab, candidate, rowCount) === rowCount,
  );
  if (!one) return undefined;
  let pageBytes = 0;
  let memory = gaugeMemory();
  let turns = gaugeTurns();
  const around = (provider: Provider) =>
    withAnswers(provider, (answer) => {
      // The page has been made; what comes after it is the connector's work.
      pageBytes = Math.max(pageBytes, answer.body.length);
      memory.stop();
      turns.stop();
      memory = gaugeMemory();
      turns = gaugeTurns();
      return answer;
    });
  const observation = await readLarge(
    lab,
    one,
    { rows: manyRows(one, rowCount), pageSize: rowCount, around },
    {
      isBrief: true,
      onMessage: (_, count) =>
        count % breath === 0 ? new Promise((resolve) => setImmediate(resolve)) : undefined,
    },
  );
  return {
    one,
    rowCount,
    pageBytes,
    observation,
    peakBytes: memory.stop(),
    longestTurnMs: turns.stop(),
  };
}
