import { testDestinationDefects, testDestinationRules } from "./destinations.ts";

testDestinationRules();
testDestinationDefects(0, 2);
