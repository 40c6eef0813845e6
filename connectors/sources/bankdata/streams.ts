import { Nullable, type Stream, Timestamp, Type } from "svc-connectors";
import {
  type ApiRow,
  ask,
  askBalances,
  type Body,
  invalid,
  investmentPages,
  listOf,
  objectOf,
} from "./api.ts";
import type { BankdataContext, Config } from "./spec.ts";

const key = Type.String();
const text = Nullable(Type.String());
const flag = Nullable(Type.Boolean());
const date = Nullable(Type.String({ format: "date" }));
const time = Nullable(Timestamp());
const number = Nullable(Type.Number({ description: "As the bank gives it, to the last digit." }));
const texts = Nullable(Type.Array(Type.String()));
const anything = Type.Unknown();
const isRemoved = Type.Boolean({
  description: "True when the bank took the transaction back: only its ids are left.",
});
const isReadAt = Timestamp();
type Fields = Readonly<
  Record<
    string,
    | typeof key
    | typeof text
    | typeof flag
    | typeof isRemoved
    | typeof number
    | typeof texts
    | typeof anything
  >
>;

/** A stream, and how its rows are had. */
export interface BankdataStream {
  readonly name: string;
  readonly description: string;
  readonly primaryKey: readonly string[];
  readonly fields: Fields;
  /** Identify a person: only with include_identity. */
  readonly identity?: Fields;
  /** Whole numbers of accounts: only with include_account_numbers. */
  readonly numbers?: Fields;
  /** The stream exists only with this setting. */
  readonly only?: "include_identity" | "include_account_numbers";
  /**
   * Rows in the order in which they come; undefined for transactions, which have a cursor
   * (index.ts).
   */
  readonly rows?: (ctx: BankdataContext) => AsyncIterable<readonly ApiRow[]>;
}

const currency = { iso_currency_code: text, unofficial_currency_code: text };
const account = {
  account_id: key,
  item_id: text,
  name: text,
  official_name: text,
  mask: text,
  type: text,
  subtype: text,
  holder_category: text,
  persistent_account_id: text,
  verification_status: text,
  available: number,
  current: number,
  limit: number,
  last_updated_datetime: time,
  ...currency,
};

