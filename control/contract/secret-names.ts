/** Names under which people put secrets. */
const secretName =
  /(api[_-]?key|secret|token|password|passwd|authorization|private[_-]?key|credential(?!_handle))/i;

export const looksLikeSecret = (name: string): boolean => secretName.test(name);
