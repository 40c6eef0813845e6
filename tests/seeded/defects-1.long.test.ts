import { testDefects } from "./defects.ts";

await testDefects(0, 4);
