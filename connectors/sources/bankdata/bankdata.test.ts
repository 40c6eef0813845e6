import type { CatalogStream } from "svc-connectors/host";
import { expect, test } from "vitest";
import { createBankdataRun } from "../../../fixtures/bankdata/run.ts";
import {
  type BankdataOptions,
  type BankdataSimulator,
  startBankdata,
} from "../../../simulators/bankdata/bankdata.ts";
import { errorBody, type PlaidErrorCode } from "../../../simulators/bankdata/errors.ts";
import type { ApiRow } from "../../../simulators/bankdata/rows.ts";
import type { Truth } from "../../../simulators/bankdata/truth.ts";
import type { Fault } from "../../../simulators/simulator/faults.ts";
import { choose } from "../../../tests/effort.ts";
import { streams } from "./streams.ts";

const everything = { include_identity: true, include_account_numbers: true } as const;
const incremental = { syncMode: "incremental", config: everything } as const;
const names = streams.map((stream) => stream.name as keyof Truth);
const optional = names.filter(
  (name) => !["balance", "accounts", "item", "institution"].includes(name),
);

async function start(options: BankdataOptions = {}) {
  const bank = await startBankdata(options);
  const run = createBankdataRun(bank);
  return {
    bank,
    run,
    async [Symbol.asyncDispose]() {
      await run[Symbol.asyncDispose]();
      await bank.close();
    },
  };
}

/** A table by primary key: a later row replaces an earlier one, and a removed one is gone. */
function tableOf(name: string, rows: readonly ApiRow[]): Record<string, ApiRow> {
  const { primaryKey } = streams.find((stream) => stream.name === name) ?? { primaryKey: [] };
  const table = new Map<string, ApiRow>();
  for (const { _synced_at, ...row } of rows) {
    const key = primaryKey.map((field) => String(row[field])).join(" ");
    if (row._removed === true) table.delete(key);
    else table.set(key, row);
  }
  return Object.fromEntries([...table].sort(([one], [other]) => (one < other ? -1 : 1)));
}

/**
 * The rows hold what the provider gave, in each field that the stream has. Truth names only some
 * fields of item and institution.
 */
function expectTruth(bank: BankdataSimulator, name: keyof Truth, rows: readonly ApiRow[]): void {
  const truth = tableOf(name, bank.truth[name]());
  const actual = tableOf(name, rows);
  if (name === "item" || name === "institution") return void expect(actual).toMatchObject(truth);
  const [fields = []] = Object.values(actual).map(Object.keys);
  const toRow = (row: ApiRow) =>
    Object.fromEntries(fields.map((field) => [field, row[field] ?? null]));
  expect(actual).toEqual(
    Object.fromEntries(Object.entries(truth).map(([key, row]) => [key, toRow(row)])),
  );
}

const fieldsOf = ({ json_schema }: CatalogStream) => Object.keys(json_schema.properties as object);
const code = (expected: string) => expect.objectContaining({ code: expected });
const paths = (bank: BankdataSimulator) => bank.requests.map((request) => request.path);
const syncs = (bank: BankdataSimulator) =>
  paths(bank).filter((path) => path === "/transactions/sync").length;

/** Changes the Item once the provider has made its nth answer to such a path. */
function changeAfter(bank: BankdataSimulator, nth: number, path: string, change: () => void): void {
  let count = 0;
  bank.observe((request) => {
    if (request.path === path && ++count === nth) change();
  });
}

test.each(names)("%s holds exactly the Item's rows, each once", async (name) => {
  await using item = await start({ transactions: 1201, accounts: 9 });
  const { bank, run } = item;
  const { rows, nulledCount } = await run.read(name, { config: everything });
  expectTruth(bank, name, rows);
  expect(rows).toHaveLength(bank.truth[name]().length);
  expect(rows.length).toBeGreaterThan(0);
  expect(nulledCount).toBe(0);
});

