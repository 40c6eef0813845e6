import { testDestinationDefects } from "./destinations.ts";

testDestinationDefects(1, 2);
