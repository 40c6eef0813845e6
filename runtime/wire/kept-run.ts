/** The agreement of host and worker where one worker serves one run after another. */

/** Begins such a worker, as an argument. */
export const keptFlag = "--kept";

/** Ends what a run has printed, on both outputs: they are read apart from the frames. */
export const endMark = "\0the run is over\0";