test("owners and account numbers stay out, of catalog and rows, unless they are asked for", async () => {
  await using item = await start();
  const { bank, run } = item;
  const catalog = await run.discover();
  expect(catalog.map(({ name }) => name)).toEqual(
    names.filter((name) => !["identity", "account_numbers"].includes(name)),
  );
  for (const stream of catalog) {
    for (const field of [
      "account_owner",
      "payment_meta",
      "account_number",
      "payment_reference_number",
      "property_address",
      "guarantor",
      "webhook",
    ])
      expect(fieldsOf(stream)).not.toContain(field);
    const { text } = await run.read(stream.name);
    expect(text).not.toMatch(/Alberta|Dora|11110000|Malakoff|DEPT OF ED|not-for-everyone/);
  }
  expect(paths(bank)).not.toContain("/identity/get");
  const all = await run.discover({ config: everything });
  expect(all.map(({ name }) => name)).toEqual(names);
  expect((await run.read("transactions", { config: everything })).text).toContain("Alberta");
  expect((await run.read("liabilities", { config: everything })).text).toContain("11110000");
});

test("amounts keep every digit", async () => {
  await using item = await start();
  const { bank, run } = item;
  bank.mutate.setBalance(0, "90071992547409931234.5678901234567890");
  bank.mutate.addTransactions(1, { amount: "-0.1000000000000000055511151231257827" });
  expect((await run.read("balance")).text).toContain(
    '"available":90071992547409931234.5678901234567890',
  );
  const { text } = await run.read("transactions");
  expect(text).toContain('"amount":-0.1000000000000000055511151231257827');
  expect(text).toContain('"amount":1234567890123416.78');
  expect((await run.read("investment_holdings")).text).toContain('"quantity":1.000000000000000001');
});

test.each([
  0, 1, 499, 500, 501, 1000,
])("%i transactions are read in as few pages as hold them, each page once", async (transactions) => {
  await using item = await start({ transactions });
  const { bank, run } = item;
  const { rows, states } = await run.read("transactions", { ...incremental });
  expectTruth(bank, "transactions", rows);
  expect(rows).toHaveLength(transactions);
  expect(syncs(bank)).toBe(Math.max(1, Math.ceil(transactions / 500)));
  expect(states).toEqual([{ cursor: expect.any(String) }]);
});

test.each([
  0, 1, 499, 500, 501, 1000,
])("%i investment transactions are read in as few pages as hold them", async (investmentTransactions) => {
  await using item = await start({ investmentTransactions });
  const { bank, run } = item;
  const { rows } = await run.read("investment_transactions", { config: everything });
  expect(rows).toHaveLength(investmentTransactions);
  expectTruth(bank, "investment_transactions", rows);
  expect(paths(bank)).toHaveLength(Math.max(1, Math.ceil(investmentTransactions / 500)));
});

test("an incremental read gets what was added, modified and removed since, and nothing else", async () => {
  await using item = await start({ transactions: 30 });
  const { bank, run } = item;
  const first = await run.read("transactions", incremental);
  const [pending, changed, gone] = bank.truth
    .transactions()
    .map((row) => String(row.transaction_id));
  const [added] = bank.mutate.addTransactions(1);
  const posted = bank.mutate.postTransaction(pending ?? "");
  bank.mutate.modifyTransaction(changed ?? "", { name: "Corrected", amount: "12.34" });
  bank.mutate.removeTransaction(gone ?? "");

  const second = await run.read("transactions", {
    ...incremental,
    state: first.states.at(-1) ?? {},
  });
  expect(second.rows).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ transaction_id: added, _removed: false }),
      expect.objectContaining({
        transaction_id: posted,
        pending: false,
        pending_transaction_id: pending,
      }),
      expect.objectContaining({ transaction_id: changed, name: "Corrected", amount: 12.34 }),
      expect.objectContaining({ transaction_id: pending, _removed: true, amount: null }),
      expect.objectContaining({
        transaction_id: gone,
        _removed: true,
        account_id: expect.any(String),
      }),
    ]),
  );
  expect(second.rows).toHaveLength(5);
  expectTruth(bank, "transactions", [...first.rows, ...second.rows]);

  const third = await run.read("transactions", {
    ...incremental,
    state: second.states.at(-1) ?? {},
  });
  expect(third.rows).toEqual([]);
  expect(third.states.at(-1)).toEqual(second.states.at(-1));
});

test("a full refresh takes no notice of a saved cursor and leaves none", async () => {
  await using item = await start();
  const { bank, run } = item;
  const { states } = await run.read("transactions", incremental);
  const full = await run.read("transactions", { config: everything, state: states.at(-1) ?? {} });
  expectTruth(bank, "transactions", full.rows);
  expect(full.states).toEqual([{}]);
});

