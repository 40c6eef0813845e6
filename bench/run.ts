import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

/** One program to its end, its standard output thrown away. */
export interface Ran {
  readonly seconds: number;
  /** The last line of standard error, parsed, when it is JSON. */
  readonly report: Record<string, unknown>;
}

const here = (file: string) => fileURLToPath(new URL(file, import.meta.url));

/** Runs a program of this folder on the built package, as it ships. */
export function runProgram(file: string, args: readonly (string | number)[]): Promise<Ran> {
  const startedMs = performance.now();
  const child = spawn(process.execPath, [here(file), ...args.map(String)], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let text = "";
  child.stderr.on("data", (chunk: Buffer) => {
    text += chunk;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject).once("close", (code) => {
      if (code !== 0) return reject(new Error(`${file} ended with ${code}: ${text.slice(-2000)}`));
      const last = text.trim().split("\n").at(-1) ?? "";
      resolve({
        seconds: (performance.now() - startedMs) / 1000,
        report: last.startsWith("{") ? JSON.parse(last) : {},
      });
    });
  });
}

/** Starts a program of this folder that prints one JSON line when it is ready. */
export async function startProgram(
  file: string,
  ...args: readonly string[]
): Promise<{ ready: Record<string, unknown> } & Disposable> {
  const child = spawn(process.execPath, [here(file), ...args], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ready = await new Promise<string>((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk;
      if (text.includes("\n")) resolve(text.slice(0, text.indexOf("\n")));
    });
    child.once("error", reject).once("close", () => reject(new Error(`${file} ended`)));
  });
  return { ready: JSON.parse(ready), [Symbol.dispose]: () => void child.kill() };
}

export const median = (values: readonly number[]) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** One line of the table. */
export interface Result {
  readonly name: string;
  readonly ours: string;
  readonly baseline: string;
  readonly ratio: number;
  readonly aim: string;
}
