import { notify } from "./notify.ts";

/** Gives a file to whoever looks at the page: it goes to their downloads. */
export function saveAs(file: Blob, name: string): void {
  const url = URL.createObjectURL(file);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
  notify.done("The file is in your downloads.");
}
