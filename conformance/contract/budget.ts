/** Time for all rules together. */
export interface Budget {
  readonly ms: number;
  /** The part of it that is left now; ms. */
  leftMs(): number;
}

/** No further run is made. What a rule has seen until then counts. */
export class BudgetSpentError extends Error {
  override readonly name: string = "BudgetSpentError";
  /** All of it. */
  readonly budgetMs: number;

  constructor(budgetMs: number) {
    super("the budget is spent");
    this.budgetMs = budgetMs;
  }
}
