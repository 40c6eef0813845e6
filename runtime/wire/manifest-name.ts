/**
 * The name of a declarative manifest is that of its file, or of its folder where the file's says
 * nothing.
 * @param path of the file, or its URL
 */
export function manifestName(path: string): string {
  const [folder = "", file = ""] = path.split(/[\\/]/).slice(-2);
  const stem = file.replace(/\.ya?ml$/, "");
  return (/^(?:manifest|source|index)$/.test(stem) ? folder : stem).replace(/^source[-_]/, "");
}
