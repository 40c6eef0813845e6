/** Reads whose provider answers 200 with what is no page of rows. */
import type { Lab } from "../../contract/lab.ts";
import {
  edgeRequests,
  mostRefusals,
  type Refusals,
  type RequestPlace,
  refuse,
} from "../requests/rate-limits.ts";
import { wrongBodies, wrongShapes } from "../rows/wrong-bodies.ts";

export interface WrongAnswerRun extends Pick<Refusals, "observation" | "tries"> {
  /** "notes, request 2 answered 200 with a web page". */
  readonly name: string;
  readonly place: RequestPlace;
}

/** Requests of reads that are tried, with every wrong body. */
const sampledPlaces = 6;

/** Done once for all rules. */
export function wrongAnswers(lab: Lab): Promise<readonly WrongAnswerRun[]> {
  return lab.once("wrong answers", async () => {
    const runs: WrongAnswerRun[] = [];
    if (lab.egress !== "http") return runs;
    for (const place of await edgeRequests(lab, sampledPlaces)) {
      for (const { name: what, text, contentType } of [
        ...wrongBodies(place.exchange),
        ...wrongShapes(lab, place.exchange),
      ]) {
        const answer = {
          status: 200,
          headers: { "content-type": contentType },
          body: Buffer.from(text),
        };
        const { observation, tries } = await refuse(lab, place, answer, mostRefusals);
        runs.push({
          name: `${place.name} answered 200 with ${what}`,
          place,
          observation,
          tries,
        });
      }
    }
    return runs;
  });
}
