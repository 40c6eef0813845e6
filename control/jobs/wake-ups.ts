/**
 * How processes tell each other that there may be a job to run. A wake-up that is lost costs
 * seconds: every process that runs jobs looks again by itself.
 */
import type { Database } from "../store/database.ts";
import { coalesce } from "./coalesce.ts";

const channel = "svc_jobs";

export interface WakeUps {
  /** Wakes all processes that run jobs, this one included. Never rejects. */
  send(): Promise<void>;
  /** Calls back whenever there may be something to do. */
  receive(onWakeUp: () => void): AsyncDisposable;
}

export const createWakeUps = ({ notifications }: Database): WakeUps => ({
  send: coalesce(() => notifications.notify(channel)),
  receive: (onWakeUp) => notifications.listen(channel, onWakeUp),
});
