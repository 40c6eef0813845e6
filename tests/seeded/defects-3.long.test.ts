import { testDefects } from "./defects.ts";

await testDefects(2, 4);
