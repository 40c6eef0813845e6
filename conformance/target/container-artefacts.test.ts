/** An image that leaves much behind: many files, long output, a long last word. */
import { expect, test } from "vitest";
import { readArtefacts } from "./container-artefacts.ts";
import type { Container } from "./container-docker.ts";
import { createTail, readOutput } from "./container-output.ts";

/** A finished container with these changed paths; asking for a file is counted. */
function container(paths: readonly string[], log = Buffer.alloc(0)) {
  const asked: string[] = [];
  const fake = {
    logs: async () => log,
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

test("the log holds what is no message of the protocol: those are looked at by themselves", async () => {
  const frame = (stream: number, text: string) => {
    const header = Buffer.from([stream, 0, 0, 0, 0, 0, 0, 0]);
    header.writeUInt32BE(Buffer.byteLength(text), 4);
    return Buffer.concat([header, Buffer.from(text)]);
  };
  const record = '{"record":{"data":{"title":"First"},"stream":"notes"},"type":"RECORD"}\n';
  const stray = '{"type":"OBJECT","title":"Second"}\nThird\n';
  const log = Buffer.concat([frame(1, record + stray), frame(2, "Fourth\n")]);
  const { container: finished } = container([], log);
  const [artefact] = await readArtefacts(finished, "/mnt");
  expect(artefact?.text).toBe(`${stray}Fourth\n`);
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
