/** Segments of paths that name a version: "v1", "v19.0". */
const versionForm = /^v\d{1,4}(?:\.\d{1,4}){0,2}$/i;

/**
 * The version of an API that its URLs name: "v1" of "https://api.example.com/v1/notes". Undefined
 * when none does, or several do.
 */
export function versionInUrls(urls: readonly string[]): string | undefined {
  const versions = new Set(
    urls.flatMap((url) => {
      const segments = URL.parse(url)?.pathname.split("/") ?? [];
      return segments.find((segment) => versionForm.test(segment)) ?? [];
    }),
  );
  return versions.size === 1 ? [...versions][0] : undefined;
}
