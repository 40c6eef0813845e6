import { expect, test } from "vitest";
import { openDocument } from "./manifest-document.ts";

test("a failure has the line of its stream, also where the stream is named by a text or a reference", () => {
  const text = `streams:
  - "#/definitions/orders"
  - $ref: "#/definitions/items"
definitions:
  orders:
    name: orders
    retriever: { paginator: { type: NoPagination } }
  items:
    name: items
    retriever:
      paginator: { type: NoPagination }
`;
  const { placeOf } = openDocument(text, "source-shop.yaml");
  expect(placeOf("PAGE-01", "orders: a page is missing")).toBe("source-shop.yaml:7");
  expect(placeOf("PAGE-01", "items: a page is missing")).toBe("source-shop.yaml:11");
});
