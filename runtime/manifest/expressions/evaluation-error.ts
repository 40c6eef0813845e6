/**
 * An operation of an expression that cannot be done. Its message goes on: "an expression that …".
 */
export class EvaluationError extends Error {}

/** It asks what is not there for a part; conditions take that for "no". */
export class UndefinedError extends EvaluationError {}
