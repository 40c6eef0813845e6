import { testDefects } from "./defects.ts";

await testDefects(3, 4);
