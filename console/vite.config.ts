import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const page = (name: string) => fileURLToPath(new URL(`${name}.html`, import.meta.url));

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  // Addresses are relative: the console works below a proxy's path too.
  base: "./",
  plugins: [react()],
  logLevel: "warn",
  build: {
    target: "es2023",
    rolldownOptions: { input: { index: page("index"), connected: page("connected") } },
    // Small files in the page would need a policy that allows them.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: "LICENSES.md" },
    chunkSizeWarningLimit: 500,
  },
});
