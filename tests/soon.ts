/** How long tests poll for what comes: it has come when it comes, late on a busy machine. */
export const soon = { timeout: 180_000, interval: 50 };