test.each(names)("a crash at any point of reading %s loses nothing", async (name) => {
  await using item = await start({ transactions: 1100, investmentTransactions: 600 });
  const { bank, run } = item;
  const read = {
    config: everything,
    syncMode: name === "transactions" ? "incremental" : "full_refresh",
  } as const;
  const { outputCount } = await run.read(name, read);
  const points = choose({
    quick: [1, outputCount - 1],
    whole: [0, 1, outputCount >> 1, outputCount - 1, outputCount],
  });
  for (const stopAfter of new Set(points)) {
    const crashed = await run.read(name, { ...read, stopAfter });
    expect(crashed.outputCount).toBe(stopAfter);
    const state = crashed.states.at(-1);
    const covered = state === undefined ? [] : crashed.rows;
    const resumed = await run.read(name, { ...read, ...(state === undefined ? {} : { state }) });
    expectTruth(bank, name, [...covered, ...resumed.rows]);
  }
});

test("no cursor is saved before the last page", async () => {
  await using item = await start({ transactions: 1700 });
  const { bank, run } = item;
  const whole = await run.read("transactions", incremental);
  expect(whole.states).toHaveLength(1);
  const crashed = await run.read("transactions", {
    ...incremental,
    stopAfter: whole.outputCount - 1,
  });
  expect(crashed.rows).toHaveLength(1700);
  expect(crashed.states).toEqual([]);
  expect(syncs(bank)).toBe(8);
});

test.each([
  1, 2, 3,
])("transactions that change after page %i make the whole loop start over", async (page) => {
  await using item = await start({ transactions: 1800 });
  const { bank, run } = item;
  const [first, , third] = bank.truth.transactions().map((row) => String(row.transaction_id));
  changeAfter(bank, page, "/transactions/sync", () => {
    bank.mutate.removeTransaction(first ?? "");
    bank.mutate.modifyTransaction(third ?? "", { amount: "1.11" });
    bank.mutate.addTransactions(3);
  });
  const result = await run.read("transactions", incremental);
  expectTruth(bank, "transactions", result.rows);
  expect(result.states).toHaveLength(1);
  expect(
    bank.bodies.filter((body) => body.count === 500 && body.cursor === undefined),
  ).toHaveLength(2);
  const next = await run.read("transactions", {
    ...incremental,
    state: result.states.at(-1) ?? {},
  });
  expect(next.rows).toEqual([]);
});

test("a loop that starts over in an incremental read begins at the saved cursor", async () => {
  await using item = await start({ transactions: 20 });
  const { bank, run } = item;
  const first = await run.read("transactions", incremental);
  const [state] = first.states;
  bank.mutate.addTransactions(1300);
  changeAfter(bank, 2, "/transactions/sync", () => bank.mutate.addTransactions(1));
  const second = await run.read("transactions", { ...incremental, state: state ?? {} });
  expectTruth(bank, "transactions", [...first.rows, ...second.rows]);
  const cursor = (state as { cursor: string }).cursor;
  expect(bank.bodies.filter((body) => body.cursor === cursor)).toHaveLength(2);
  expect(
    bank.bodies.filter((body) => body.count === 500 && body.cursor === undefined),
  ).toHaveLength(1);
});

test("data that never comes to rest fails the stream without a cursor, and a later read gets all of it", async () => {
  await using item = await start({ transactions: 600 });
  const { bank, run } = item;
  bank.fail("TRANSACTIONS_SYNC_MUTATION_DURING_PAGINATION", {
    path: "/transactions/sync",
    times: 50,
  });
  await expect(run.read("transactions", incremental)).rejects.toEqual(code("DATA_CHANGED"));
  expect(syncs(bank)).toBe(5);
  bank.faults.clear();
  expectTruth(bank, "transactions", (await run.read("transactions", incremental)).rows);
});

test("a saved cursor that the provider no longer honours is a matter for the user, not a silent new start", async () => {
  await using item = await start();
  const { bank, run } = item;
  const foreign = { ...incremental, state: { cursor: "Zm9yZWlnbitjdXJzb3I=" } };
  await expect(run.read("transactions", foreign)).rejects.toEqual(code("SYNC_STATE_EXPIRED"));
  const { states } = await run.read("transactions", incremental);
  bank.fail("TRANSACTIONS_SYNC_MUTATION_DURING_PAGINATION", {
    path: "/transactions/sync",
    times: 50,
  });
  const stuck = run.read("transactions", { ...incremental, state: states.at(-1) ?? {} });
  await expect(stuck).rejects.toEqual(code("SYNC_STATE_EXPIRED"));
});

