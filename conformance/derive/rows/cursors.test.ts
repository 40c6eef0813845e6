import { expect, test } from "vitest";
import type { Listing } from "../../contract/learned.ts";
import { asksForOrder } from "./cursors.ts";

const isAsked = (fixed: Listing["fixed"]) =>
  asksForOrder({
    listing: {
      ...{ id: "GET /tickets", method: "GET", origin: "https://api.example.com", path: "/tickets" },
      ...{ fixed, paging: { style: "single", rows: "" }, rows: [], pageSize: 1, recordings: [] },
    },
  });

test.each([
  { sort: "updated_at" },
  { sort_direction: "asc" },
  { ordering: "updated_at" },
  { sortKey: "UPDATED_AT" },
  { "sort[0][field]": "updated" },
  { "order[updated_at]": "asc" },
  { "variables/orderBy": "UPDATED_ASC" },
  { query: "query { tickets(first: 50, orderBy: UPDATED_ASC) { nodes { id } } }" },
  { query: "query { tickets(sort: {field: UPDATED}) { nodes { id } } }" },
  { jql: "project = A ORDER BY updated" },
])("%j asks for an order", (fixed) => {
  expect(isAsked(fixed)).toBe(true);
});

test.each([
  { order_id: "12" },
  { status: "ordered" },
  { sorting_office: "north" },
  { "filter/order_number": "7" },
  { query: "query { orders(first: 50) { nodes { id order { id } } } }" },
])("%j asks for none", (fixed) => {
  expect(isAsked(fixed)).toBe(false);
});
