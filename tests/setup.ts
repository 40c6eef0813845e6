/**
 * Property tests run on one seed, so that a run tells of the change and not of luck.
 * `FC_SEED=$RANDOM npm test` looks further.
 */
import fc from "fast-check";

fc.configureGlobal({ seed: Number(process.env.FC_SEED ?? 20_261_121) });
