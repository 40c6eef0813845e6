import { expect, test } from "vitest";
import { notFound } from "../contract/reasons.ts";
import { locate } from "./locate.ts";

const input = {
  query: { source_id: "src_1" },
  body: {
    source_id: "src_1",
    destination_id: "src_1",
    streams: [{ name: "a" }, { name: "src_2" }],
    memberIds: ["mem_1", "mem_2"],
    credential_handle: "ch_1",
  },
};
const pathsOf = (kind: string, id: string) =>
  (locate(notFound(kind, id), input).details.errors as { path: string }[] | undefined)?.map(
    ({ path }) => path,
  );

test.each([
  ["source", "src_1", ["source_id", "source_id"]],
  ["destination", "src_1", ["destination_id"]],
  ["credential", "ch_1", ["credential_handle"]],
  ["workspace_member", "mem_2", ["memberIds.1"]],
  ["stream", "src_2", ["streams.1.name"]],
])("a %s that is not there is told with its place", (kind, id, paths) => {
  expect(pathsOf(kind, id)).toEqual(paths);
});

test("what the address names has no place", () => {
  const error = notFound("source", "src_9");
  expect(locate(error, input)).toBe(error);
  expect(locate(error, undefined)).toBe(error);
});