export const streams: readonly BankdataStream[] = [
  {
    name: "balance",
    description: "Balances that the bank is asked for at this moment: one row per account.",
    primaryKey: ["account_id"],
    fields: account,
    rows: (ctx) => once(askBalances(ctx), toAccounts),
  },
  {
    name: "accounts",
    description: "Accounts, with the balances of the bank's last update.",
    primaryKey: ["account_id"],
    fields: account,
    rows: (ctx) => once(ask(ctx, "/accounts/get"), toAccounts),
  },
  {
    name: "transactions",
    description:
      "Transactions of checking, savings, credit and loan accounts; removed ones come with _removed true.",
    primaryKey: ["transaction_id"],
    fields: {
      transaction_id: key,
      account_id: text,
      _removed: isRemoved,
      _synced_at: isReadAt,
      amount: number,
      ...currency,
      date,
      datetime: time,
      authorized_date: date,
      authorized_datetime: time,
      pending: flag,
      pending_transaction_id: text,
      name: text,
      merchant_name: text,
      merchant_entity_id: text,
      payment_channel: text,
      transaction_type: text,
      transaction_code: text,
      check_number: text,
      website: text,
      logo_url: text,
      category: texts,
      category_id: text,
      personal_finance_category: anything,
      personal_finance_category_icon_url: text,
      location: anything,
      counterparties: anything,
    },
    identity: { account_owner: text, payment_meta: anything },
  },
  {
    name: "item",
    description:
      "The connection itself: its products, its error if it has one, and when it was last updated.",
    primaryKey: ["item_id"],
    fields: {
      item_id: key,
      institution_id: text,
      institution_name: text,
      auth_method: text,
      created_at: time,
      update_type: text,
      available_products: texts,
      billed_products: texts,
      products: texts,
      consented_products: texts,
      consent_expiration_time: time,
      error_type: text,
      error_code: text,
      transactions_last_successful_update: time,
      transactions_last_failed_update: time,
      investments_last_successful_update: time,
      investments_last_failed_update: time,
    },
    rows: (ctx) => once(ask(ctx, "/item/get"), (body) => [toItem(body)]),
  },
  {
    name: "institution",
    description: "The bank that the connection leads to.",
    primaryKey: ["institution_id"],
    fields: {
      institution_id: key,
      name: text,
      url: text,
      primary_color: text,
      oauth: flag,
      products: texts,
      country_codes: texts,
      routing_numbers: texts,
      dtc_numbers: texts,
    },
    rows: institution,
  },
  {
    name: "investment_holdings",
    description: "What investment accounts hold, and what it is worth.",
    primaryKey: ["account_id", "security_id"],
    fields: {
      account_id: key,
      security_id: key,
      quantity: number,
      institution_value: number,
      institution_price: number,
      institution_price_as_of: date,
      institution_price_datetime: time,
      cost_basis: number,
      vested_quantity: number,
      vested_value: number,
      ...currency,
    },
    rows: (ctx) => once(ask(ctx, "/investments/holdings/get"), (body) => listOf(body, "holdings")),
  },
  {
    name: "investment_transactions",
    description: "Purchases, sales, fees and transfers in investment accounts.",
    primaryKey: ["investment_transaction_id"],
    fields: {
      investment_transaction_id: key,
      account_id: text,
      security_id: text,
      cancel_transaction_id: text,
      date,
      name: text,
      type: text,
      subtype: text,
      amount: number,
      quantity: number,
      price: number,
      fees: number,
      ...currency,
    },
    async *rows(ctx) {
      for await (const { rows } of investmentPages(ctx)) yield rows;
    },
  },
  {
    name: "securities",
    description: "Securities that are held or were traded.",
    primaryKey: ["security_id"],
    fields: {
      security_id: key,
      name: text,
      type: text,
      ticker_symbol: text,
      market_identifier_code: text,
      isin: text,
      cusip: text,
      sedol: text,
      institution_security_id: text,
      institution_id: text,
      proxy_security_id: text,
      is_cash_equivalent: flag,
      close_price: number,
      close_price_as_of: date,
      update_datetime: time,
      sector: text,
      industry: text,
      option_contract: anything,
      fixed_income: anything,
      ...currency,
    },
    rows: securities,
  },
  {
    name: "liabilities",
    description:
      "Terms and payments of credit cards, mortgages and student loans; liability_type says which.",
    primaryKey: ["account_id"],
    fields: {
      account_id: key,
      liability_type: Type.String(),
      is_overdue: flag,
      last_payment_amount: number,
      last_payment_date: date,
      next_payment_due_date: date,
      minimum_payment_amount: number,
      last_statement_balance: number,
      last_statement_issue_date: date,
      aprs: anything,
      interest_rate: anything,
      interest_rate_percentage: number,
      origination_date: date,
      origination_principal_amount: number,
      outstanding_interest_amount: number,
      next_monthly_payment: number,
      past_due_amount: number,
      current_late_fee: number,
      escrow_balance: number,
      has_pmi: flag,
      has_prepayment_penalty: flag,
      loan_name: text,
      loan_status: anything,
      loan_term: text,
      loan_type_description: text,
      maturity_date: date,
      expected_payoff_date: date,
      disbursement_dates: texts,
      repayment_plan: anything,
      pslf_status: anything,
      sequence_number: text,
      servicer_address: anything,
      ytd_interest_paid: number,
      ytd_principal_paid: number,
    },
    identity: { property_address: anything, guarantor: text },
    numbers: { account_number: text, payment_reference_number: text },
    rows: (ctx) => once(ask(ctx, "/liabilities/get"), toLiabilities),
  },
  {
    name: "recurring_transactions",
    description:
      "Subscriptions, salaries and other payments that repeat; direction is inflow or outflow.",
    primaryKey: ["stream_id"],
    fields: {
      stream_id: key,
      account_id: text,
      direction: Type.String(),
      description: text,
      merchant_name: text,
      frequency: text,
      status: text,
      is_active: flag,
      is_user_modified: flag,
      first_date: date,
      last_date: date,
      predicted_next_date: date,
      average_amount: number,
      last_amount: number,
      ...currency,
      category: texts,
      category_id: text,
      personal_finance_category: anything,
      transaction_ids: texts,
    },
    rows: (ctx) => once(ask(ctx, "/transactions/recurring/get"), toRecurring),
  },
  {
    name: "identity",
    description: "Owners of the accounts as the bank knows them.",
    primaryKey: ["account_id"],
    only: "include_identity",
    fields: { account_id: key, item_id: text, owners: anything },
    rows: (ctx) => once(ask(ctx, "/identity/get"), toAccounts),
  },
  {
    name: "account_numbers",
    description:
      "Account and routing numbers; number_type is ach, eft, international (IBAN) or bacs.",
    primaryKey: ["account_id", "number_type"],
    only: "include_account_numbers",
    fields: {
      account_id: key,
      number_type: key,
      account: text,
      routing: text,
      wire_routing: text,
      is_tokenized_account_number: flag,
      can_transfer_in: flag,
      can_transfer_out: flag,
      institution: text,
      branch: text,
      iban: text,
      bic: text,
      sort_code: text,
    },
    rows: (ctx) => once(ask(ctx, "/auth/get"), toNumbers),
  },
];

