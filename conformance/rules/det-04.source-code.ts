/**
 * The source text with comments and the insides of quoted texts blanked out, lines kept;
 * expressions in templates stay.
 */
export function codeOf(source: string): string {
  const blank = (text: string) => text.replaceAll(/[^\n]/g, " ");
  // A double slash after a colon is part of a URL in a template.
  const parts = /(?<!:)\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g;
  return source.replaceAll(parts, (found) => blank(found));
}
