import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { addKey, KeyFileError, openKeyring, readKeyIds, removeKeys } from "./keyring.ts";

describe("the key file", () => {
  let folder: string;
  let path: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "svc-keys-"));
    path = join(folder, "data", "keys.json");
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  test("is made for its owner only, and read again", async () => {
    const made = await openKeyring(path, { create: true });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const read = await openKeyring(path, { create: true });
    expect(read.current.id).toBe(made.current.id);
    expect(read.current.key.equals(made.current.key)).toBe(true);
  });

  test("is made once by any number of servers that start together", async () => {
    const rings = await Promise.all(
      Array.from({ length: 8 }, () => openKeyring(path, { create: true })),
    );
    expect(new Set(rings.map(({ current }) => current.id)).size).toBe(1);
  });

  test("is not made when it must be there", async () => {
    await expect(openKeyring(path, { create: false })).rejects.toThrow(/does not exist/);
  });

  test.each([
    0o644, 0o640, 0o606,
  ])("that others can read or write (%o) is refused", async (mode) => {
    await openKeyring(path, { create: true });
    await chmod(path, mode);
    await expect(openKeyring(path, { create: true })).rejects.toThrow(/open to other users/);
    await expect(addKey(path)).rejects.toThrow(KeyFileError);
  });

  test.each([
    "cut off",
    "not JSON",
    "a short key",
    "no current key",
    "an empty object",
  ])("that is damaged (%s) is refused, and not quoted", async (fault) => {
    const { current } = await openKeyring(path, { create: true });
    const text = await readFile(path, "utf8");
    const key = JSON.parse(text).keys[0].key as string;
    const damaged: Record<string, string> = {
      "cut off": text.slice(0, -20),
      "not JSON": key,
      "a short key": text.replace(key, key.slice(8)),
      "no current key": text.replace(current.id, "kek_0000000000000000"),
      "an empty object": "{}",
    };
    await writeFile(path, damaged[fault] ?? "");
    const error: unknown = await openKeyring(path, { create: true }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(KeyFileError);
    expect(String(error)).toContain("is damaged");
    expect(String(error)).not.toContain(key.slice(0, 8));
  });

  test("grows with a new current key and loses only old ones", async () => {
    const first = await openKeyring(path, { create: true });
    const second = await addKey(path);
    expect(second.current.id).not.toBe(first.current.id);
    expect(second.find(first.current.id)).toBeDefined();
    await removeKeys(path, [first.current.id, second.current.id]);
    expect(await readKeyIds(path)).toEqual({
      current: second.current.id,
      ids: [second.current.id],
    });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });
});
