import { describe, expect, test } from "vitest";
import { pagesByCursor, pagesByNumber, pagesByOffset } from "./paging.ts";

async function collect<T>(pages: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const page of pages) all.push(page);
  return all;
}
const loops = expect.objectContaining({ code: "PAGING_LOOP" });

describe("pagesByNumber", () => {
  test.each([0, 1, 2, 3, 7])("asks for each page once, with a last page of %i", async (last) => {
    const asked: number[] = [];
    const pages = pagesByNumber(
      async (number) => asked.push(number) && { number },
      () => last,
    );
    const expected = Array.from({ length: Math.max(1, last) }, (_, index) => ({
      number: index + 1,
    }));
    expect(await collect(pages)).toEqual(expected);
    expect(asked).toEqual(expected.map(({ number }) => number));
  });

  test("follows a last page that moves", async () => {
    const pages = pagesByNumber(
      async (number) => number,
      (number) => (number < 4 ? number + 1 : number),
    );
    expect(await collect(pages)).toEqual([1, 2, 3, 4]);
  });

  test("fetches at most two pages ahead of the one that is used", async () => {
    let asked = 0;
    const pages = pagesByNumber(
      async () => ++asked,
      () => 100,
    );
    await pages.next();
    await new Promise((resolve) => setImmediate(resolve));
    expect(asked).toBe(3);
  });

  test("a failure of a page ahead comes when that page is reached, and never as an unhandled rejection", async () => {
    const seen: number[] = [];
    const pages = pagesByNumber(
      async (number) => (number === 3 ? Promise.reject(new Error("three")) : number),
      () => 9,
    );
    await expect(async () => {
      for await (const page of pages) {
        seen.push(page);
        await new Promise((resolve) => setImmediate(resolve));
      }
    }).rejects.toThrow("three");
    expect(seen).toEqual([1, 2]);
  });
});

describe("pagesByCursor", () => {
  const book =
    (links: Record<string, string | null>) =>
    (cursor = "start") =>
      Promise.resolve({ cursor, next: links[cursor] ?? null });
  const walk = (links: Record<string, string | null>) =>
    collect(pagesByCursor(book(links), ({ next }) => next)).then((pages) =>
      pages.map(({ cursor }) => cursor),
    );

  test("follows tokens, the empty one too, until there is none", async () => {
    expect(await walk({ start: "a", a: "", "": "b" })).toEqual(["start", "a", "", "b"]);
  });

  test("begins at a saved token", async () => {
    const pages = await collect(
      pagesByCursor(book({ b: "c" }), ({ next }) => next, { start: "b" }),
    );
    expect(pages.map(({ cursor }) => cursor)).toEqual(["b", "c"]);
  });

  test.each([
    [{ start: "a", a: "a" }],
    [{ start: "a", a: "b", b: "a" }],
  ])("stops a circle: %j", async (links) => {
    await expect(walk(links)).rejects.toEqual(loops);
  });
});

describe("pagesByOffset", () => {
  const pagesOf = (sizes: number[]) => {
    const offsets: number[] = [];
    let index = 0;
    const fetchPage = async (offset: number) => {
      offsets.push(offset);
      const size = sizes[index] ?? 0;
      return { size, more: ++index < sizes.length };
    };
    return {
      offsets,
      pages: pagesByOffset(
        fetchPage,
        ({ size }) => size,
        ({ more }) => more,
      ),
    };
  };

  test("counts short pages as long as the provider says that there are more", async () => {
    const { offsets, pages } = pagesOf([3, 1, 3, 0]);
    await collect(pages);
    expect(offsets).toEqual([0, 3, 4, 7]);
  });

  test("stops an empty page that claims more", async () => {
    await expect(collect(pagesOf([2, 0, 2]).pages)).rejects.toEqual(loops);
  });
});
