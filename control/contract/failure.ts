/** Why a job has failed, as the answers about jobs and pipelines say it. */
import { Type } from "typebox";
import { OneOf, StrictObject, Time } from "./schemas.ts";

export const Failure = StrictObject(
  {
    origin: OneOf(["source", "destination", "platform"], { description: "Who failed." }),
    type: OneOf([
      "config_error",
      "transient_error",
      "system_error",
      "auth_error",
      "rate_limited",
      "timeout",
      "manual_cancellation",
    ]),
    code: Type.String({ description: "Stable, for programs." }),
    message: Type.String({ description: "What happened and what to do, in safe words." }),
    retryable: Type.Boolean(),
    stream: Type.Optional(Type.String()),
    at: Time,
  },
  { title: "Failure" },
);
