import { fileURLToPath } from "node:url";

/** A place in a file that is on the stack. */
export interface Frame {
  /** Absolute path. */
  readonly file: string;
  readonly line: number;
}

/** Deep enough to pass through a library or two. */
const maxFrames = 40;

/**
 * The files on the stack of whoever calls, the nearest first; Node's own and those without a file
 * are left out.
 */
export function frames(): readonly Frame[] {
  // Whatever formats stacks in this process (a test runner maps them to sources) is slow, and not
  // wanted here.
  const { prepareStackTrace, stackTraceLimit } = Error;
  let sites: readonly NodeJS.CallSite[] = [];
  Error.stackTraceLimit = maxFrames;
  Error.prepareStackTrace = (_error, found) => {
    sites = found;
    return "";
  };
  try {
    const holder: { stack?: string } = {};
    Error.captureStackTrace(holder, frames);
    void holder.stack;
  } finally {
    Error.prepareStackTrace = prepareStackTrace;
    Error.stackTraceLimit = stackTraceLimit;
  }
  return sites.flatMap((site) => {
    const name = site.getFileName() ?? "";
    const file = name.startsWith("file:") ? fileURLToPath(name.replace(/[?#].*$/, "")) : name;
    return file.startsWith("/") || /^[A-Za-z]:[\\/]/.test(file)
      ? [{ file, line: site.getLineNumber() ?? 0 }]
      : [];
  });
}
