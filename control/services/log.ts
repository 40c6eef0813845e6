import pino from "pino";

/** Facts of a log line: plain values only. An error is never logged as an object. */
export type LogFields = { readonly [name: string]: string | number | boolean | null | undefined };

export interface Log {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

/**
 * JSON lines on `destination` (standard error by default: standard output belongs to what a person
 * or program asked for).
 */
export function createLog(destination: { write(line: string): void } = process.stderr): Log {
  const logger = pino(
    {
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
    },
    destination,
  );
  return {
    info: (message, fields = {}) => logger.info(fields, message),
    warn: (message, fields = {}) => logger.warn(fields, message),
    error: (message, fields = {}) => logger.error(fields, message),
  };
}

export const silentLog: Log = {
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
