/** Says at the start of a run what it will prove, and makes what its processes start from. */
import { bundleWorker } from "../build/worker.ts";
import { isWhole } from "./effort.ts";

export async function setup(): Promise<void> {
  console.log(
    isWhole
      ? "Everything runs, with whole samples: units, the Control API, the kit's rules and its seeded matrix, connectors, real servers, and the long suites (kills again and again, fuzzing, containers, 6,000 tables)."
      : "What a commit needs runs: units, the Control API, every rule of the kit, connectors, real servers and a few kills. CI and `npm run test:all` take whole samples and the long suites besides (docs/tests.md says which).",
  );
  // Of sources that do not fit together nothing is made: the tests of them say what is wrong.
  await bundleWorker().catch(() => undefined);
}
