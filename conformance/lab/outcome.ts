/** Judges how a run ended, by its messages and by what the target knows. */
import type {
  Command,
  Failure,
  Message,
  ObservedMessage,
  Outcome,
} from "../contract/observation.ts";
import type { Ending } from "../contract/target.ts";
import { classify } from "../target/classes.ts";

export function toOutcome(
  command: Command,
  messages: readonly ObservedMessage[],
  ending: Ending,
  isCancelled: boolean,
): Outcome {
  const failures = messages.flatMap(({ message }) => toFailure(message));
  const status = messages
    .flatMap(({ message }) =>
      message.type === "CONNECTION_STATUS" ? [message.connectionStatus] : [],
    )
    .at(-1);
  if (status?.status === "FAILED" && failures.length === 0)
    failures.push({ ...classify(undefined, undefined), message: status.message ?? "" });
  if (ending.isHung) return { status: "hung", failures };
  if (ending.isCrashed) return { status: isCancelled ? "cancelled" : "crashed", failures };
  const isFailed = ending.exitCode !== 0 || failures.length > 0 || hasIncompleteStream(messages);
  if (isCancelled && isFailed) return { status: "cancelled", failures };
  const isSilent = command.verb !== "read" && ending.exitCode !== 0 && failures.length === 0;
  return { status: isSilent ? "crashed" : isFailed ? "failed" : "succeeded", failures };
}

function toFailure(message: Message): Failure[] {
  if (message.type !== "TRACE" || message.trace.type !== "ERROR") return [];
  const {
    message: text = "",
    failure_type,
    internal_message,
    stream_descriptor,
  } = message.trace.error ?? {};
  const { name, namespace } = stream_descriptor ?? {};
  const stream = name === undefined ? {} : { stream: namespace ? `${namespace}.${name}` : name };
  return [{ ...classify(failure_type, internal_message), message: text, ...stream }];
}

function hasIncompleteStream(messages: readonly ObservedMessage[]): boolean {
  return messages.some(
    ({ message }) =>
      message.type === "TRACE" && message.trace.stream_status?.status === "INCOMPLETE",
  );
}
