import { ControlError } from "../contract/reasons.ts";

/** @param problem one sentence, without anything foreign */
export const refused = (problem: string) => new ControlError("connector_refused", { problem });
