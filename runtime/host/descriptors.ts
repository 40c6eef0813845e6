import { openSync, readdirSync, readFileSync } from "node:fs";

/**
 * Replaces the descriptors that a child would inherit. A process may be started with any
 * descriptors open (a shell's redirection, a supervisor's socket), and only those that Node opened
 * itself are closed when a child starts: an operator's file would be open in the worker. Entries
 * for `stdio` of a spawn, from `first` on: the null device for an inherited one.
 */
export function inheritedAsNull(first: number): ("ignore" | number)[] {
  const inherited = inheritedDescriptors().filter((descriptor) => descriptor >= first);
  const entries: ("ignore" | number)[] = [];
  for (const descriptor of inherited) entries[descriptor - first] = nullDevice();
  return Array.from(entries, (entry) => entry ?? "ignore");
}

/** Opened once; Node closes it in children, but for those that are given it. */
let nullDescriptor: number | undefined;
function nullDevice(): number {
  nullDescriptor ??= openSync("/dev/null", "r+");
  return nullDescriptor;
}

/** Descriptors of this process that a child keeps. @see proc_pid_fdinfo(5), open(2) */
function inheritedDescriptors(): number[] {
  const closesOnExec = 0o2000000;
  return listDescriptors().filter((descriptor) => {
    try {
      const flags = /^flags:\s*([0-7]+)$/m.exec(
        readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8"),
      );
      return flags?.[1] === undefined || (Number.parseInt(flags[1], 8) & closesOnExec) === 0;
    } catch (error) {
      // It was that of the listing itself; where the system does not tell, it counts as inherited.
      return (error as NodeJS.ErrnoException).code !== "ENOENT" || process.platform !== "linux";
    }
  });
}

function listDescriptors(): number[] {
  for (const folder of ["/proc/self/fd", "/dev/fd"]) {
    try {
      return readdirSync(folder).map(Number).filter(Number.isInteger);
    } catch {
      // the next one
    }
  }
  return [];
}
