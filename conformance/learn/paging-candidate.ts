/** A way in which the pages of a listing may follow one another, and how much speaks for it. */

/** Which parameters say the page, and where their values come from. */
export interface Paging {
  readonly style: "number" | "offset" | "cursor" | "link";
  /**
   * Keys of the parameters that say which page; for a cursor made of the last row's fields one or
   * two.
   */
  readonly keys: readonly string[];
  /** The first page's number or offset. */
  readonly first: number;
  /** Pointer of the envelope value with the next page's token or URL. */
  readonly next?: string | undefined;
  /**
   * The unit in which the parameters count when the style is link: numbers and offsets are
   * understood, anything else is a token.
   */
  readonly count: "pages" | "rows" | "tokens";
  /** Pointers into the last row that give the parameters' values. */
  readonly fields?: readonly string[] | undefined;
}

export interface PagingCandidate extends Paging {
  /** Number of transitions that it explains. */
  readonly transitionCount: number;
  /** The parameter's name is one that providers use for this style. */
  readonly hasFittingName: boolean;
}

/** Names of parameters that say a page, by what they count. */
export const pagingNames = {
  pages: /page|^p$/i,
  rows: /offset|skip|start|from/i,
  tokens: /cursor|token|after|before|marker|bookmark|continu|scroll|next|start/i,
};