test.each([
  { cursor: 1 },
  { cursor: "" },
  { page: 2 },
  [],
])("a state of the form %j is refused", async (state) => {
  await using item = await start();
  const { run } = item;
  await expect(run.read("transactions", { ...incremental, state })).rejects.toEqual(
    code("STATE_INVALID"),
  );
});

test("transactions that are not there yet are no success", async () => {
  await using item = await start();
  const { bank, run } = item;
  bank.mutate.setUpdateStatus("NOT_READY");
  for (const name of ["transactions", "recurring_transactions"])
    await expect(run.read(name)).rejects.toEqual(code("PROVIDER_UNAVAILABLE"));
  bank.mutate.setUpdateStatus("INITIAL_UPDATE_COMPLETE");
  const { rows, warnings } = await run.read("transactions", { config: everything });
  expectTruth(bank, "transactions", rows);
  expect(warnings).toEqual([expect.stringContaining("older transactions")]);
});

test.each([
  1, 2,
])("investment transactions that move while they are read (after page %i) are all there", async (page) => {
  for (const change of [
    "addInvestmentTransactions",
    "removeNewestInvestmentTransaction",
  ] as const) {
    await using item = await start({ investmentTransactions: 1400 });
    const { bank, run } = item;
    changeAfter(bank, page, "/investments/transactions/get", () => bank.mutate[change](7));
    const { rows } = await run.read("investment_transactions", { config: everything });
    const ids = bank.truth.investment_transactions().map((row) => row.investment_transaction_id);
    expect(rows.map((row) => row.investment_transaction_id)).toEqual(expect.arrayContaining(ids));
  }
});

test("history goes back as far as was asked for", async () => {
  await using item = await start({ investmentTransactions: 60 });
  const { bank, run } = item;
  const config = { ...everything, days_requested: 10 };
  const { rows } = await run.read("investment_transactions", { config });
  expect(rows).toHaveLength(20);
  await run.read("transactions", { config });
  expect(bank.bodies.at(-1)).toMatchObject({ options: { days_requested: 10 } });
});

test.each(
  optional,
)("%s is left empty with a warning when the bank does not support it", async (name) => {
  await using item = await start({ products: [] });
  const { bank, run } = item;
  const { rows, warnings } = await run.read(name, { config: everything });
  expect(rows).toEqual([]);
  expect(warnings).toEqual([expect.stringContaining("unavailable")]);
  expect(bank.requests).toHaveLength(1);
});

test("an Item without accounts has empty streams", async () => {
  await using item = await start({ accounts: 0 });
  const { bank, run } = item;
  for (const name of [
    "balance",
    "accounts",
    "transactions",
    "investment_holdings",
    "liabilities",
  ] as const) {
    expect((await run.read(name)).rows).toEqual([]);
  }
  expect(bank.truth.transactions()).toEqual([]);
});

test("a product that disappears while it is read is a failure, not a shorter stream", async () => {
  await using item = await start({ transactions: 1200 });
  const { bank, run } = item;
  bank.fail("PRODUCTS_NOT_SUPPORTED", { path: "/transactions/sync", after: 1, times: 9 });
  await expect(run.read("transactions", incremental)).rejects.toEqual(code("ACCESS_MISSING"));
});

test("Capital One gives balances to those who say how old they may be", async () => {
  await using item = await start({ institutionId: "ins_128026" });
  const { bank, run } = item;
  expectTruth(bank, "balance", (await run.read("balance")).rows);
  expect(paths(bank)).toHaveLength(2);
});

test("an Item of no institution has an empty institution stream", async () => {
  await using item = await start({ institutionId: null });
  const { rows, warnings } = await item.run.read("institution");
  expect(rows).toEqual([]);
  expect(warnings).toEqual([expect.stringContaining("no institution")]);
});

test("an institution is looked up in the countries that were named", async () => {
  await using item = await start();
  const elsewhere = item.run.read("institution", { config: { country_codes: ["GB", "FR"] } });
  await expect(elsewhere).rejects.toEqual(code("RESOURCE_NOT_FOUND"));
  expect(item.bank.bodies.at(-1)).toMatchObject({ country_codes: ["GB", "FR"] });
});

