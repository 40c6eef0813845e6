import type { Log, LogFields } from "../services/log.ts";

const colors = { info: "\u001b[2m", warn: "\u001b[33m", error: "\u001b[31m" } as const;
const plain = "\u001b[0m";

/** One line for a person: the time, what happened, and the facts that are there. */
export function createPrettyLog(
  destination: { write(line: string): unknown },
  now: () => number,
): Log {
  const write =
    (level: keyof typeof colors) =>
    (message: string, fields: LogFields = {}) => {
      const time = new Date(now()).toISOString().slice(11, 23);
      const facts = Object.entries(fields)
        .filter(([, value]) => value !== null && value !== undefined)
        .map(([name, value]) => `${name}=${String(value)}`);
      const text = [message, ...facts].join(" ").replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, "?");
      destination.write(`${colors[level]}${time} ${level.padEnd(5)}${plain} ${text}\n`);
    };
  return { info: write("info"), warn: write("warn"), error: write("error") };
}
