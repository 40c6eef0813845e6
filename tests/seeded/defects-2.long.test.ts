import { testDefects } from "./defects.ts";

await testDefects(1, 4);