test("secrets travel where the provider wants them, and never out", async () => {
  await using item = await start();
  const { bank, run } = item;
  const headers: unknown[] = [];
  bank.observe((request) => headers.push(request.headers));
  const { text } = await run.read("institution");
  expect(headers).toEqual(
    Array(2).fill(
      expect.objectContaining({
        "plaid-client-id": bank.clientId,
        "plaid-secret": bank.secret,
        "plaid-version": "2020-09-14",
      }),
    ),
  );
  expect(bank.bodies.map((body) => body.access_token)).toEqual([bank.accessToken, undefined]);
  const bodies = [
    {
      ...JSON.parse(errorBody("ITEM_LOGIN_REQUIRED")),
      error_message: `${bank.secret} ${bank.accessToken}`,
    },
    {
      accounts: [{ account_id: bank.accessToken, name: bank.secret, balances: {} }],
      item: { item_id: "i" },
    },
  ];
  const outputs = [text];
  for (const body of bodies) {
    bank.faults.inject({
      type: "status",
      status: body.accounts ? 200 : 400,
      body: JSON.stringify(body),
    });
    outputs.push(
      await run.read("accounts").then(
        ({ text }) => text,
        (error: unknown) => JSON.stringify(error),
      ),
    );
  }
  expect(outputs.at(-1)).toContain("[redacted]");
  expect(outputs.join()).not.toMatch(new RegExp(`${bank.secret}|${bank.accessToken}`));
});

test("check asks once and passes", async () => {
  await using item = await start();
  const { bank, run } = item;
  await run.check();
  expect(paths(bank)).toEqual(["/item/get"]);
});

test("check names what is wrong with keys and tokens", async () => {
  await using item = await start();
  const { bank, run } = item;
  const wrong = [
    { api_key: bank.badSecret },
    { client_id: "5fd0nobody00000000000001" },
    { access_token: bank.badAccessToken },
  ];
  for (const config of wrong)
    await expect(run.check({ config })).rejects.toEqual(code("CREDENTIALS_REJECTED"));
});

test("check fails for an Item in an error state, and its item row says which", async () => {
  await using item = await start();
  const { bank, run } = item;
  bank.mutate.setItemError("ITEM_LOGIN_REQUIRED");
  await expect(run.check()).rejects.toEqual(code("REAUTHORIZATION_NEEDED"));
  await expect(run.read("accounts")).rejects.toEqual(code("REAUTHORIZATION_NEEDED"));
  expect((await run.read("item")).rows).toEqual([
    expect.objectContaining({ error_code: "ITEM_LOGIN_REQUIRED" }),
  ]);
  bank.mutate.setItemError(null);
  await run.check();
});

test("the development environment is not sent anywhere else: it cannot be reached", async () => {
  await using item = await start();
  const { bank, run } = item;
  const config = { environment: "development" };
  await expect(run.check({ config })).rejects.toEqual(code("HOST_UNKNOWN"));
  await expect(run.read("accounts", { config })).rejects.toEqual(code("HOST_UNKNOWN"));
  expect(bank.requests).toEqual([]);
});

test("production is another host", async () => {
  await using item = await start({ environment: "production" });
  const { bank, run } = item;
  await run.check();
  await expect(run.check({ config: { environment: "sandbox" } })).rejects.toEqual(
    code("HOST_UNKNOWN"),
  );
  expect(bank.requests).toHaveLength(1);
});

const refusals: [PlaidErrorCode, string][] = [
  ["INVALID_API_KEYS", "CREDENTIALS_REJECTED"],
  ["INVALID_ACCESS_TOKEN", "CREDENTIALS_REJECTED"],
  ["ITEM_NOT_FOUND", "CREDENTIALS_REJECTED"],
  ["ITEM_LOGIN_REQUIRED", "REAUTHORIZATION_NEEDED"],
  ["ITEM_LOCKED", "REAUTHORIZATION_NEEDED"],
  ["ACCESS_NOT_GRANTED", "REAUTHORIZATION_NEEDED"],
  ["INVALID_PRODUCT", "PERMISSION_DENIED"],
  ["PRODUCT_NOT_READY", "PROVIDER_UNAVAILABLE"],
  ["INSTITUTION_DOWN", "PROVIDER_UNAVAILABLE"],
  ["INSTITUTION_NOT_RESPONDING", "PROVIDER_UNAVAILABLE"],
  ["INTERNAL_SERVER_ERROR", "PROVIDER_UNAVAILABLE"],
  ["PLANNED_MAINTENANCE", "PROVIDER_UNAVAILABLE"],
  ["RATE_LIMIT", "RATE_LIMITED"],
  ["MISSING_FIELDS", "REQUEST_REJECTED"],
  ["INVALID_FIELD", "REQUEST_REJECTED"],
];
test.each(
  refusals,
)("%s is %s in check and read, whatever the HTTP status", async (plaidCode, expected) => {
  await using item = await start();
  const { bank, run } = item;
  for (const status of [undefined, 200]) {
    for (const attempt of [
      () => run.check(),
      () => run.read("item"),
      () => run.read("transactions"),
    ]) {
      bank.fail(plaidCode, { times: 50, ...(status === undefined ? {} : { status }) });
      await expect(attempt()).rejects.toEqual(code(expected));
      bank.faults.clear();
    }
  }
});