/** The streams that exist under this configuration. */
export const streamsOf = (config: Config) =>
  streams.filter(({ only }) => only === undefined || config[only]);

/** The stream as discover lists it under this configuration. */
export function describe(stream: BankdataStream, config: Config): Stream {
  const { name, description, primaryKey } = stream;
  return {
    name,
    description,
    schema: Type.Object(fieldsOf(stream, config)),
    primaryKey,
    ...(name === "transactions"
      ? { cursorField: "_synced_at", syncModes: ["full_refresh", "incremental"] }
      : {}),
  };
}

const fieldsOf = ({ fields, identity, numbers }: BankdataStream, config: Config): Fields => ({
  ...fields,
  ...(config.include_identity ? identity : {}),
  ...(config.include_account_numbers ? numbers : {}),
});

/** Makes rows of the stream from what the API gives: only its fields. */
export function createRowMapper(stream: BankdataStream, config: Config) {
  const names = Object.keys(fieldsOf(stream, config));
  return (given: ApiRow) => Object.fromEntries(names.map((name) => [name, given[name]]));
}

async function* once(body: Promise<Body>, toRows: (body: Body) => readonly ApiRow[]) {
  yield toRows(await body);
}

function toAccounts(body: Body): ApiRow[] {
  const { item_id } = objectOf(body, "item");
  return listOf(body, "accounts").map((one) => ({ ...one, ...objectOf(one, "balances"), item_id }));
}

function toItem(body: Body): ApiRow {
  const item = objectOf(body, "item");
  const { error_type, error_code } = (item.error ?? {}) as ApiRow;
  const status = (body.status ?? {}) as Record<string, ApiRow | null | undefined>;
  const updates = ["transactions", "investments"].flatMap((product) =>
    ["last_successful_update", "last_failed_update"].map((name) => [
      `${product}_${name}`,
      status[product]?.[name],
    ]),
  );
  return { ...item, error_type, error_code, ...Object.fromEntries(updates) };
}

async function* institution(ctx: BankdataContext) {
  const { institution_id } = objectOf(await ask(ctx, "/item/get"), "item");
  if (institution_id === undefined) throw invalid("institution_id");
  if (institution_id === null)
    return ctx.log.warn("This Item belongs to no institution.", { stream: "institution" });
  const { country_codes } = ctx.config;
  const query = { institution_id, country_codes, options: { include_optional_metadata: true } };
  yield [objectOf(await ask(ctx, "/institutions/get_by_id", query), "institution")];
}

async function* securities(ctx: BankdataContext) {
  const seen = new Set<unknown>();
  const unseen = (rows: readonly ApiRow[]) =>
    rows.filter(({ security_id }) => !seen.has(security_id) && seen.add(security_id));
  yield unseen(listOf(await ask(ctx, "/investments/holdings/get"), "securities"));
  for await (const page of investmentPages(ctx)) yield unseen(page.securities);
}

/** A kind that the Item does not have is null. */
const toLiabilities = (body: Body): ApiRow[] =>
  kinds(objectOf(body, "liabilities"), "liability_type", ["credit", "mortgage", "student"]);
const toNumbers = (body: Body): ApiRow[] =>
  kinds(objectOf(body, "numbers"), "number_type", ["ach", "eft", "international", "bacs"]);
const kinds = (body: Body, field: string, names: readonly string[]) =>
  names.flatMap((name) =>
    body[name] === null ? [] : listOf(body, name).map((row) => ({ ...row, [field]: name })),
  );

function toRecurring(body: Body): ApiRow[] {
  return ["inflow", "outflow"].flatMap((direction) =>
    listOf(body, `${direction}_streams`).map((row) => {
      const { amount, iso_currency_code, unofficial_currency_code } = objectOf(
        row,
        "average_amount",
      );
      const last_amount = objectOf(row, "last_amount").amount;
      return {
        ...row,
        direction,
        average_amount: amount,
        last_amount,
        iso_currency_code,
        unofficial_currency_code,
      };
    }),
  );
}
