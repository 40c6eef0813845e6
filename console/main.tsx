/**
 * The console: one more client of the Control API, in a browser. Pages are in pages/, what they
 * share in parts/, what is known of the API in api/ and model/.
 */
import "./mantine.css";
import "@mantine/notifications/styles.css";
import "./console.css";
import { createTheme, MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Problem } from "./api/problem.ts";
import { App } from "./app.tsx";

// A style element would be needed to keep the page behind still; the policy allows none.
const overlay = {
  lockScroll: false,
  removeScrollProps: { enabled: false },
  closeButtonProps: { "aria-label": "Close" },
} as const;

const theme = createTheme({
  primaryColor: "indigo",
  defaultRadius: "md",
  cursorType: "pointer",
  respectReducedMotion: true,
  components: {
    Modal: { defaultProps: overlay },
    Drawer: { defaultProps: overlay },
  },
});

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // The API refuses again what it has refused; an answer that did not come may come.
      retry: (count, error) => count < 2 && !(error instanceof Problem && error.status < 500),
    },
  },
});

const root = document.getElementById("root");
if (root)
  createRoot(root).render(
    <StrictMode>
      {/* Styles come in files alone: nothing is written into the page. */}
      <MantineProvider
        theme={theme}
        defaultColorScheme="auto"
        withCssVariables={false}
        withGlobalClasses={false}
      >
        <Notifications position="bottom-right" />
        <QueryClientProvider client={queries}>
          <App />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  );