const faults: [Fault, string][] = [
  [{ type: "stack_trace" }, "PROVIDER_UNAVAILABLE"],
  [{ type: "malformed_json" }, "RESPONSE_INVALID"],
  [{ type: "html" }, "RESPONSE_INVALID"],
  [{ type: "redirect" }, "REDIRECT_REFUSED"],
  [{ type: "reset" }, "CONNECTION_FAILED"],
  [{ type: "truncated" }, "CONNECTION_FAILED"],
  [{ type: "status", status: 401 }, "CREDENTIALS_REJECTED"],
  [{ type: "status", status: 403 }, "PERMISSION_DENIED"],
  [{ type: "status", status: 400, body: "[]" }, "RESPONSE_INVALID"],
];
test.each(
  faults,
)("a provider that fails with %o fails every stream alike, and nothing of its answer gets out", async (fault, expected) => {
  await using item = await start();
  const { bank, run } = item;
  for (const name of names) {
    bank.faults.inject(fault, { times: 50 });
    const error = await run.read(name, { config: everything }).then(
      () => undefined,
      (failure: unknown) => failure,
    );
    const isPlainRefusal =
      expected === "RESPONSE_INVALID" && fault.type === "status" && name !== "transactions";
    expect(error, name).toEqual(code(isPlainRefusal ? "REQUEST_REJECTED" : expected));
    expect(JSON.stringify(error)).not.toMatch(/Simulated|vendor|SQLSTATE|169\.254|<html/);
    bank.faults.clear();
  }
});

test.each(names)("answers to %s without its data fail, they are not empty", async (name) => {
  await using item = await start();
  const { bank, run } = item;
  for (const body of [
    "",
    "null",
    "[]",
    "{}",
    '{"item":null,"accounts":null}',
    '{"added":[]}',
    '{"item":{},"accounts":{}}',
  ]) {
    bank.faults.inject({ type: "status", status: 200, body });
    const attempt = run.read(name, { config: everything });
    await expect(attempt, `${name} ${body}`).rejects.toMatchObject({
      code: expect.stringMatching(/^(RESPONSE|RECORD)_INVALID$/),
    });
    bank.faults.clear();
  }
});

test.each([
  { type: "reset" },
  { type: "truncated" },
  { type: "stack_trace" },
] as const)("a passing %o costs no row", async (fault) => {
  await using item = await start({ transactions: 1600 });
  const { bank, run } = item;
  bank.faults.inject(fault, { path: "/transactions/sync", after: 2, times: 2 });
  const { rows } = await run.read("transactions", { config: everything });
  expectTruth(bank, "transactions", rows);
});

test("a rate limit without headers is waited out", async () => {
  await using item = await start({ transactions: 3000 });
  const { bank, run } = item;
  bank.fail("TRANSACTIONS_SYNC_LIMIT", { path: "/transactions/sync", after: 2, times: 3 });
  const { rows } = await run.read("transactions", { config: everything });
  expectTruth(bank, "transactions", rows);
  expect(bank.requests.filter(({ status }) => status === 429)).toHaveLength(3);
});

test("a cursor that leads back to itself is found out", async () => {
  await using item = await start();
  const { bank, run } = item;
  const page = {
    added: [],
    modified: [],
    removed: [],
    has_more: true,
    next_cursor: "again",
    transactions_update_status: "HISTORICAL_UPDATE_COMPLETE",
  };
  bank.faults.inject({ type: "status", status: 200, body: JSON.stringify(page) }, { times: 9 });
  await expect(run.read("transactions", incremental)).rejects.toEqual(code("PAGING_LOOP"));
});
