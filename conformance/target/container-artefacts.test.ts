/** An image that leaves much behind: many files, long output, a long last word. */
import { expect, test } from "vitest";
import { readArtefacts } from "./container-artefacts.ts";
import type { Container } from "./container-docker.ts";
import { createTail, readOutput } from "./container-output.ts";

/** A finished container with these changed paths; asking for a file is counted. */
function container(paths: readonly string[]) {
  const asked: string[] = [];
  const fake = {
    logs: async () => Buffer.alloc(0),
    inspect: async () => ({}),
    changes: async () => paths.map((Path) => ({ Path, Kind: 1 })),
    async *getArchive({ path }: { path: string }) {
      asked.push(path);
      const tar = Buffer.alloc(1024);
      tar.write("0", 156);
      tar.write("00000000005\0", 124);
      tar.write("hello", 512);
      yield tar;
    },
  };
  const given = {
    ...fake,
    getArchive: async (options: { path: string }) => fake.getArchive(options),
  };
  return { container: given as unknown as Container, asked };
}

test("files are read, and the folders that they lie in are not", async () => {
  const paths = ["/tmp", "/tmp/a", "/tmp/a/b.txt", "/tmp/a-c", "/mnt"];
  const { container: finished, asked } = container(paths);
  const artefacts = await readArtefacts(finished, "/mnt");
  expect(asked).toEqual(["/tmp/a/b.txt", "/tmp/a-c"]);
  expect(artefacts.at(-1)).toEqual({ name: "/tmp/a-c", text: "hello" });
});

test("of a hundred thousand files fifty are read", async () => {
  const paths = Array.from({ length: 100_000 }, (_, index) => `/tmp/f${index}`);
  const { container: finished, asked } = container(["/tmp", ...paths]);
  await readArtefacts(finished, "/mnt");
  expect(asked).toEqual(paths.slice(0, 50));
});

test("of a long text the last MiB is kept", () => {
  const tail = createTail();
  for (let at = 0; at < 5_000; at++) tail.add(`${at} ${"x".repeat(1_000)}\n`);
  expect(tail.text()).toHaveLength(2 ** 20);
  expect(tail.text()).toMatch(/4999 x+\n$/);
  const short = createTail();
  short.add("a word");
  expect(short.text()).toBe("a word");
});

test("a line without end comes in pieces of 64 MiB", async () => {
  const frame = Buffer.alloc(8 + 2 ** 20, "x");
  frame.writeUInt32BE(2 ** 20, 4);
  frame[0] = 1;
  const lengths: number[] = [];
  await readOutput(
    (async function* () {
      for (let at = 0; at < 130; at++) yield frame;
    })(),
    { line: async (text) => void lengths.push(text.length), error: () => {} },
  );
  expect(lengths.length).toBeGreaterThan(1);
  expect(Math.max(...lengths)).toBeLessThan(66 * 2 ** 20);
});
