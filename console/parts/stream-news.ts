/** Says what a source has that it did not have when it was asked before. */
import { newsOf, type Prepared } from "../model/streams.ts";
import { plural } from "../model/words.ts";
import { notify } from "./notify.ts";

/** So many names are said. */
const few = 3;

export function notifyOfNews(before: Prepared, after: Prepared): ReturnType<typeof newsOf> {
  const news = newsOf(before, after);
  const { come, gone, changed } = news;
  const names = (streams: readonly { readonly name: string }[]) =>
    `${streams
      .slice(0, few)
      .map(({ name }) => name)
      .join(", ")}${streams.length > few ? ", …" : ""}`;
  const parts = [
    come.length === 0 ? "" : `${plural(come.length, "new stream")}: ${names(come)}.`,
    changed.length === 0
      ? ""
      : `Other columns in ${plural(changed.length, "stream")}: ${names(changed)}.`,
    gone.length === 0 ? "" : `Not there any more: ${names(gone)}.`,
  ].filter((one) => one !== "");
  notify.done(parts.length === 0 ? "The source has what it had before." : parts.join(" "));
  return news;
}
